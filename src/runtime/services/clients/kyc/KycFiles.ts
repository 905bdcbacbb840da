/**
 * A client's KYC file for compliance: the latest data of every section, checks, decisions, and the documents' facts.
 * Every read is audited with its reason, and the reply follows that commit. The audit contains no data of the file
 * (A1-25, A1-32; F26).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { LifecycleState } from "../../../../machines/client/Client.ts"
import {
  type BlockCode,
  blockCodes,
  type BlockStatus,
  type VerificationLevel
} from "../../../../machines/verification/Blocks.ts"
import type { Document } from "../../../../machines/document/Document.ts"
import type { Json } from "../../../../machines/shared/Json.ts"
import type { KycPackageStatus } from "../../../../machines/kyc/KycPackage.ts"
import { accept, refuse, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { cleanText } from "../../../../machines/shared/Text.ts"
import { ActorHost, type DispatchError, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import { SealingService } from "../../../engine/sealing/SealingService.ts"
import { withinTime } from "../../../engine/withinTime.ts"
import type { BlockPayloadRow } from "../../../tables/verification.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { DispositionRow, ScreeningRunRow } from "../../../tables/screening.ts"
import type { PackageRow } from "../../../tables/kyc.ts"
import { type CandidateEntry, candidateEntries } from "../../screening/candidateEntries.ts"
import { type CommandTools, decideOnFacts } from "../client/decideOnClient.ts"
import { blockStatuses } from "../../account/clientState.ts"
import { Directory } from "../../partners/Directory.ts"
import { documentOf } from "../document/Documents.ts"
import type { OperatorCaller } from "../../shared/OperatorCaller.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { type KnownRevision, knownRevisions } from "../../../store/reads/kycReads.ts"
import { whenAway } from "../../../store/whenAway.ts"

export interface KycFile {
  readonly clientId: number
  readonly clientUid: string
  readonly partnerId: number
  readonly partnerClientRef: string
  readonly lifecycleState: LifecycleState
  readonly verificationLevel: VerificationLevel
  readonly kycPackageId: number
  readonly revision: number
  readonly status: KycPackageStatus
  readonly receivedAt: number
  readonly reviewedBy: string | null
  readonly reviewedAt: number | null
  readonly reviewNote: string | null
  /** The latest data of each block with data, in the order of the blocks. */
  readonly sections: ReadonlyArray<{ readonly code: BlockCode; readonly status: BlockStatus; readonly data: Json }>
  readonly attestation: Json
  readonly identitySessions: ReadonlyArray<{
    readonly sessionId: number
    readonly provider: string
    readonly status: string
    readonly createdAt: number
    readonly data: Json
  }>
  readonly screeningRuns: ReadonlyArray<{
    readonly screeningRunId: number
    readonly trigger: string
    readonly outcome: string
    readonly listVersion: number
    readonly listVersions: Readonly<Record<string, string>>
    readonly candidates: Json
    readonly ranAt: number
  }>
  readonly dispositions: ReadonlyArray<{
    readonly entryId: number
    readonly disposition: DispositionRow["disposition"]
    /** The judged outcome; null: earlier versions of the service did not store it. */
    readonly outcome: DispositionRow["outcome"]
    readonly score: number | null
    readonly decidedAt: number
    readonly decidedBy: string
  }>
  /** The entries behind the candidates and the dispositions. */
  readonly entries: ReadonlyArray<CandidateEntry>
  readonly decisions: ReadonlyArray<{
    readonly decision: string
    readonly reason: string
    readonly decidedBy: string
    readonly decidedAt: number
  }>
  readonly reportingRecord: {
    readonly fromRevision: number
    readonly complete: boolean
    readonly builtAt: number
    readonly record: Json
  } | null
  readonly revisions: ReadonlyArray<{ readonly revision: number; readonly receivedAt: number }>
  readonly documents: ReadonlyArray<Document>
}

/** The parts of a file that are only in the database. */
type StoredFile = Pick<
  KycFile,
  | "attestation"
  | "identitySessions"
  | "screeningRuns"
  | "entries"
  | "decisions"
  | "reportingRecord"
  | "revisions"
  | "documents"
> & { readonly payloads: ReadonlyArray<BlockPayloadRow> }

/** The largest number of rows in each list of a KYC file, newest first: a human reader needs no more. */
const listLimit = 200

/**
 * Tables that a file depends on: every commit that adds to a file writes to one of them. Money movements write to none,
 * so they do not delay the read of a file.
 */
const fileRestsOn = ["clients", "kycPackages", "verificationBlocks", "documents", "cases", "dispositions"] as const

const noFile = unknown("KYC package")

export class KycFiles extends Context.Service<
  KycFiles,
  {
    show(caller: OperatorCaller, client: string, reason: string): Effect.Effect<Verdict<KycFile>, DispatchError>
  }
