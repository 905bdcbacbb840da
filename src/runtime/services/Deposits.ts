/**
 * Deposit notices of BROKER custody (document 3, Deposit notice and Money write gates; D9; A3-01..A3-06): filed by the
 * partner, decided by the operator's finance, each in the client's mailbox.
 *
 * A mailbox holds its PENDING notices only. A reference is looked up before the gates, because an own one is replayed
 * whatever they say; the filing commit claims it, so that of two filings of one reference the second is looked up again.
 * So is one that a gate refuses after its mailbox has moved: what the gate counted may have been the same notice.
 */
import { Context, Effect, Layer } from "effect"
import type { DepositDecider, DepositNotice, DepositStatus } from "../../machines/deposit/DepositNotice.ts"
import { decodeDeposit, type DepositRequest } from "../../machines/deposit/DepositRequest.ts"
import { accept, refuse, unknown, type Verdict } from "../../machines/shared/Refusal.ts"
import { cleanText } from "../../machines/shared/Text.ts"
import {
  ActorHost,
  type ClaimLost,
  type DispatchError,
  FactNeeded,
  type StoreAnswer,
  type Turn,
  Unavailable
} from "../engine/ActorHost.ts"
import { BusinessClock } from "../engine/BusinessClock.ts"
import { Settings } from "../Settings.ts"
import type { DepositNoticeRow } from "../store/depositTables.ts"
import { type Caller, presentPartner } from "./Caller.ts"
import { clientSubject, ownClient } from "./clientState.ts"
import {
  decideDeposit,
  depositClaim,
  type DepositOrder,
  fileDeposit,
  notUnderBroker,
  repeatedDecision,
  wireNotice
} from "./depositDecisions.ts"
import { Directory } from "./Directory.ts"
import type { OperatorCaller } from "./OperatorKeys.ts"
import type { Condition, PageQuery } from "./paging.ts"
import { RowReads } from "./RowReads.ts"

/** 201 for a notice filed now, 200 for the original of an own reference. */
export type DepositVerdict = Verdict<{ readonly status: 200 | 201; readonly notice: DepositNotice }>

export interface DepositPage {
  readonly deposits: ReadonlyArray<DepositNotice>
  readonly hasMore: boolean
  readonly nextBefore: number | null
}

interface DepositQuery extends PageQuery {
  readonly status?: DepositStatus
}

type Decided = Effect.Effect<Verdict<DepositNotice>, DispatchError>

export class Deposits extends Context.Service<
  Deposits,
  {
    file(
      caller: Caller,
      clientId: number,
      body: unknown,
      store: StoreAnswer<DepositVerdict>
    ): Effect.Effect<DepositVerdict, DispatchError>
    /** Notices of the partner, newest first; null when `clientId` is none of its clients. */
    list(
      partnerId: number,
      query: DepositQuery & { readonly clientId?: number }
    ): Effect.Effect<DepositPage | null, Unavailable>
    /** Notices of every partner or of one, by id or code, newest first. */
    listAll(query: DepositQuery & { readonly partner?: string }): Effect.Effect<Verdict<DepositPage>, Unavailable>
    /** Credits the client; a notice confirmed before is answered as it is. */
    confirm(caller: OperatorCaller, noticeId: number, note: string | null): Decided
    /** Closes the notice without a posting; a notice rejected before is answered as it is. */
    reject(caller: OperatorCaller, noticeId: number, reason: string): Decided
  }
