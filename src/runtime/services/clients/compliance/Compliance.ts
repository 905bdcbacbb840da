/** Compliance decisions on clients, and the cases that require them (D1, D2, D3; A1-28, A3-10). */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Json } from "../../../../machines/shared/Json.ts"
import type { Restriction } from "../../../../machines/client/Restriction.ts"
import type { CaseReason, CaseStatus } from "../../../../machines/compliance/Case.ts"
import { resultOf } from "../../../../machines/screening/screen.ts"
import { accept, conflict, refuse, type Refusal, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { cleanText } from "../../../../machines/shared/Text.ts"
import { ActorHost, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { SealingService } from "../../../engine/sealing/SealingService.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import type { CaseRow } from "../../../tables/compliance.ts"
import type { ClientRow } from "../../../tables/client.ts"
import { identityText } from "../../screening/dispositions.ts"
import { candidatesOf, type Rescreening, screenedPerson, seenFor } from "../screening/rescreening.ts"
import {
  clearClient,
  type ClientTurn,
  liftRestriction,
  rejectReliance,
  restrictClient
} from "../client/clientDecisions.ts"
import { type Ruled, decideOnClient, decideOnFacts, idOf } from "../client/decideOnClient.ts"
import { findClient } from "../../account/findClient.ts"
import { clientSubject } from "../../account/clientState.ts"
import { Directory } from "../../partners/Directory.ts"
import { requestDocuments, sampleClient } from "../kyc/reviewDecisions.ts"
import type { OperatorCaller } from "../../shared/OperatorCaller.ts"
import { cutPage, onePast, type PageEnd, pageOf, type PageQuery } from "../../../store/paging.ts"
import { uidsOf } from "../../../store/reads/clientReads.ts"
import { Screening } from "../../screening/Screening.ts"
import { type CandidateEntry, candidateEntries } from "../../screening/candidateEntries.ts"

export interface CaseView {
  readonly caseId: number
  readonly partnerId: number
  readonly clientId: number
  readonly clientUid: string
  readonly status: CaseStatus
  readonly reason: CaseReason
  readonly details: Json
  readonly openedAt: number
  readonly closedAt: number | null
  readonly decidedBy: string | null
  readonly note: string | null
}

/** A case with the information needed to decide it. */
export interface CaseFile extends CaseView {
  /** The package's revision, which a clearance must name. */
  readonly revision: number | null
  /** The entries behind the case's candidates. */
  readonly entries: ReadonlyArray<CandidateEntry>
}

/**
 * The state of the client that compliance reviewed before clearing it. Absent facts are not compared with the present
 * state.
 */
export interface ReadCase {
  readonly revision?: number
  /** Ids of all cases that were open at the review. */
  readonly cases?: ReadonlyArray<number>
  /** The latest screening run in the cases; 0: they show none. */
  readonly screeningRun?: number
}

export interface CasePage extends PageEnd {
  readonly cases: ReadonlyArray<CaseView>
}

export class Compliance extends Context.Service<
  Compliance,
  {
    restrict(caller: OperatorCaller, client: string, restriction: Restriction, reason: string): Ruled
    lift(caller: OperatorCaller, client: string, restriction: Restriction, reason: string): Ruled
    /**
     * Clears every open case of the client, and runs the grant again. Refused if a case or a revision was added after
     * the review.
     */
    clear(caller: OperatorCaller, client: string, note: string | null, reviewed?: ReadCase): Ruled
    /** Requests the underlying documents from the partner. */
    requestDocuments(caller: OperatorCaller, client: string, note: string): Ruled
    /** Selects the client's accepted package as a sample for review. */
    sample(caller: OperatorCaller, client: string): Ruled
    /** Ends the reliance on the client's KYC package. Refused if a revision was added after the reviewed one. */
    reject(caller: OperatorCaller, client: string, reason: string, revision?: number): Ruled
    /** Cases, newest first. `client` limits the list to one client. */
    cases(
      query: PageQuery & { readonly open: boolean; readonly client?: string }
    ): Effect.Effect<Verdict<CasePage>, Unavailable>
    case(caseId: number): Effect.Effect<Verdict<CaseFile>, Unavailable>
  }
>()("brokerage/runtime/services/clients/compliance/Compliance") {
  static readonly layer = Layer.effect(
    Compliance,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const directory = yield* Directory
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      const screening = yield* Screening
      const away = () => new Unavailable({ unknown: false })

      const tools = { host, directory, sql }
      const onClient = (
        caller: OperatorCaller,
        client: string,
        decide: (at: ClientTurn, row: ClientRow) => Verdict<ClientRow>
      ): Ruled => decideOnClient(tools, caller, client, decide)

      /** Screens the client's latest names against the present list, as the grant requires (doc 1, rule 6). */
      const screenAgain = ({ id }: ClientRow): Effect.Effect<Rescreening | null, Unavailable> =>
        Effect.gen(function* () {
          const [person] = yield* pageOf(
            sql,
            sealing,
            "blockPayloads",
            [
              { column: "client_id", value: id },
              { column: "code", value: "PERSONAL_INFO" }
            ],
            { limit: 1 }
          ).pipe(Effect.mapError(away))
          if (person === undefined) return null
          const screened = screenedPerson(person.data)
          const identityKey = sealing.fingerprint(identityText(screened))
          const found = screening.find(screened)
          const unseen = yield* host.read(clientSubject(id), (state) => resultOf(found, seenFor(state, identityKey)))
          return { ...unseen, ...screening.lists(), found, identityKey }
        })

      /** Clears the client. Refused if a revision or a case was added after the caller's review. */
      const clear = (caller: OperatorCaller, client: string, note: string | null, reviewed: ReadCase): Ruled =>
        Effect.gen(function* () {
          const found = yield* findClient(host, sql, client)
          if (!found.ok) return found
          const seen = yield* host.read(clientSubject(found.value.id), fileMark)
          const decide = (at: ClientTurn, row: ClientRow, again: Rescreening | null): Verdict<number> => {
            const refusal = changedSinceReview(at.turn.state, reviewed)
            if (refusal !== null) return refuse(refusal)
            if (fileMark(at.turn.state) !== seen) return refuse(revisedMeanwhile)
            return idOf(clearClient(at, row, note, again))
          }
          return yield* decideOnFacts(tools, caller, client, screenAgain, decide, { restsOn: screeningRestsOn })
        })

      const views = (rows: ReadonlyArray<CaseRow>): Effect.Effect<ReadonlyArray<CaseView>, Unavailable> =>
        Effect.map(
          Effect.mapError(
            uidsOf(
              sql,
              rows.map((row) => row.clientId)
            ),
            away
          ),
          (uids) => rows.map((row) => caseView(row, uids.get(row.clientId) ?? ""))
        )

      return Compliance.of({
        restrict: (caller, client, restriction, reason) =>
          onClient(caller, client, (at, row) => restrictClient(at, row, restriction, cleanText(reason))),
        lift: (caller, client, restriction, reason) =>
          onClient(caller, client, (at, row) => liftRestriction(at, row, restriction, cleanText(reason))),
        clear: (caller, client, note, reviewed = {}) =>
          clear(caller, client, note === null ? null : cleanText(note), reviewed),
        requestDocuments: (caller, client, note) =>
          onClient(caller, client, (at, row) => requestDocuments(at, row, cleanText(note))),
        sample: (caller, client) => onClient(caller, client, sampleClient),
        reject: (caller, client, reason, revision) =>
          onClient(caller, client, (at, row) => {
            const refusal = changedSinceReview(at.turn.state, revision === undefined ? {} : { revision })
            return refusal === null ? rejectReliance(at, row, cleanText(reason)) : refuse(refusal)
          }),
        cases: ({ open, client, ...query }) =>
          Effect.gen(function* () {
            const found = client === undefined ? null : yield* findClient(host, sql, client)
            if (found?.ok === false) return found
            const conditions = [
              ...(open ? [{ column: "state", value: "OPEN" }] : []),
              ...(found === null ? [] : [{ column: "client_id", value: found.value.id }])
            ]
            const rows = yield* Effect.mapError(pageOf(sql, sealing, "cases", conditions, onePast(query)), away)
            const { shown, end } = cutPage(rows, query.limit, (row) => row.id)
            return accept({ cases: yield* views(shown), ...end })
          }),
        case: (caseId) =>
          Effect.gen(function* () {
            const rows = yield* pageOf(sql, sealing, "cases", [{ column: "id", value: BigInt(caseId) }], {
              limit: 1
            }).pipe(Effect.mapError(away))
            const [view] = yield* views(rows)
            if (view === undefined) return refuse(unknown("Case"))
            const revision = yield* host.read(clientSubject(view.clientId), revisionOf)
            const shown = rows.flatMap(candidatesOf).map(({ entryId }) => entryId)
            return accept({ ...view, revision, entries: yield* candidateEntries(sql, sealing, shown) })
          })
      })
    })
  )
}

