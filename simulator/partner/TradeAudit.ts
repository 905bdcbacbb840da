/**
 * Compares the traders' books with the service's. Every acknowledged answer is replayed under its key; every order exists as
 * requested and is filled by its trades alone; positions, assets and cash equal the sums of the trades. Nothing may be lost,
 * doubled, different or stuck (F12, F20; SC-PLT-04).
 */
import { Effect } from "effect"
import type { BalanceLine, PostingWire } from "../../src/machines/account/AccountWire.ts"
import type { OrderWire, PositionWire, TradeWire } from "../../src/machines/order/OrderWire.ts"
import type { Currency } from "../../src/machines/shared/Currency.ts"
import { formatAmount, minorOf, MoneyDecimal } from "../../src/machines/shared/Money.ts"
import type { PartnerClient } from "./PartnerClient.ts"
import { makePartnerReads } from "./PartnerReads.ts"
import type { SeededRandom } from "./SeededRandom.ts"
import { makeTally, sendUntilAcknowledged } from "./sendUntilAcknowledged.ts"
import type { KnownOrder, TradeJournal } from "./TradeJournal.ts"
import { tradedSpot, traderMoney } from "./TradeRequest.ts"

export interface TradeAuditReport {
  readonly acknowledged: number
  readonly replays: number
  readonly orders: number
  readonly trades: number
  readonly lost: ReadonlyArray<string>
  readonly doubled: ReadonlyArray<string>
  readonly wrong: ReadonlyArray<string>
}

export interface TradeAuditOptions {
  readonly client: PartnerClient
  readonly random: SeededRandom
  readonly journal: TradeJournal
  readonly traders: ReadonlyArray<{ readonly clientId: number }>
}

interface Findings {
  readonly lost: Array<string>
  readonly doubled: Array<string>
  readonly wrong: Array<string>
}

/** All data of one trader that the routes return. */
export interface TraderBooks {
  readonly clientId: number
  readonly orders: ReadonlyArray<OrderWire>
  readonly trades: ReadonlyArray<TradeWire>
  readonly positions: ReadonlyArray<PositionWire>
  readonly balances: ReadonlyArray<typeof BalanceLine.Type>
  readonly postings: ReadonlyArray<typeof PostingWire.Type>
}

/** Call it without requests or orders in flight. Waits while the service is unavailable; the caller sets the limit. */
export const auditTrades = Effect.fnUntraced(function* (
  options: TradeAuditOptions
): Effect.fn.Return<TradeAuditReport> {
  const { client, random, journal, traders } = options
  const findings: Findings = { lost: [], doubled: [], wrong: [] }
  const reads = makePartnerReads(client, random)
  const replays = yield* replayTrades(options, findings)
  const counted = yield* Effect.forEach(
    traders,
    ({ clientId }) =>
      Effect.all({
        clientId: Effect.succeed(clientId),
        orders: reads.orders(clientId),
        trades: reads.trades(clientId),
        positions: reads.positions(clientId),
        balances: reads.balances(clientId),
        postings: reads.ledger(clientId)
      }).pipe(
        Effect.map((books) => {
          judgeTrader(books, journal.orders, findings)
          return books.trades.length
        }),
        Effect.catchTag("ReadRefused", ({ sentence }) =>
          Effect.as(
            Effect.sync(() => findings.wrong.push(sentence)),
            0
          )
        )
      ),
    { concurrency: 4 }
  )
  return {
    ...findings,
    acknowledged: journal.entries.length,
    replays,
    orders: journal.orders.size,
    trades: counted.reduce((sum, count) => sum + count, 0)
  }
})

/** Sends every keyed request again and compares the answers. A cancel has no key, so a repeated cancel finds an ended order. */
const replayTrades = Effect.fnUntraced(function* ({ client, random, journal }: TradeAuditOptions, findings: Findings) {
  const keyed = journal.entries.filter(({ request }) => request.call.idempotencyKey !== undefined)
  yield* Effect.forEach(
    keyed,
    Effect.fnUntraced(function* ({ request, status, body }) {
      const again = yield* sendUntilAcknowledged(client, request.call, random, makeTally())
      const key = request.call.idempotencyKey
      if (again.status !== status || !again.body.equals(body))
        findings.lost.push(`The answer of key ${key} was ${status} and is now ${again.status}, or its bytes differ.`)
      else if (!again.replayed) findings.doubled.push(`Key ${key} was executed again instead of replayed.`)
    }),
    { concurrency: 8, discard: true }
  )
  return keyed.length
})

/** Compares one trader's readable data with the acknowledgements, and with each other. */
export const judgeTrader = (books: TraderBooks, known: ReadonlyMap<number, KnownOrder>, findings: Findings): void => {
  judgeOrders(books, known, findings)
  judgeFills(books, findings)
  judgeHoldings(books, findings)
  judgeMoney(books, findings)
}

const over = ["FILLED", "CANCELLED", "REJECTED"]
const inFlight = ["CHECKED", "SENT", "PENDING_CANCEL"]
const same = (one: string | null, other: string | null): boolean =>
  one === null || other === null ? one === other : new MoneyDecimal(one).eq(other)