>()("brokerage/runtime/services/Deposits") {
  static readonly layer = Layer.effect(
    Deposits,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const clock = yield* BusinessClock
      const directory = yield* Directory
      const settings = yield* Settings
      const stored = yield* RowReads

      const byId = (noticeId: number): Effect.Effect<DepositNoticeRow | null, Unavailable> =>
        Effect.map(
          stored.page("depositNotices", [{ column: "id", value: noticeId }], { limit: 1 }),
          ([row]) => row ?? null
        )

      /** What stood under the reference, and how far the mailbox was when it was looked up. */
      const lookUp = (partnerId: number, clientId: number, partnerRef: string): Effect.Effect<Looked, Unavailable> =>
        Effect.gen(function* () {
          const token = yield* host.read(clientSubject(clientId), (state) => state.token)
          const [claim] = yield* stored.holders([depositClaim(partnerId, partnerRef)])
          return { token, filed: claim === undefined ? null : yield* byId(claim.owner) }
        })

      const attempt = (
        caller: Caller,
        clientId: number,
        request: DepositRequest,
        store: StoreAnswer<DepositVerdict>,
        { token, filed }: Looked,
        last: boolean
      ): Effect.Effect<DepositVerdict, DispatchError> =>
        host.dispatch({
          subject: clientSubject(clientId),
          by: caller.by,
          partner: () => directory.stamp(caller.partner.row.id),
          decide: (turn) => {
            const verdict = decideFiling(turn, caller, directory, request, filed, settings.sourceOfWealthThreshold)
            if (!verdict.ok && !last && filed === null && turn.state.token !== token) {
              throw new FactNeeded({ fact: "partnerRef" })
            }
            return verdict
          },
          store
        })

      const page = (conditions: ReadonlyArray<Condition>, { status, ...query }: DepositQuery) =>
        Effect.map(
          stored.page(
            "depositNotices",
            [...conditions, ...(status === undefined ? [] : [{ column: "state", value: status }])],
            { limit: query.limit + 1, ...(query.before === undefined ? {} : { before: query.before }) }
          ),
          (rows): DepositPage => {
            const shown = rows.slice(0, query.limit)
            const hasMore = rows.length > query.limit
            return { deposits: shown.map(wireNotice), hasMore, nextBefore: hasMore ? (shown.at(-1)?.id ?? null) : null }
          }
        )

      /** The row is read again when its mailbox no longer holds it: somebody has decided in between. */
      const decide = (caller: OperatorCaller, noticeId: number, order: DepositOrder, tries: number): Decided =>
        Effect.gen(function* () {
          const row = yield* byId(noticeId)
          if (row === null) return refuse(unknown("Deposit notice"))
          if (row.state !== "PENDING") return repeatedDecision(row, order.to)
          const decided = yield* host.dispatch({
            subject: clientSubject(row.clientId),
            by: caller.by,
            partner: () => directory.stamp(row.partnerId),
            decide: (turn) => decidePending(turn, directory, noticeId, order)
          })
          if (decided !== null) return decided
          return tries === 0
            ? yield* new Unavailable({ unknown: false })
            : yield* decide(caller, noticeId, order, tries - 1)
        })

      return Deposits.of({
        file: (caller, clientId, body, store) => {
          const early = refuseEarly(caller, body)
          if (!early.ok) {
            const row = store(early, { now: clock.now() })
            return row === null ? Effect.succeed(early) : Effect.as(host.record({ answers: [row] }), early)
          }
          const request = early.value
          const partnerId = caller.partner.row.id
          const run = (tries: number): Effect.Effect<DepositVerdict, DispatchError> =>
            Effect.flatMap(lookUp(partnerId, clientId, request.partnerRef), (looked) =>
              Effect.catchIf(
                attempt(caller, clientId, request, store, looked, tries === 0),
                needsLookUp(partnerId, request),
                () => (tries === 0 ? Effect.fail(new Unavailable({ unknown: false })) : run(tries - 1))
              )
            )
          return run(rereadLimit)
        },
        list: (partnerId, { clientId, ...query }) =>
          Effect.gen(function* () {
            if (clientId === undefined) return yield* page([{ column: "partner_id", value: partnerId }], query)
            const own = yield* host.read(clientSubject(clientId), (state) => ownClient(state, partnerId) !== null)
            return own ? yield* page([{ column: "client_id", value: clientId }], query) : null
          }),
        listAll: ({ partner, ...query }) => {
          const view = partner === undefined ? undefined : directory.findPartner(partner)
          if (view === null) return Effect.succeed(refuse(unknown("Partner")))
          const conditions = view === undefined ? [] : [{ column: "partner_id", value: view.row.id }]
          return Effect.map(page(conditions, query), accept)
        },
        confirm: (caller, noticeId, note) =>
          decide(
            caller,
            noticeId,
            { to: "CONFIRMED", by: deciderOf(caller), note: note === null ? null : cleanText(note) || null },
            rereadLimit
          ),
        reject: (caller, noticeId, reason) =>
          decide(caller, noticeId, { to: "REJECTED", by: deciderOf(caller), reason: cleanText(reason) }, rereadLimit)
      })
    })
  )
}

