/**
 * Withdrawal requests of BROKER custody: filed and cancelled by the partner, decided by the operator's finance, each
 * in the client's mailbox (D10; A3-01, A3-02, A3-06..A3-08, A3-12).
 */
import { Context, Effect, Layer } from "effect"
import { accept, type Refusal, refuse, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { cleanText } from "../../../../machines/shared/Text.ts"
import type { WithdrawalBody } from "../../../../machines/withdrawal/WithdrawalBody.ts"
import {
  isOpenWithdrawal,
  type WithdrawalRequest,
  type WithdrawalStatus
} from "../../../../machines/withdrawal/WithdrawalRequest.ts"
import {
  ActorHost,
  type DispatchError,
  type StoreAnswer,
  type Turn,
  type Unavailable
} from "../../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import { SealingService } from "../../../engine/sealing/SealingService.ts"
import { balanceOf } from "../../../ledger/Ledger.ts"
import { showsFiledDestination } from "../../../ledger/withdrawalDestinations.ts"
import { Settings } from "../../../Settings.ts"
import type { WithdrawalRow } from "../../../tables/withdrawal.ts"
import { Breaks } from "../breaks/Breaks.ts"
import { type Caller, partnerNow } from "../../partners/Caller.ts"
import { clientSubject } from "../../account/clientState.ts"
import { Directory } from "../../partners/Directory.ts"
import { brokerClient, financeLabel, notUnderBroker, rereading } from "../brokerCustody.ts"
import type { OperatorCaller } from "../../shared/OperatorCaller.ts"
import type { Condition, PageEnd, PageQuery } from "../../../store/paging.ts"
import { fileOnce, rowFiled } from "../../shared/fileOnce.ts"
import { ofPartner, ofPartners, rowPage } from "../../account/listReads.ts"
import { firstRow } from "../../shared/firstRow.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { accountIn } from "../../account/accountNow.ts"
import {
  alreadyDecided,
  ruleOnWithdrawal,
  destinationRefusal,
  fileWithdrawal,
  type Fingerprints,
  fromOf,
  isRepeated,
  rulingRefusal,
  type WithdrawalRuling,
  wireRequest,
  withdrawalClaim
} from "./withdrawalDecisions.ts"
import { pendingPay, logOtherDestination } from "./pendingPay.ts"
import { checkWithdrawal } from "./withdrawalGates.ts"

/** 201: the request is filed now. 200: replay of a reference that the client already used. */
export type WithdrawalVerdict = Verdict<{ readonly status: 200 | 201; readonly request: WithdrawalRequest }>

export type CancelVerdict = Verdict<{ readonly request: WithdrawalRequest; readonly alreadyDecided: boolean }>

export interface WithdrawalPage extends PageEnd {
  readonly withdrawals: ReadonlyArray<WithdrawalRequest>
}

interface WithdrawalQuery extends PageQuery {
  readonly status?: WithdrawalStatus
}

type Ruled = Effect.Effect<Verdict<WithdrawalRequest>, DispatchError>

/** The result of `check`: the request, and whether the step is already done. */
export interface WithdrawalCheck {
  readonly request: WithdrawalRequest
  readonly repeated: boolean
}

/** A ruling of finance; the caller is added to it. */
export type FinanceRuling =
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
      /** The JSON text of the body: the destination is stored as written there. */
      text?: string
    ): Effect.Effect<WithdrawalVerdict, DispatchError>
    /** `requestId` null: the path names no request that could exist. */
    cancel(
      caller: Caller,
      clientId: number,
      requestId: number | null,
      store: StoreAnswer<CancelVerdict>
    ): Effect.Effect<CancelVerdict, DispatchError>
    /** The refusal when the partner's client has no such request; otherwise null. */
    missing(caller: Caller, clientId: number, requestId: number | null): Effect.Effect<Refusal | null, Unavailable>
    /** Requests of the partner, newest first; null when `clientId` is another partner's client. */
    list(
      partnerId: number,
      query: WithdrawalQuery & { readonly clientId?: number }
    ): Effect.Effect<WithdrawalPage | null, Unavailable>
    /** Requests of all partners or of one, by id or code, newest first. */
    listAll(query: WithdrawalQuery & { readonly partner?: string }): Effect.Effect<Verdict<WithdrawalPage>, Unavailable>
    /** One request of any partner, by id. */
    show(requestId: number): Effect.Effect<Verdict<WithdrawalRequest>, Unavailable>
    /**
     * One step by finance; a step that is already done returns the request unchanged. After a refusal nothing has
     * changed.
     */
    rule(caller: OperatorCaller, requestId: number, ruling: FinanceRuling): Ruled
    /** Dry run of a step, for the check before a second person's approval. */
    check(requestId: number, to: "APPROVED" | "PAID" | "FAILED"): Effect.Effect<Verdict<WithdrawalCheck>, Unavailable>
  }