/**
 * Tables that the result of a screening depends on. Revisions of the package change the names; cases and dispositions
 * show which candidates compliance has seen.
 */
const screeningRestsOn = ["clients", "kycPackages", "verificationBlocks", "cases", "dispositions"] as const

const revisedMeanwhile = conflict(
  "FILE_CHANGED",
  "The client's file has changed meanwhile: look at it again before clearing it."
)

const otherRevision = (now: number | null, reviewed: number) =>
  conflict(
    "FILE_CHANGED",
    `Revision ${reviewed} was looked at, but revision ${now} is the latest: look at the file again.`,
    {
      revision: now
    }
  )

/** The refusal if the present state differs from the reviewed one; otherwise null. */
const changedSinceReview = (state: SubjectState, { revision, cases, screeningRun }: ReadCase): Refusal | null => {
  const now = revisionOf(state)
  if (revision !== undefined && revision !== now) return otherRevision(now, revision)
  const open = state.all("cases").toSorted((a, b) => a.id - b.id)
  const unseen = cases === undefined ? [] : open.filter(({ id }) => !cases.includes(id))
  if (unseen.length > 0) return unseenCases("is open and was not looked at", unseen)
  const later = screeningRun === undefined ? [] : open.filter((row) => (screeningRunOf(row) ?? 0) > screeningRun)
  return later.length === 0 ? null : unseenCases("shows more since it was looked at", later)
}