interface Looked {
  readonly token: number | null
  /** The notice that holds the reference; null when it is free. */
  readonly filed: DepositNoticeRow | null
}

/** A reference is filed once and a notice decided once, so the second reading is the last that can differ. */
const rereadLimit = 2

const needsLookUp =
  (partnerId: number, { partnerRef }: DepositRequest) =>
  (error: DispatchError): error is FactNeeded | ClaimLost =>
    error._tag === "FactNeeded" ||
    (error._tag === "ClaimLost" && error.claims.every(({ name }) => name === depositClaim(partnerId, partnerRef)))

/** The gate lets only these two roles through; another one here is a defect. */
const deciderOf = ({ role }: OperatorCaller): DepositDecider => {
  if (role !== "FINANCE" && role !== "ADMIN") throw new Error("a deposit is decided in a finance role")
  return role
}

/** The gates that need no client: custody model, then the fields. */
const refuseEarly = (caller: Caller, body: unknown): Verdict<DepositRequest> =>
  caller.partner.row.custodyModel === "BROKER" ? checkDeposit(body) : refuse(notUnderBroker)

/** The request, or what is wrong with its fields. */
export const checkDeposit = (body: unknown): Verdict<DepositRequest> => {
  const decoded = decodeDeposit(body)
  if (decoded.ok) return accept(decoded.request)
  const { sentence, errors } = decoded
  return refuse({ _tag: "Invalid", sentence, errors: Object.keys(errors).length === 0 ? null : errors })
}

/** The gates that need the client, in the published order (A3-02). */
const decideFiling = (
  turn: Turn,
  caller: Caller,
  directory: Directory["Service"],
  request: DepositRequest,
  filed: DepositNoticeRow | null,
  threshold: bigint
): DepositVerdict => {
  const client = ownClient(turn.state, caller.partner.row.id)
  if (client === null) return refuse(unknown("Client"))
  const partner = presentPartner(directory, caller)
  if (partner.row.custodyModel !== "BROKER") return refuse(notUnderBroker)
  // What the mailbox holds is newer than what was looked up.
  const held = turn.state.all("depositNotices").find((row) => wireNotice(row).partnerRef === request.partnerRef)
  const own = held ?? (filed?.clientId === client.id ? filed : undefined)
  if (own !== undefined) return accept({ status: 200, notice: wireNotice(own) })
  const verdict = fileDeposit({ turn, client, partner, request, threshold, filed })
  return verdict.ok ? accept({ status: 201, notice: verdict.value }) : verdict
}

/** Null when the mailbox does not hold the notice any more: it is decided. */
const decidePending = (
  turn: Turn,
  directory: Directory["Service"],
  noticeId: number,
  order: DepositOrder
): Verdict<DepositNotice> | null => {
  const row = turn.state.get("depositNotices", String(noticeId))
  if (row === undefined) return null
  const client = turn.state.one("clients")
  const partner = directory.partner(row.partnerId)
  if (client === undefined || partner === null) throw new Error("a deposit notice without its client")
  return decideDeposit(turn, row, client, partner, order)
}