>()("brokerage/runtime/services/money/withdrawal/Withdrawals") {
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

      const filedAs = rowFiled(stored, "withdrawalRequests")

      const find = (conditions: ReadonlyArray<Condition>): Effect.Effect<WithdrawalRow | null, Unavailable> =>
        firstRow(stored, "withdrawalRequests", conditions)

      const own = (
        { partner }: Caller,
        clientId: number,
        requestId: number | null
      ): Effect.Effect<WithdrawalRow | null, Unavailable> =>
        requestId === null
          ? Effect.succeed(null)
          : find([
              { column: "id", value: requestId },
              { column: "partner_id", value: partner.row.id },
              { column: "client_id", value: clientId }
            ])

      /**
       * A request as a list shows it: a destination that was changed in the database is hidden, so that no payment
       * goes there.
       */
      const shownRequest = (row: WithdrawalRow): WithdrawalRequest =>
        wireRequest(showsFiledDestination(sealing, row) ? row : { ...row, destination: null })

      const page = (conditions: ReadonlyArray<Condition>, query: WithdrawalQuery) =>
        Effect.map(
          rowPage(stored, "withdrawalRequests", conditions, query, (row) => row.id),
          ({ shown, end }): WithdrawalPage => ({ withdrawals: shown.map(shownRequest), ...end })
        )

      /** Rules on the row in the mailbox. Null: the row has left the mailbox, because the request has ended. */
      const runRuling = (
        turn: Turn,
        requestId: number,
        ruling: (row: WithdrawalRow) => WithdrawalRuling
      ): Verdict<WithdrawalRow> | null => {
        const row = turn.state.get("withdrawalRequests", String(requestId))
        if (row === undefined) return null
        const wanted = ruling(row)
        if (isRepeated(row, wanted.to)) return accept(row)
        const client = turn.state.one("clients")
        const partner = directory.partner(row.partnerId)
        if (client === undefined || partner === null) throw new Error("a withdrawal request without its client")
        return ruleOnWithdrawal({ turn, client, partner, sealing }, row, wanted)
      }

      /** Finance sees the stored row, so that row is checked too, not only the mailbox's. */
      const standingRefusal = (
        row: WithdrawalRow,
        to: WithdrawalRuling["to"]
      ): Effect.Effect<Refusal | null, Unavailable> =>
        to === "FAILED"
          ? pendingPay({ host, clock }, row.id)
          : Effect.succeed(row.state === fromOf[to] ? destinationRefusal(sealing, row, to) : null)

      /** Rules on a request by its id; the row is read again when its mailbox no longer holds it. */
      const onRow = (caller: OperatorCaller, requestId: number, ruling: FinanceRuling): Ruled =>
        rereading(
          Effect.gen(function* () {
            const row = yield* find([{ column: "id", value: requestId }])
            if (row === null) return refuse(noRequest)
            if (isRepeated(row, ruling.to)) return accept(shownRequest(row))
            if (!isOpenWithdrawal(row.state)) return refuse(alreadyDecided(row))
            const standing = yield* standingRefusal(row, ruling.to)
            if (standing !== null) return refuse(standing)
            const ruled = yield* host.dispatch({
              subject: clientSubject(row.clientId),
              by: caller.by,
              partner: () => directory.stamp(row.partnerId),
              decide: (turn) => runRuling(turn, requestId, (held) => rulingOf(caller, ruling, breaks.pausing(held)))
            })
            return ruled?.ok === true ? accept(wireRequest(ruled.value)) : ruled
          })
        )

      const cancel = (
        caller: Caller,
        clientId: number,
        requestId: number | null,
        store: StoreAnswer<CancelVerdict>
      ): Effect.Effect<CancelVerdict, DispatchError> =>
        rereading(
          Effect.gen(function* () {
            if (caller.partner.row.custodyModel !== "BROKER") return refuse(notUnderBroker)
            const row = yield* own(caller, clientId, requestId)
            if (row === null) return refuse(noRequest)
            if (!isOpenWithdrawal(row.state)) return cancelled(row)
            return yield* host.dispatch<CancelVerdict | null>({
              subject: clientSubject(clientId),
              by: caller.by,
              partner: () => directory.stamp(caller.partner.row.id),
              decide: (turn) => {
                partnerNow(directory, caller)
                const done = runRuling(turn, row.id, () => ({ to: "CANCELLED" }))
                if (done === null) return null
                return done.ok ? accept({ request: wireRequest(done.value), alreadyDecided: false }) : done
              },
              store: {
                row: (verdict, turn) => (verdict === null ? null : store.row(verdict, turn)),
                committed: (stored) => store.committed(stored)
              }
            })
          })
        )

      return Withdrawals.of({
        file: (caller, clientId, body, store, text) => {
          const early = refuseEarly(caller, body, text)
          if (!early.ok) return Effect.succeed(early)
          const request = early.value
          const partnerId = caller.partner.row.id
          return fileOnce(
            { host, stored },
            {
              subject: clientSubject(clientId),
              by: caller.by,
              partner: () => directory.stamp(partnerId),
              claim: withdrawalClaim(partnerId, request.partnerRef),
              read: filedAs,
              lookup: "first",
              decide: (turn, filed) =>
                decideFiling(turn, {
                  caller,
                  directory,
                  sealing,
                  request,
                  filed,
                  threshold: settings.sourceOfWealthThreshold,
                  paused: breaks.pausing({ clientId, partnerId })
                }),
              store
            }
          )
        },
        cancel: (caller, clientId, requestId, store) => cancel(caller, clientId, requestId, store),
        missing: (caller, clientId, requestId) =>
          Effect.map(own(caller, clientId, requestId), (row) => (row === null ? noRequest : null)),
        list: (partnerId, { clientId, ...query }) =>
          Effect.flatMap(ofPartner(host, partnerId, clientId), (conditions) =>
            conditions === null ? Effect.succeed(null) : page(conditions, query)
          ),
        listAll: ({ partner, ...query }) => {
          const conditions = ofPartners(directory, partner)
          return conditions.ok ? Effect.map(page(conditions.value, query), accept) : Effect.succeed(conditions)
        },
        show: (requestId) =>
          Effect.map(find([{ column: "id", value: requestId }]), (row) =>
            row === null ? refuse(noRequest) : accept(shownRequest(row))
          ),
        rule: (caller, requestId, ruling) =>
          Effect.tap(onRow(caller, requestId, ruling), (verdict) => logOtherDestination(requestId, verdict)),
        check: (requestId, to) =>
          Effect.gen(function* () {
            const row = yield* find([{ column: "id", value: requestId }])
            if (row === null) return refuse(noRequest)
            if (isRepeated(row, to)) return accept({ request: shownRequest(row), repeated: true })
            const standing = yield* standingRefusal(row, to)
            if (standing !== null) return refuse(standing)
            return yield* host.read(clientSubject(row.clientId), (state, facts): Verdict<WithdrawalCheck> => {
              const client = state.one("clients")
              const held = state.get("withdrawalRequests", String(requestId))
              if (client === undefined || held === undefined) return refuse(alreadyDecided(row))
              const refusal = rulingRefusal(
                { client, account: accountIn(state, facts), episodes: state.all("closeOuts"), sealing },
                held,
                {
                  to,
                  paused: breaks.pausing(held)
                }
              )
              return refusal === null ? accept({ request: wireRequest(held), repeated: false }) : refuse(refusal)
            })
          }).pipe(Effect.tap((verdict) => logOtherDestination(requestId, verdict)))
      })
    })
  )
}

