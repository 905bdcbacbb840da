/**
 * Withdrawal requests of BROKER custody (document 3, Withdrawal request and Money write gates; D10; A3-01, A3-02,
 * A3-06..A3-08, A3-12): filed and cancelled by the partner, decided by the operator's finance, each in the client's
 * mailbox.
 *
 * A mailbox holds the requests that are still open. A reference is looked up before the gates, because an own one is
 * replayed whatever they say; the filing commit claims it, so that of two filings of one reference the second is looked
 * up again. So is one that a gate refuses after its mailbox has moved: what took the money may have been the same request.
 */
import { Context, Effect, Layer } from "effect"
import { accept, type Refusal, refuse, unknown, type Verdict } from "../../machines/shared/Refusal.ts"
import { cleanText } from "../../machines/shared/Text.ts"
import type { WithdrawalDemand } from "../../machines/withdrawal/WithdrawalBody.ts"
import {
  isOpenWithdrawal,
  type WithdrawalDecider,
  type WithdrawalRequest,
  type WithdrawalStatus
} from "../../machines/withdrawal/WithdrawalRequest.ts"
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
import { SealingService } from "../engine/SealingService.ts"
import { balanceOf } from "../ledger/Ledger.ts"
import { showsFiledDestination } from "../ledger/withdrawalDestinations.ts"
import { Settings } from "../Settings.ts"
import type { WithdrawalRow } from "../store/Rows.ts"
import { Breaks } from "./Breaks.ts"
import { type Caller, presentPartner } from "./Caller.ts"
import { clientSubject, ownClient } from "./clientState.ts"
import { notUnderBroker } from "./depositDecisions.ts"
import { Directory } from "./Directory.ts"
import type { OperatorCaller } from "./OperatorKeys.ts"
import type { Condition, PageQuery } from "./paging.ts"
import { RowReads } from "./RowReads.ts"
import {
  alreadyDecided,
  cashIn,
  contextOf,
  decideWithdrawal,
  destinationRefusal,
  fileWithdrawal,
  type Fingerprints,
  fromOf,
  isRepeated,
  orderRefusal,
  type WithdrawalOrder,
  wireRequest,
  withdrawalClaim
} from "./withdrawalDecisions.ts"
import { pendingPay, tellOfOther } from "./withdrawalGuards.ts"
import { checkWithdrawal } from "./withdrawalGates.ts"

/** 201 for a request filed now, 200 for the original of an own reference. */
export type WithdrawalVerdict = Verdict<{ readonly status: 200 | 201; readonly request: WithdrawalRequest }>

export type CancelVerdict = Verdict<{ readonly request: WithdrawalRequest; readonly alreadyDecided: boolean }>

export interface WithdrawalPage {
  readonly withdrawals: ReadonlyArray<WithdrawalRequest>
  readonly hasMore: boolean
  readonly nextBefore: number | null
}

interface WithdrawalQuery extends PageQuery {
  readonly status?: WithdrawalStatus
}

type Decided = Effect.Effect<Verdict<WithdrawalRequest>, DispatchError>

/** What `check` found: the request, and whether the step is taken already. */
export interface WithdrawalCheck {
  readonly request: WithdrawalRequest
  readonly repeated: boolean
}

/** What finance asks for; who asks is added from the caller. */
export type FinanceOrder =
  | { readonly to: "APPROVED" | "PAID" }
  | { readonly to: "REJECTED" | "FAILED"; readonly reason: string }

export class Withdrawals extends Context.Service<
  Withdrawals,
  {
    file(
      caller: Caller,
      clientId: number,
      body: unknown,
      store: StoreAnswer<WithdrawalVerdict>,
      /** The JSON that the body was parsed from: the destination is kept as it is written there. */
      text?: string
    ): Effect.Effect<WithdrawalVerdict, DispatchError>
    /** `requestId` null: the path names no request that could exist. */
    cancel(
      caller: Caller,
      clientId: number,
      requestId: number | null,
      store: StoreAnswer<CancelVerdict>
    ): Effect.Effect<CancelVerdict, DispatchError>
    /** The refusal when the partner has no such request, else null. */
    missing(partnerId: number, requestId: number | null): Effect.Effect<Refusal | null, Unavailable>
    /** Requests of the partner, newest first; null when `clientId` is none of its clients. */
    list(
      partnerId: number,
      query: WithdrawalQuery & { readonly clientId?: number }
    ): Effect.Effect<WithdrawalPage | null, Unavailable>
    /** Requests of every partner or of one, by id or code, newest first. */
    listAll(query: WithdrawalQuery & { readonly partner?: string }): Effect.Effect<Verdict<WithdrawalPage>, Unavailable>
    /** One step by finance; a step taken before is answered as it is. Refused with the reason, nothing changes. */
    decide(caller: OperatorCaller, requestId: number, order: FinanceOrder): Decided
    /** Whether a step could be taken now: asked before it is put before a second pair of eyes. */
    check(requestId: number, to: "APPROVED" | "PAID" | "FAILED"): Effect.Effect<Verdict<WithdrawalCheck>, Unavailable>
  }
