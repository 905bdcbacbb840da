/**
 * Compliance decisions on clients, and the cases that ask for them (operator surface: case, kyc, client restrict and
 * lift; D1, D2, D3; A1-28, A3-10).
 */
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer, Result } from "effect"
import type { Json } from "../../machines/Effects.ts"
import type { Restriction } from "../../machines/client/Restriction.ts"
import type { CaseContext, CaseReason, CaseStatus } from "../../machines/compliance/Case.ts"
import { accept, refuse, unknown, type Verdict } from "../../machines/shared/Refusal.ts"
import { cleanText } from "../../machines/shared/Text.ts"
import type { RoleLabel } from "../../machines/verification/Block.ts"
import { ActorHost, type DispatchError, Unavailable } from "../engine/ActorHost.ts"
import { SealingService } from "../engine/SealingService.ts"
import type { CaseRow, ClientRow } from "../store/Rows.ts"
import { knownEntries, screenedPerson, type ScreenedAgain } from "./rescreening.ts"
import { clearClient, type ClientTurn, liftRestriction, rejectReliance, restrictClient } from "./clientDecisions.ts"
import { findClient } from "./clientLookup.ts"
import { clientSubject, instanceOf } from "./clientState.ts"
import { Directory } from "./Directory.ts"
import type { OperatorCaller } from "./OperatorKeys.ts"
import { pageOf, type PageQuery } from "./paging.ts"
import { Screening } from "./Screening.ts"

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

export interface CasePage {
  readonly cases: ReadonlyArray<CaseView>
  readonly hasMore: boolean
  readonly nextBefore: number | null
}

/** A decision answers the client's id: what the client looks like afterwards is read from its actor. */
type Decided = Effect.Effect<Verdict<number>, DispatchError>

export class Compliance extends Context.Service<
  Compliance,
  {
    restrict(caller: OperatorCaller, client: string, restriction: Restriction, reason: string): Decided
    lift(caller: OperatorCaller, client: string, restriction: Restriction, reason: string): Decided
    /** Clears every open case of the client; the grant runs again. */
    clear(caller: OperatorCaller, client: string, note: string | null): Decided
    /** Refuses reliance on the client's KYC package. */
    reject(caller: OperatorCaller, client: string, reason: string): Decided
    cases(query: PageQuery & { readonly open: boolean }): Effect.Effect<CasePage, Unavailable>
    case(caseId: number): Effect.Effect<Verdict<CaseView>, Unavailable>
  }