const noRequest = unknown("Withdrawal request")

const rulingOf = (caller: OperatorCaller, ruling: FinanceRuling, paused: boolean): WithdrawalRuling => {
  const by = financeLabel(caller)
  switch (ruling.to) {
    case "APPROVED":
      return { to: "APPROVED", by, paused }
    case "PAID":
      return { to: "PAID" }
    case "REJECTED":
    case "FAILED":
      return { to: ruling.to, by, reason: cleanText(ruling.reason) }
  }
}

/** The reply to a cancel of an ended request: nothing to do, unless the money has been paid (A3-12). */
const cancelled = (row: WithdrawalRow): CancelVerdict =>
  row.state === "PAID" ? refuse(alreadyDecided(row)) : accept({ request: wireRequest(row), alreadyDecided: true })

/** The gates that need no client: custody model, then the fields. */
const refuseEarly = (caller: Caller, body: unknown, text: string | undefined): Verdict<WithdrawalBody> =>
  caller.partner.row.custodyModel === "BROKER" ? checkWithdrawal(body, text) : refuse(notUnderBroker)

interface Filing {
  readonly caller: Caller
  readonly directory: Directory["Service"]
  readonly sealing: Fingerprints
  readonly request: WithdrawalBody
  readonly filed: WithdrawalRow | null
  readonly threshold: bigint
  readonly paused: boolean
}

/** The gates that need the client, in the published order (A3-02). */
const decideFiling = (turn: Turn, { caller, directory, filed, ...filing }: Filing): WithdrawalVerdict => {
  const found = brokerClient(turn, directory, caller)
  if (!found.ok) return found
  const { client, partner } = found.value
  // A row in the mailbox is newer than the result of the lookup, so it takes precedence.
  const held = turn.state.all("withdrawalRequests")
  const own =
    held.find((row) => row.context.partnerRef === filing.request.partnerRef) ??
    (filed?.clientId === client.id ? filed : undefined)
  if (own !== undefined) return accept({ status: 200, request: wireRequest(own) })
  const balance = balanceOf(turn, client.id, client.partnerId, filing.request.currency)
  const verdict = fileWithdrawal({ turn, client, partner, balance, filed, ...filing })
  return verdict.ok ? accept({ status: 201, request: verdict.value }) : verdict
}