>()("brokerage/runtime/services/Withdrawals") {
  static readonly layer = Layer.effect(
    Withdrawals,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const clock = yield* BusinessClock
      const directory = yield* Directory
      const settings = yield* Settings
      const stored = yield* RowReads
      const breaks = yield* Breaks
      const sealing = yield* SealingService

      const find = (conditions: ReadonlyArray<Condition>): Effect.Effect<WithdrawalRow | null, Unavailable> =>
        Effect.map(stored.page("withdrawalRequests", conditions, { limit: 1 }), ([row]) => row ?? null)

      const own = (partnerId: number, requestId: number | null): Effect.Effect<WithdrawalRow | null, Unavailable> =>
        requestId === null
          ? Effect.succeed(null)
          : find([
              { column: "id", value: requestId },
              { column: "partner_id", value: partnerId }
            ])

      /** What stood under the reference, and how far the mailbox was when it was looked up. */
      const lookUp = (partnerId: number, clientId: number, partnerRef: string): Effect.Effect<Looked, Unavailable> =>
        Effect.gen(function* () {
          const token = yield* host.read(clientSubject(clientId), (state) => state.token)
          const [claim] = yield* stored.holders([withdrawalClaim(partnerId, partnerRef)])
          return { token, filed: claim === undefined ? null : yield* find([{ column: "id", value: claim.owner }]) }
        })

      /** As a list shows it: a destination put in afterwards is shown to nobody, so nobody pays to it. */
      const shownRequest = (row: WithdrawalRow): WithdrawalRequest =>
        wireRequest(showsFiledDestination(sealing, row) ? row : { ...row, destination: null })

      const page = (conditions: ReadonlyArray<Condition>, { status, ...query }: WithdrawalQuery) =>
        Effect.map(
          stored.page(
            "withdrawalRequests",
            [...conditions, ...(status === undefined ? [] : [{ column: "state", value: status }])],
            { limit: query.limit + 1, ...(query.before === undefined ? {} : { before: query.before }) }
          ),
          (rows): WithdrawalPage => {
            const shown = rows.slice(0, query.limit)
            const hasMore = rows.length > query.limit
            const nextBefore = hasMore ? (shown.at(-1)?.id ?? null) : null
            return { withdrawals: shown.map(shownRequest), hasMore, nextBefore }
          }
        )

      /** The order on the row that the mailbox holds; null when it holds it no more, because it has ended. */
      const runOrder = (
        turn: Turn,
        requestId: number,
        order: (row: WithdrawalRow) => WithdrawalOrder
      ): Verdict<WithdrawalRow> | null => {
        const row = turn.state.get("withdrawalRequests", String(requestId))
        if (row === undefined) return null
        const wanted = order(row)
        if (isRepeated(row, wanted.to)) return accept(row)
        const client = turn.state.one("clients")
        const partner = directory.partner(row.partnerId)
        if (client === undefined || partner === null) throw new Error("a withdrawal request without its client")
        return decideWithdrawal({ turn, client, partner, sealing }, row, wanted)
      }

      /** What finance is shown is the stored row, so that is judged too, not the mailbox's alone. */
      const standingRefusal = (
        row: WithdrawalRow,
        to: WithdrawalOrder["to"]
      ): Effect.Effect<Refusal | null, Unavailable> =>
        to === "FAILED"
          ? pendingPay({ host, clock }, row.id)
          : Effect.succeed(row.state === fromOf[to] ? destinationRefusal(sealing, row, to) : null)

      /** By the id alone; the row is read again when its mailbox no longer holds it. */
      const onRow = (caller: OperatorCaller, requestId: number, order: FinanceOrder, tries = rereadLimit): Decided =>
        Effect.gen(function* () {
          const row = yield* find([{ column: "id", value: requestId }])
          if (row === null) return refuse(noRequest)
          if (isRepeated(row, order.to)) return accept(shownRequest(row))
          if (!isOpenWithdrawal(row.state)) return refuse(alreadyDecided(row))
          const standing = yield* standingRefusal(row, order.to)
          if (standing !== null) return refuse(standing)
          const decided = yield* host.dispatch({
            subject: clientSubject(row.clientId),
            by: caller.by,
            partner: () => directory.stamp(row.partnerId),
            decide: (turn) => runOrder(turn, requestId, (held) => orderOf(caller, order, breaks.pausing(held)))
          })
          if (decided !== null) return decided.ok ? accept(wireRequest(decided.value)) : decided
          if (tries === 0) return yield* new Unavailable({ unknown: false })
          return yield* onRow(caller, requestId, order, tries - 1)
        })

      const cancel = (
        caller: Caller,
        clientId: number,
        requestId: number | null,
        store: StoreAnswer<CancelVerdict>,
        tries = rereadLimit
      ): Effect.Effect<CancelVerdict, DispatchError> =>
        Effect.gen(function* () {
          if (caller.partner.row.custodyModel !== "BROKER") return refuse(notUnderBroker)
          const row = yield* own(caller.partner.row.id, requestId)
          if (row === null || row.clientId !== clientId) return refuse(noRequest)
          if (!isOpenWithdrawal(row.state)) return cancelled(row)
          const decided = yield* host.dispatch<CancelVerdict | null>({
            subject: clientSubject(clientId),
            by: caller.by,
            partner: () => directory.stamp(caller.partner.row.id),
            decide: (turn) => {
              presentPartner(directory, caller)
              const done = runOrder(turn, row.id, () => ({ to: "CANCELLED" }))
              if (done === null) return null
              return done.ok ? accept({ request: wireRequest(done.value), alreadyDecided: false }) : done
            },
            store: (verdict, turn) => (verdict === null ? null : store(verdict, turn))
          })
          if (decided !== null) return decided
          if (tries === 0) return yield* new Unavailable({ unknown: false })
          return yield* cancel(caller, clientId, requestId, store, tries - 1)
        })

      return Withdrawals.of({
        file: (caller, clientId, body, store, text) => {
          const early = refuseEarly(caller, body, text)
          if (!early.ok) {
            const row = store(early, { now: clock.now() })
            return row === null ? Effect.succeed(early) : Effect.as(host.record({ answers: [row] }), early)
          }
          const demand = early.value
          const partnerId = caller.partner.row.id
          const attempt = (looked: Looked, last: boolean): Effect.Effect<WithdrawalVerdict, DispatchError> =>
            host.dispatch({
              subject: clientSubject(clientId),
              by: caller.by,
              partner: () => directory.stamp(partnerId),
              decide: (turn) => {
                const verdict = decideFiling(turn, {
                  caller,
                  directory,
                  sealing,
                  demand,
                  filed: looked.filed,
                  threshold: settings.sourceOfWealthThreshold,
                  paused: breaks.pausing({ clientId, partnerId })
                })
                if (!verdict.ok && !last && looked.filed === null && turn.state.token !== looked.token) {
                  throw new FactNeeded({ fact: "partnerRef" })
                }
                return verdict
              },
              store
            })
          const run = (tries: number): Effect.Effect<WithdrawalVerdict, DispatchError> =>
            Effect.flatMap(lookUp(partnerId, clientId, demand.partnerRef), (looked) =>
              Effect.catchIf(attempt(looked, tries === 0), needsLookUp(partnerId, demand), () =>
                tries === 0 ? Effect.fail(new Unavailable({ unknown: false })) : run(tries - 1)
              )
            )
          return run(rereadLimit)
        },
        cancel: (caller, clientId, requestId, store) => cancel(caller, clientId, requestId, store),
        missing: (partnerId, requestId) =>
          Effect.map(own(partnerId, requestId), (row) => (row === null ? noRequest : null)),
        list: (partnerId, { clientId, ...query }) =>
          Effect.gen(function* () {
            if (clientId === undefined) return yield* page([{ column: "partner_id", value: partnerId }], query)
            const known = yield* host.read(clientSubject(clientId), (state) => ownClient(state, partnerId) !== null)
            return known ? yield* page([{ column: "client_id", value: clientId }], query) : null
          }),
        listAll: ({ partner, ...query }) => {
          const view = partner === undefined ? undefined : directory.findPartner(partner)
          if (view === null) return Effect.succeed(refuse(unknown("Partner")))
          const conditions = view === undefined ? [] : [{ column: "partner_id", value: view.row.id }]
          return Effect.map(page(conditions, query), accept)
        },
        decide: (caller, requestId, order) =>
          Effect.tap(onRow(caller, requestId, order), (verdict) => tellOfOther(requestId, verdict)),
        check: (requestId, to) =>
          Effect.gen(function* () {
            const row = yield* find([{ column: "id", value: requestId }])
            if (row === null) return refuse(noRequest)
            if (isRepeated(row, to)) return accept({ request: shownRequest(row), repeated: true })
            const standing = yield* standingRefusal(row, to)
            if (standing !== null) return refuse(standing)
            return yield* host.read(clientSubject(row.clientId), (state): Verdict<WithdrawalCheck> => {
              const client = state.one("clients")
              const held = state.get("withdrawalRequests", String(requestId))
              if (client === undefined || held === undefined) return refuse(alreadyDecided(row))
              const refusal = orderRefusal({ client, cashOf: cashIn(state), sealing }, held, {
                to,
                paused: breaks.pausing(held)
              })
              return refusal === null ? accept({ request: wireRequest(held), repeated: false }) : refuse(refusal)
            })
          }).pipe(Effect.tap((verdict) => tellOfOther(requestId, verdict)))
      })
    })
  )
}