const judgeOrders = (books: TraderBooks, known: ReadonlyMap<number, KnownOrder>, findings: Findings): void => {
  const seen = new Set<number>()
  for (const { orderId, state, ...row } of books.orders) {
    if (seen.has(orderId)) findings.doubled.push(`Order ${orderId} is listed twice.`)
    seen.add(orderId)
    const order = known.get(orderId)
    if (order === undefined) {
      findings.doubled.push(`Order ${orderId} of client ${books.clientId} was never acknowledged.`)
      continue
    }
    const { sent } = order
    const isSame = row.symbol === sent.symbol && row.side === sent.side && row.type === sent.type
    if (!isSame || !same(row.qty, sent.qty) || !same(row.price, sent.price))
      findings.wrong.push(`Order ${orderId} is listed differently from what was asked for.`)
    if (inFlight.includes(state)) findings.wrong.push(`Order ${orderId} is stuck in ${state}.`)
    if (over.includes(order.state) && order.state !== state)
      findings.wrong.push(`Order ${orderId} was answered ${order.state} and is ${state}.`)
    if (order.cancelled && !over.includes(state))
      findings.wrong.push(`The cancel of order ${orderId} was confirmed, and it is ${state}.`)
  }
  for (const { orderId, clientId } of known.values())
    if (clientId === books.clientId && !seen.has(orderId))
      findings.lost.push(`Order ${orderId} was acknowledged and is missing.`)
}

const judgeFills = ({ orders, trades, postings }: TraderBooks, findings: Findings): void => {
  const filled = new Map<number, MoneyDecimal>()
  const seen = new Set<string>()
  const charged = new Map<string, number>()
  for (const { type, refs } of postings) {
    if (type !== "COMMISSION") continue
    const name = JSON.stringify(refs)
    charged.set(name, (charged.get(name) ?? 0) + 1)
  }
  for (const { orderId, venueTradeId, qty } of trades) {
    const name = `${orderId}:${venueTradeId}`
    if (seen.has(name)) findings.doubled.push(`Trade ${venueTradeId} of order ${orderId} is booked twice.`)
    seen.add(name)
    filled.set(orderId, (filled.get(orderId) ?? new MoneyDecimal(0)).plus(qty))
  }
  for (const { orderId, state, qty, filledQty } of orders) {
    const sum = filled.get(orderId) ?? new MoneyDecimal(0)
    filled.delete(orderId)
    if (!sum.eq(filledQty)) findings.wrong.push(`Order ${orderId} is filled by ${filledQty}, its trades by ${sum}.`)
    if (sum.gt(qty) || (state === "FILLED") !== sum.eq(qty))
      findings.wrong.push(`Order ${orderId} is ${state} with ${sum} of ${qty}.`)
  }
  for (const orderId of filled.keys()) findings.doubled.push(`A trade is of order ${orderId}, which is not listed.`)
  for (const [name, count] of charged)
    if (count > 1) findings.doubled.push(`Commission was charged ${count} times for ${name}.`)
  const due = trades.filter(({ commission }) => /[1-9]/.test(commission)).length
  if (charged.size !== due) findings.wrong.push(`${due} trades cost commission, ${charged.size} were charged.`)
}

/** Checks that positions and assets equal the sums of their trades. */
const judgeHoldings = ({ clientId, trades, positions, balances }: TraderBooks, findings: Findings): void => {
  const held = new Map<string, MoneyDecimal>()
  for (const { symbol, side, qty } of trades)
    held.set(symbol, (held.get(symbol) ?? new MoneyDecimal(0)).plus(side === "BUY" ? qty : `-${qty}`))
  const asset = held.get(tradedSpot) ?? new MoneyDecimal(0)
  const total = balances.find(({ currency }) => currency === "BTC")?.total ?? "0"
  if (!asset.eq(total)) findings.wrong.push(`Client ${clientId} has ${total} BTC, its trades add up to ${asset}.`)
  held.delete(tradedSpot)
  for (const { symbol, netQty } of positions) {
    const sum = held.get(symbol) ?? new MoneyDecimal(0)
    held.delete(symbol)
    if (!sum.eq(netQty)) findings.wrong.push(`Client ${clientId} has ${netQty} in ${symbol}, its trades say ${sum}.`)
  }
  for (const [symbol, sum] of held)
    if (!sum.isZero()) findings.lost.push(`The position of client ${clientId} in ${symbol}, ${sum}, is missing.`)
}

/** Cash is the sum of deposits, results, exchanges and commissions; reserved is the amount of open orders. */
const judgeMoney = ({ clientId, orders, trades, balances, postings }: TraderBooks, findings: Findings): void => {
  const minor = (text: string): bigint => minorOf(text, "USDC")
  let money = traderMoney
  for (const { family, side, notional, commission, realizedPnl } of trades) {
    if (family === "PERP") money += minor(realizedPnl)
    else money += side === "BUY" ? -minor(notional) : minor(notional)
    money -= minor(commission)
  }
  // The venue pays funding between longs and shorts if a funding time falls into the run.
  for (const { type, amount } of postings) if (type === "FUNDING") money += minor(amount)
  const usdc = balances.find(({ currency }) => currency === "USDC")
  if (usdc === undefined || minor(usdc.total) !== money) {
    const expected = formatAmount(money, "USDC")
    findings.wrong.push(`Client ${clientId} has ${usdc?.total}, its deposit and its trades make ${expected}.`)
  }
  const held = new Map<string, bigint>()
  for (const { reservation, state } of orders) {
    if (reservation === null || over.includes(state)) continue
    const { currency, amount, consumed, released } = reservation
    const of = (text: string): bigint => minorOf(text, currency as Currency)
    held.set(currency, (held.get(currency) ?? 0n) + of(amount) - of(consumed) - of(released))
  }
  for (const { currency, reserved } of balances)
    if (minorOf(reserved, currency) !== (held.get(currency) ?? 0n))
      findings.wrong.push(`Client ${clientId} has ${reserved} ${currency} reserved, its orders hold something else.`)
}
