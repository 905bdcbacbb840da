/**
 * Paying a client out who can't ask, because compliance holds or has refused the person (operator surface, client payout;
 * A3-43): the postings of a withdrawal, in one turn and behind the same money-out gate. With a reference of finance's own
 * it is paid once: the same payout again is answered with the first, so the command is safe to repeat.
 *
 * Under PARTNER custody the partner holds the client's USDC, and the service pays with its own: a MANUAL posting of minus
 * the amount with its settlement item, which the partner owes from then on (decision record 11). Another currency is with
 * the service there too, no route lets anybody ask for it, and so it is paid out at any level, with the postings of a
 * withdrawal.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { MachineEffect } from "../../../machines/Effects.ts"
import { type Currency, isCurrency } from "../../../machines/shared/Currency.ts"
import { formatAmount, parsePositiveAmount } from "../../../machines/shared/Money.ts"
import {
  accept,
  conflict,
  invalidFields,
  refuse,
  type Refusal,
  unknown,
  type Verdict
} from "../../../machines/shared/Refusal.ts"
import { cleanText } from "../../../machines/shared/Text.ts"
import { moneyOutRefusal } from "../../../machines/withdrawal/moneyOut.ts"
import { ActorHost, type DispatchError, type Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { applyEffects } from "../../effects/Interpreter.ts"
import { balanceOf } from "../../ledger/Ledger.ts"
import type { ClientRow } from "../../store/Rows.ts"
import { shutRefusal } from "./Adjustments.ts"
import { Breaks } from "../reconciliation/Breaks.ts"
import { findClient } from "../client/clientLookup.ts"
import { clientContext, clientSubject, instanceOf } from "../client/clientState.ts"
import { closingPartners } from "../partner/closingBlockers.ts"
import { Directory, type PartnerView } from "../partner/Directory.ts"
import type { OperatorCaller } from "../operator/OperatorKeys.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { whenAway } from "../../store/whenAway.ts"
import { cashIn, cashInTurn, type CashOf, freeMoney, type Of } from "../withdrawal/withdrawalDecisions.ts"

export interface PayoutRequest {
  readonly currency: string
  /** Positive decimal string in the currency's scale. */
  readonly amount: string
  readonly reason: string
  /** The operator's own name of the payout, 1 to 64 characters; paid once for each client. */
  readonly reference?: string
}

export interface Payout {
  readonly ledgerTxId: number
  readonly clientId: number
  readonly clientUid: string
  readonly currency: Currency
  readonly amount: string
  readonly reason: string
  readonly reference: string | null
  /** Right after the payout. */
  readonly balance: { readonly cash: string; readonly reserved: string; readonly total: string }
  readonly ts: number
}

/** What `check` found: the client, and the payout when the reference is paid already. */
export interface PayoutCheck {
  readonly clientId: number
  readonly paid: Payout | null
}

type Answer<A> = Effect.Effect<Verdict<A>, DispatchError>

export class Payouts extends Context.Service<
  Payouts,
  {
    pay(caller: OperatorCaller, client: string, request: PayoutRequest): Answer<Payout>
    /** Whether `pay` could run now: asked before it is put before a second pair of eyes. */
    check(client: string, request: PayoutRequest): Effect.Effect<Verdict<PayoutCheck>, Unavailable>
  }