const unseenCases = (what: string, rows: ReadonlyArray<CaseRow>): Refusal =>
  conflict(
    "FILE_CHANGED",
    `Case ${rows.map(({ id }) => id).join(", case ")} ${what}: look at the client's cases again before clearing them.`,
    {
      openCases: rows.map(({ id }) => id)
    }
  )

/** The latest screening that a case shows; null: it shows none. */
const screeningRunOf = ({ details }: CaseRow): number | null =>
  (details as { readonly screeningRunId?: number | null }).screeningRunId ?? null

/** The latest revision of the client's KYC package; null without a package. */
const revisionOf = (state: SubjectState): number | null => state.one("kycPackages")?.context?.revision ?? null

/** The state that a clearance depends on, as text: the package's revision, and the open cases with their details. */
const fileMark = (state: SubjectState): string =>
  JSON.stringify([revisionOf(state), state.all("cases").map(({ id, details }) => [id, details])])

export const caseView = (row: CaseRow, clientUid: string): CaseView => {
  const context = row.context
  return {
    caseId: row.id,
    partnerId: row.partnerId,
    clientId: row.clientId,
    clientUid,
    status: row.state,
    reason: row.reason as CaseReason,
    details: row.details,
    openedAt: row.openedAt,
    closedAt: row.closedAt,
    decidedBy: context.decidedBy,
    note: context.note
  }
}