interface Looked {
  readonly token: number | null
  /** The request that holds the reference; null when it is free. */
  readonly filed: WithdrawalRow | null
}

/** Readings of a row or a reference before giving up: each can lose to one step of somebody else. */
const rereadLimit = 2

const noRequest = unknown("Withdrawal request")

const needsLookUp =
  (partnerId: number, { partnerRef }: WithdrawalDemand) =>
  (error: DispatchError): error is FactNeeded | ClaimLost =>
    error._tag === "FactNeeded" ||
    (error._tag === "ClaimLost" && error.claims.every(({ name }) => name === withdrawalClaim(partnerId, partnerRef)))

/** The gate lets only these two roles through; another one here is a defect. */
const deciderOf = ({ role }: OperatorCaller): WithdrawalDecider => {
  if (role !== "FINANCE" && role !== "ADMIN") throw new Error("a withdrawal is decided in a finance role")
  return role
}

const orderOf = (caller: OperatorCaller, order: FinanceOrder, paused: boolean): WithdrawalOrder => {
  const by = deciderOf(caller)
  switch (order.to) {
    case "APPROVED":
      return { to: "APPROVED", by, paused }
    case "PAID":
      return { to: "PAID" }
    case "REJECTED":
    case "FAILED":
      return { to: order.to, by, reason: cleanText(order.reason) }
  }
}