>()("brokerage/runtime/services/ledger/Payouts") {
  static readonly layer = Layer.effect(
    Payouts,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const directory = yield* Directory
      const breaks = yield* Breaks
      const sql = yield* PgClient.PgClient
      const stored = yield* RowReads

      /** The payout that has the reference, if it is this one; another one is refused. Null: the reference is free. */
      const repeated = (client: ClientRow, order: Order): Effect.Effect<Verdict<Payout | null>, Unavailable> =>
        Effect.gen(function* () {
          if (order.reference === null) return accept(null)
          const [claim] = yield* stored.holders([payoutClaim(client.id, order.reference)])
          if (claim === undefined) return accept(null)
          const rows = yield* Effect.catch(
            sql.unsafe<PaidRow>(paidStatement, [BigInt(claim.owner), BigInt(client.id)]),
            whenAway
          )
          const [row] = rows
          if (row === undefined) throw new Error(`the payout ${claim.owner} is not in the ledger`)
          return isSame(row, order)
            ? accept(paidBefore(client, order, claim.owner, row))
            : refuse(otherPayout(claim.owner))
        })

      /** What stands against paying a client now. */
      const refusalOf = (row: ClientRow, cashOf: CashOf, order: Order): Refusal | null => {
        const partner = directory.partner(row.partnerId)
        if (partner === null) return unknown("Client")
        const paused = breaks.pausing({ clientId: row.id, partnerId: row.partnerId })
        return (
          shutRefusal(row, partner, closingPartners(host)) ??
          payoutRefusal({ client: row, partner, cashOf, paused }, order)
        )
      }

      /** The client, the order, and the payout when the reference is paid already. */
      const find = (client: string, request: PayoutRequest) =>
        Effect.gen(function* () {
          const found = yield* findClient(host, sql, client)
          if (found === null) return refuse(unknown("Client"))
          const order = orderOf(request)
          if (typeof order === "string") return refuse(invalidFields({ amount: order }))
          const before = yield* repeated(found, order)
          return before.ok ? accept({ found, order, paid: before.value }) : before
        })

      const payNow = (caller: OperatorCaller, found: ClientRow, order: Order): Answer<Payout> =>
        host.dispatch({
          subject: clientSubject(found.id),
          by: caller.by,
          partner: () => directory.stamp(found.partnerId),
          decide: (turn): Verdict<Payout> => {
            const row = turn.state.one("clients")
            const partner = directory.partner(found.partnerId)
            if (row === undefined || partner === null) return refuse(unknown("Client"))
            const of = { turn, client: row, partner }
            const refusal = refusalOf(row, cashInTurn(of), order)
            return refusal === null ? accept(payOut(of, order)) : refuse(refusal)
          }
        })

      return Payouts.of({
        check: (client, request) =>
          Effect.gen(function* () {
            const judged = yield* find(client, request)
            if (!judged.ok) return judged
            const { found, order, paid } = judged.value
            if (paid !== null) return accept({ clientId: found.id, paid })
            return yield* host.read(clientSubject(found.id), (state) => {
              const refusal = refusalOf(state.one("clients") ?? found, cashIn(state), order)
              return refusal === null ? accept({ clientId: found.id, paid: null }) : refuse(refusal)
            })
          }),
        pay: (caller, client, request) =>
          Effect.gen(function* () {
            const judged = yield* find(client, request)
            if (!judged.ok) return judged
            const { found, order, paid } = judged.value
            if (paid !== null) return accept(paid)
            // Refused, or beaten to the reference: what stood in the way may have been the same payout.
            const again = Effect.map(repeated(found, order), (verdict) =>
              verdict.ok && verdict.value === null ? null : (verdict as Verdict<Payout>)
            )
            return yield* payNow(caller, found, order).pipe(
              Effect.flatMap((verdict) =>
                verdict.ok ? Effect.succeed(verdict) : Effect.map(again, (other) => other ?? verdict)
              ),
              Effect.catchTag("ClaimLost", (lost) =>
                Effect.flatMap(again, (other) => (other === null ? Effect.fail(lost) : Effect.succeed(other)))
              )
            )
          })
      })
    })
  )
}

/** A checked request. */
interface Order {
  readonly currency: Currency
  /** Minor units, more than zero. */
  readonly minor: bigint
  readonly reason: string
  readonly reference: string | null
}

const orderOf = ({ currency, amount, reason, reference }: PayoutRequest): Order | string => {
  if (!isCurrency(currency)) return "The currency is unknown."
  const minor = parsePositiveAmount(amount, currency)
  if (typeof minor === "string") return minor
  return {
    currency,
    minor,
    reason: cleanText(reason),
    reference: reference === undefined ? null : cleanText(reference)
  }
}

/** The unique fact of a reference; it belongs to the transaction that took the money out. */
const payoutClaim = (clientId: number, reference: string): string => `payout:${clientId}:${reference}`

const otherPayout = (ledgerTxId: number): Refusal =>
  conflict(`This reference is paid already with other content, as transaction ${ledgerTxId}. Nothing was paid now.`, {
    ledgerTxId
  })

/** A payout as it is booked, with the client's balance of the currency right after it. */
interface PaidRow {
  readonly reason: string | null
  readonly ts: bigint
  readonly currency: string
  readonly minor: bigint
  readonly cash: string
  readonly reserved: string
}