>()("brokerage/runtime/services/clients/kyc/KycFiles") {
  static readonly layer = Layer.effect(
    KycFiles,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const stored = yield* RowReads
      const sealing = yield* SealingService
      const tools: CommandTools = { host: yield* ActorHost, directory: yield* Directory, sql }

      const readFile = ({ id }: ClientRow): Effect.Effect<StoredFile, Unavailable> =>
        Effect.gen(function* () {
          const own = [{ column: "client_id", value: id }]
          const newest = { limit: listLimit }
          const known = yield* revisionsOf(sql, id)
          const [latest] = yield* stored.page(
            "kycRevisions",
            [
              { column: "package_id", value: known[0]?.kycPackageId ?? 0 },
              { column: "revision", value: known[0]?.revision ?? 0 }
            ],
            { limit: 1 }
          )
          const sessions = yield* stored.page("identitySessions", own, newest)
          const runs = yield* stored.page("screeningRuns", own, newest)
          const found = yield* stored.page("dispositions", own, newest)
          const decisions = yield* stored.page("decisions", own, newest)
          const [reporting] = yield* stored.page("reportingRecords", own, { limit: 1 })
          return {
            payloads: yield* stored.page("blockPayloads", own, { limit: blockCodes.length }),
            attestation: latest?.attestation ?? null,
            identitySessions: sessions.map(({ id: sessionId, provider, status, createdAt, data }) => ({
              sessionId,
              provider,
              status,
              createdAt,
              data
            })),
            screeningRuns: runs.map(
              ({ id: screeningRunId, trigger, outcome, listVersion, listVersions, candidates, ranAt }) => ({
                screeningRunId,
                trigger,
                outcome,
                listVersion,
                listVersions,
                candidates,
                ranAt
              })
            ),
            entries: yield* candidateEntries(sql, sealing, [
              ...runs.flatMap(entriesOf),
              ...found.map(({ entryId }) => entryId)
            ]),
            decisions: decisions.map(({ decision, reason, decidedBy, decidedAt }) => ({
              decision,
              reason,
              decidedBy,
              decidedAt
            })),
            reportingRecord:
              reporting === undefined
                ? null
                : {
                    fromRevision: reporting.fromRevision,
                    complete: reporting.complete,
                    builtAt: reporting.builtAt,
                    record: reporting.record
                  },
            revisions: known.map(({ revision, receivedAt }) => ({ revision, receivedAt })),
            documents: (yield* stored.page("documents", own, newest)).map(documentOf)
          }
        })

      return KycFiles.of({
        show: (caller, client, reason) =>
          decideOnFacts(
            tools,
            caller,
            client,
            readFile,
            (at, row, file): Verdict<KycFile> => {
              const { turn } = at
              const kyc = turn.state.one("kycPackages")
              if (kyc === undefined) return refuse(noFile)
              applyEffects(turn, { ...at.instance, object: `kycPackage:${kyc.id}` }, [
                { type: "audit", action: "kyc.read", before: null, after: null, reason: cleanText(reason) }
              ])
              const { payloads, ...rest } = file
              const statuses = blockStatuses(turn.state)
              return accept({
                ...headOf(row, kyc),
                sections: blockCodes.flatMap((code) =>
                  payloads
                    .filter((payload) => payload.code === code)
                    .map(({ data }) => ({ code, status: statuses.get(code) ?? "NOT_STARTED", data }))
                ),
                dispositions: turn.state.all("dispositions").map(dispositionOf),
                ...rest
              })
            },
            { restsOn: fileRestsOn }
          )
      })
    })
  )
}

const entriesOf = ({ candidates }: ScreeningRunRow): ReadonlyArray<number> => candidates.map(({ entryId }) => entryId)

const dispositionOf = ({ entryId, disposition, outcome, score, decidedAt, decidedBy }: DispositionRow) => ({
  entryId,
  disposition,
  outcome,
  score: score === null ? null : score / 1_000_000,
  decidedAt,
  decidedBy
})

const headOf = (client: ClientRow, kyc: PackageRow) => {
  const context = kyc.context
  return {
    clientId: client.id,
    clientUid: client.uid,
    partnerId: client.partnerId,
    partnerClientRef: client.partnerClientRef,
    lifecycleState: client.state,
    verificationLevel: client.level,
    kycPackageId: kyc.id,
    revision: context.revision,
    status: kyc.state,
    receivedAt: kyc.receivedAt,
    reviewedBy: context.reviewedBy,
    reviewedAt: context.reviewedAt,
    reviewNote: context.reviewNote
  }
}

/** The client's revisions, newest first. */
const revisionsOf = (
  sql: PgClient.PgClient,
  clientId: number
): Effect.Effect<ReadonlyArray<KnownRevision>, Unavailable> =>
  withinTime(
    Effect.catch(knownRevisions(sql, clientId, listLimit), whenAway),
    () => new Unavailable({ unknown: false })
  )