/** The answer to a cancel of what has ended: nothing to do, unless the money has gone (A3-12). */
const cancelled = (row: WithdrawalRow): CancelVerdict =>
  row.state === "PAID" ? refuse(alreadyDecided(row)) : accept({ request: wireRequest(row), alreadyDecided: true })

/** The gates that need no client: custody model, then the fields. */
const refuseEarly = (caller: Caller, body: unknown, text: string | undefined): Verdict<WithdrawalDemand> =>
  caller.partner.row.custodyModel === "BROKER" ? checkWithdrawal(body, text) : refuse(notUnderBroker)

interface Filing {
  readonly caller: Caller
  readonly directory: Directory["Service"]
  readonly sealing: Fingerprints
  readonly demand: WithdrawalDemand
  readonly filed: WithdrawalRow | null
  readonly threshold: bigint
  readonly paused: boolean
}

/** The gates that need the client, in the published order (A3-02). */
const decideFiling = (turn: Turn, { caller, directory, filed, ...filing }: Filing): WithdrawalVerdict => {
  const client = ownClient(turn.state, caller.partner.row.id)
  if (client === null) return refuse(unknown("Client"))
  const partner = presentPartner(directory, caller)
  if (partner.row.custodyModel !== "BROKER") return refuse(notUnderBroker)
  // What the mailbox holds is newer than what was looked up.
  const held = turn.state.all("withdrawalRequests")
  const own =
    held.find((row) => contextOf(row).partnerRef === filing.demand.partnerRef) ??
    (filed?.clientId === client.id ? filed : undefined)
  if (own !== undefined) return accept({ status: 200, request: wireRequest(own) })
  const balance = balanceOf(turn, client.id, client.partnerId, filing.demand.currency)
  const verdict = fileWithdrawal({ turn, client, partner, balance, filed, ...filing })
  return verdict.ok ? accept({ status: 201, request: verdict.value }) : verdict
}