/** $1 the transaction, $2 the client. */
const paidStatement = `
  SELECT t.reason, t.ts, p.currency, -p.amount AS minor, after.cash, after.reserved
    FROM ledger_transactions t
    JOIN postings p ON p.tx_id = t.tx_id AND p.client_id = $2
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount) FILTER (WHERE kind = 'cash'), 0)::text AS cash,
             coalesce(sum(amount) FILTER (WHERE kind = 'reserved'), 0)::text AS reserved
        FROM postings WHERE client_id = $2 AND currency = p.currency AND tx_id <= $1) after
   WHERE t.tx_id = $1`

const isSame = (row: PaidRow, { currency, minor, reason }: Order): boolean =>
  row.currency === currency && row.minor === minor && row.reason === reason

const paidBefore = (client: ClientRow, order: Order, ledgerTxId: number, row: PaidRow): Payout =>
  payoutView(client, order, {
    ledgerTxId,
    cash: BigInt(row.cash),
    reserved: BigInt(row.reserved),
    ts: Number(row.ts)
  })

interface Booked {
  readonly ledgerTxId: number
  readonly cash: bigint
  readonly reserved: bigint
  readonly ts: number
}

const payoutView = ({ id, uid }: ClientRow, order: Order, { ledgerTxId, cash, reserved, ts }: Booked): Payout => {
  const money = (figure: bigint) => formatAmount(figure, order.currency)
  return {
    ledgerTxId,
    clientId: id,
    clientUid: uid,
    currency: order.currency,
    amount: money(order.minor),
    reason: order.reason,
    reference: order.reference,
    balance: { cash: money(cash), reserved: money(reserved), total: money(cash + reserved) },
    ts
  }
}

interface Paying {
  readonly client: ClientRow
  readonly partner: PartnerView
  readonly cashOf: CashOf
  readonly paused: boolean
}

/** Whether the client's partner has a route for the currency: collateral is USDC alone. */
const canBeAskedFor = ({ row }: PartnerView, currency: Currency): boolean =>
  row.custodyModel === "BROKER" || currency === "USDC"

/** Only what the client can't ask for, and only what a withdrawal would let out. */
const payoutRefusal = ({ client, partner, cashOf, paused }: Paying, { currency, minor }: Order): Refusal | null => {
  if (client.level !== "NONE" && canBeAskedFor(partner, currency)) {
    return conflict(`The client is at level ${client.level}, so the partner can ask for the money itself.`)
  }
  const { restrictions } = clientContext(client)
  const sentence = moneyOutRefusal({ ...freeMoney(cashOf, currency), restrictions, paused }, minor)
  return sentence === null ? null : conflict(sentence)
}

const payOut = ({ turn, client, partner }: Of, order: Order): Payout => {
  const { currency, minor, reason, reference } = order
  const money = (figure: bigint) => formatAmount(figure, currency)
  const before = balanceOf(turn, client.id, client.partnerId, currency)
  const payoutId = turn.nextId("transaction")
  const owed = partner.row.custodyModel === "PARTNER" && currency === "USDC"
  const leg = (entry: "WITHDRAWAL_RESERVE" | "WITHDRAWAL" | "MANUAL", step: string) =>
    ({
      type: "ledger.post",
      entry,
      key: `payout:${payoutId}${step}`,
      currency,
      amount: money(-minor),
      reason,
      refs: { payoutId, ...(reference === null ? {} : { reference }) }
    }) satisfies MachineEffect
  // Transactions are numbered in the order in which they are booked: the seals rely on it.
  if (!owed)
    applyEffects(turn, { ...instanceOf(client, partner), txId: payoutId }, [leg("WITHDRAWAL_RESERVE", ":reserve")])
  const txId = owed ? payoutId : turn.nextId("transaction")
  if (reference !== null) turn.draft.claim(payoutClaim(client.id, reference), txId)
  const cash = before.cash - minor
  applyEffects(turn, { ...instanceOf(client, partner), object: `ledgerTransaction:${txId}`, txId }, [
    owed ? leg("MANUAL", "") : leg("WITHDRAWAL", ":out"),
    { type: "notify", kind: "MONEY_MOVEMENT", ref: String(txId) },
    {
      type: "audit",
      action: "client.payout",
      before: `${money(before.cash)} ${currency}`,
      after: `${money(cash)} ${currency}`,
      reason
    }
  ])
  return payoutView(client, order, { ledgerTxId: txId, cash, reserved: before.reserved, ts: turn.now })
}