>()("brokerage/runtime/services/Compliance") {
  static readonly layer = Layer.effect(
    Compliance,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const directory = yield* Directory
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      const screening = yield* Screening
      const away = () => new Unavailable({ unknown: false })

      const decided = (
        caller: OperatorCaller,
        client: string,
        decide: (at: ClientTurn, row: ClientRow) => Verdict<ClientRow>
      ): Decided =>
        Effect.flatMap(findClient(host, sql, client), (found) => {
          if (found === null) return Effect.succeed(refuse(unknown("Client")))
          return host.dispatch({
            subject: clientSubject(found.id),
            by: caller.by,
            partner: () => directory.stamp(found.partnerId),
            decide: (turn): Verdict<number> => {
              const row = turn.state.one("clients")
              const partner = directory.partner(found.partnerId)
              if (row === undefined || partner === null) return refuse(unknown("Client"))
              const verdict = decide({ turn, instance: instanceOf(row, partner), by: roleLabel(caller) }, row)
              return verdict.ok ? accept(row.id) : verdict
            }
          })
        })

      /** The grant screens first: the client's latest names against the list of this moment (document 1, rule 6). */
      const screenAgain = (client: string): Effect.Effect<ScreenedAgain | null, Unavailable> =>
        Effect.gen(function* () {
          const found = yield* findClient(host, sql, client)
          const kyc =
            found === null ? undefined : yield* host.read(clientSubject(found.id), (state) => state.one("kycPackages"))
          if (kyc === undefined) return null
          const revisions = yield* pageOf(
            sql,
            sealing,
            "blockPayloads",
            [
              { column: "client_id", value: kyc.clientId },
              { column: "code", value: "PERSONAL_INFO" }
            ],
            { limit: 1 }
          ).pipe(Effect.mapError(away))
          const person = revisions[0]
          if (person === undefined) return null
          const screened = yield* host.read(clientSubject(kyc.clientId), (state) =>
            screening.screen(screenedPerson(person.data), knownEntries(state))
          )
          return { ...screened, listVersion: screening.version() }
        })

      const views = (rows: ReadonlyArray<CaseRow>): Effect.Effect<ReadonlyArray<CaseView>, Unavailable> =>
        Effect.map(
          uidsOf(
            sql,
            rows.map((row) => row.clientId)
          ),
          (uids) => rows.map((row) => caseView(row, uids.get(row.clientId) ?? ""))
        )

      return Compliance.of({
        restrict: (caller, client, restriction, reason) =>
          decided(caller, client, (at, row) => restrictClient(at, row, restriction, cleanText(reason))),
        lift: (caller, client, restriction, reason) =>
          decided(caller, client, (at, row) => liftRestriction(at, row, restriction, cleanText(reason))),
        clear: (caller, client, note) =>
          Effect.flatMap(screenAgain(client), (again) =>
            decided(caller, client, (at, row) => clearClient(at, row, note === null ? null : cleanText(note), again))
          ),
        reject: (caller, client, reason) =>
          decided(caller, client, (at, row) => rejectReliance(at, row, cleanText(reason))),
        cases: ({ open, limit, before }) =>
          Effect.gen(function* () {
            const rows = yield* pageOf(sql, sealing, "cases", open ? [{ column: "state", value: "OPEN" }] : [], {
              limit: limit + 1,
              ...(before === undefined ? {} : { before })
            }).pipe(Effect.mapError(away))
            const cases = yield* views(rows.slice(0, limit))
            const hasMore = rows.length > limit
            return { cases, hasMore, nextBefore: hasMore ? (cases.at(-1)?.caseId ?? null) : null }
          }),
        case: (caseId) =>
          pageOf(sql, sealing, "cases", [{ column: "id", value: BigInt(caseId) }], { limit: 1 }).pipe(
            Effect.mapError(away),
            Effect.flatMap(views),
            Effect.map(([view]) => (view === undefined ? refuse(unknown("Case")) : accept(view)))
          )
      })
    })
  )
}

/** The gate lets only these two roles through; another one here is a defect. */
const roleLabel = ({ role }: OperatorCaller): RoleLabel => {
  if (role !== "COMPLIANCE" && role !== "ADMIN") throw new Error("a compliance decision needs a compliance role")
  return role
}

export const caseView = (row: CaseRow, clientUid: string): CaseView => {
  const context = row.context as unknown as CaseContext
  return {
    caseId: row.id,
    partnerId: row.partnerId,
    clientId: row.clientId,
    clientUid,
    status: row.state as CaseStatus,
    reason: row.reason as CaseReason,
    details: row.details,
    openedAt: row.openedAt,
    closedAt: row.closedAt,
    decidedBy: context.decidedBy,
    note: context.note
  }
}

const uidsOf = (
  sql: PgClient.PgClient,
  clientIds: ReadonlyArray<number>
): Effect.Effect<ReadonlyMap<number, string>, Unavailable> =>
  sql
    .unsafe<{ readonly id: bigint; readonly uid: string }>("SELECT id, uid FROM clients WHERE id = ANY($1::int8[])", [
      Result.getOrThrow(PgTypes.array(clientIds.map(BigInt), PgTypes.OID.int8))
    ])
    .pipe(
      Effect.map((rows) => new Map(rows.map((row) => [Number(row.id), row.uid]))),
      Effect.mapError(() => new Unavailable({ unknown: false }))
    )
