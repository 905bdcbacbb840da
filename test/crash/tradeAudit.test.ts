/**
 * Tests the auditor of the crash run's traders: books that agree pass, and each way in which a service could lose,
 * double, alter or strand an order is found. A crash run detects no more than its auditor.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { makeTally, sendUntilAcknowledged } from "../../simulator/partner/sendUntilAcknowledged.ts"
import { judgeTrader, type TraderBooks } from "../../simulator/partner/TradeAudit.ts"
import { TradeJournal } from "../../simulator/partner/TradeJournal.ts"
import {
  cancelOrderRequest,
  type PlaceOptions,
  tradedPerp,
  tradedSpot,
  type TradeRequest
} from "../../simulator/partner/TradeRequest.ts"

const clientId = 7

const ordered = (asked: PlaceOptions): TradeRequest => ({
  kind: "order",
  sent: asked,
  call: { method: "POST", path: `/partner/v1/clients/${clientId}/orders`, body: "{}", idempotencyKey: "k" }
})
const answered = (status: number, body: object) => ({
  status,
  body: Buffer.from(JSON.stringify(body)),
  retryAfter: null,
  replayed: false
})
const named = (orderId: number, state: string) => ({ orderId, clOrdId: `O-${orderId}`, state })

const perpBuy = { symbol: tradedPerp, side: "BUY", type: "MARKET", qty: "0.002", price: null } as const
const perpSell = { ...perpBuy, side: "SELL", qty: "0.001" } as const
const spotBuy = { symbol: tradedSpot, side: "BUY", type: "LIMIT", qty: "0.001", price: "60500" } as const

/** A filled purchase, a partial sale, a spot purchase that was answered while in flight, and a cancelled purchase. */
const journalOf = (): TradeJournal => {
  const journal = new TradeJournal()
  journal.acknowledge(clientId, ordered(perpBuy), answered(200, named(1, "FILLED")))
  journal.acknowledge(clientId, ordered(perpSell), answered(200, named(2, "FILLED")))
  journal.acknowledge(clientId, ordered(spotBuy), answered(502, { code: 5020, msg: "", data: named(3, "SENT") }))
  journal.acknowledge(clientId, ordered(spotBuy), answered(200, named(4, "ACKED")))
  journal.acknowledge(clientId, cancelOrderRequest(clientId, 4), answered(200, named(4, "CANCELLED")))
  journal.acknowledge(
    clientId,
    ordered(spotBuy),
    answered(400, { code: 4000, orderId: null, clOrdId: null, state: null })
  )
  assert.deepStrictEqual(journal.contradictions, [])
  assert.strictEqual(journal.refused, 1)
  return journal
}

const common = {
  clOrdId: "O-1",
  reject: null,
  createdAt: 1,
  reduceOnly: false,
  tif: "GTC",
  trigger: null,
  updatedAt: 1,
  attach: null,
  ocoGroup: null,
  parentOrderId: null,
  parentClOrdId: null,
  origin: "CLIENT",
  note: null,
  replacedBy: null,
  replaces: null
} as const
const held = { currency: "USDC", amount: "60.530250", consumed: "0.000000", released: "60.530250" }
const orders: TraderBooks["orders"] = [
  { ...common, ...perpBuy, orderId: 1, family: "PERP", state: "FILLED", filledQty: "0.0020", reservation: null },
  { ...common, ...perpSell, orderId: 2, family: "PERP", state: "FILLED", filledQty: "0.0010", reservation: null },
  { ...common, ...spotBuy, orderId: 3, family: "SPOT", state: "FILLED", filledQty: "0.001", reservation: held },
  { ...common, ...spotBuy, orderId: 4, family: "SPOT", state: "CANCELLED", filledQty: "0", reservation: held }
]
const trade = { id: 1, clOrdId: "O-1", ts: 1, realizedPnl: "0.000000", asset: null } as const
const trades: TraderBooks["trades"] = [
  {
    ...trade,
    orderId: 1,
    venueTradeId: 11,
    symbol: tradedPerp,
    family: "PERP",
    side: "BUY",
    price: "60000",
    qty: "0.0020",
    commission: "0.060000",
    notional: "120.000000"
  },
  {
    ...trade,
    orderId: 2,
    venueTradeId: 12,
    symbol: tradedPerp,
    family: "PERP",
    side: "SELL",
    price: "61000",
    qty: "0.0010",
    commission: "0.030500",
    notional: "61.000000",
    realizedPnl: "1.000000"
  },
  {
    ...trade,
    orderId: 3,
    venueTradeId: 13,
    symbol: tradedSpot,
    family: "SPOT",
    side: "BUY",
    price: "60000",
    qty: "0.001",
    commission: "0.030000",
    notional: "60.000000",
    asset: "BTC"
  }
]
const line = (currency: "USDC" | "BTC", total: string): TraderBooks["balances"][number] => ({
  currency,
  kind: "CASH",
  cash: total,
  reserved: "0",
  total,
  free: total,
  displayDecimals: 2,
  venueAsset: currency,
  equity: null,
  unrealizedPnl: null,
  freeMargin: null,
  mark: null,
  markFresh: false,
  value: null,
  valueCurrency: "USDC",
  staked: "0",
  swapClaims: "0",
  stakedValue: "0",
  claimsValue: "0"
})
const charge = (orderId: number, tradeId: number, amount: string): TraderBooks["postings"][number] => ({
  postingId: tradeId,
  txId: tradeId,
  type: "COMMISSION",
  actor: "system:venue",
  reason: null,
  ts: 1,
  amount,
  currency: "USDC",
  kind: "cash",
  refs: { TradeId: tradeId, ClientOrderId: `O-${orderId}` }
})
// 10,000, plus 1 from the sale, less 60 for the asset, less 0.1205 commission.
const sound: TraderBooks = {
  clientId,
  orders,
  trades,
  positions: [
    { symbol: tradedPerp, netQty: "0.0010", avgEntryPrice: "60000", netCost: "60", realizedPnl: "1", updatedAt: 1 }
  ],
  balances: [line("USDC", "9940.879500"), line("BTC", "0.00100000")],
  postings: [charge(1, 11, "-0.060000"), charge(2, 12, "-0.030500"), charge(3, 13, "-0.030000")]
}

const findings = (books: TraderBooks) => {
  const found = { lost: [] as Array<string>, doubled: [] as Array<string>, wrong: [] as Array<string> }
  judgeTrader(books, journalOf().orders, found)
  return found
}
const changed = <A>(rows: ReadonlyArray<A>, at: number, members: Partial<A>): ReadonlyArray<A> =>
  rows.map((row, n) => (n === at ? { ...row, ...members } : row))

describe("the audit of traders", () => {
  it("SC-PLT-04: passes books that agree with the acknowledgements", () => {
    assert.deepStrictEqual(findings(sound), { lost: [], doubled: [], wrong: [] })
  })

  it.each([
    ["loses an order", { orders: orders.slice(0, 3) }, /^Order 4 was acknowledged and is missing/],
    ["makes an order twice", { orders: changed(orders, 3, { orderId: 9 }) }, /^Order 9 .* was never acknowledged/],
    ["alters an order", { orders: changed(orders, 0, { side: "SELL" }) }, /^Order 1 is listed differently/],
    ["strands an order", { orders: changed(orders, 2, { state: "SENT" }) }, /^Order 3 is stuck in SENT/],
    ["revives an order", { orders: changed(orders, 3, { state: "ACKED" }) }, /^The cancel of order 4 was confirmed/],
    ["takes an end back", { orders: changed(orders, 1, { state: "PARTIAL" }) }, /^Order 2 was answered FILLED/],
    ["loses a trade", { trades: trades.slice(1) }, /^Order 1 is filled by 0.0020, its trades by 0/],
    ["books a trade twice", { trades: [...trades, ...trades.slice(0, 1)] }, /^Trade 11 of order 1 is booked twice/],
    ["has a trade of nothing", { trades: changed(trades, 0, { orderId: 8 }) }, /^A trade is of order 8/],
    ["charges twice", { postings: [...sound.postings, charge(1, 11, "-0.06")] }, /^Commission was charged 2 times/],
    ["forgets to charge", { postings: sound.postings.slice(1) }, /^3 trades cost commission, 2 were charged/],
    ["loses a position", { positions: [] }, /^The position of client 7 .* is missing/],
    ["has another position", { positions: changed(sound.positions, 0, { netQty: "0.003" }) }, /^Client 7 has 0.003 in/],
    ["loses an asset", { balances: sound.balances.slice(0, 1) }, /^Client 7 has 0 BTC/],
    ["loses a unit", { balances: changed(sound.balances, 0, { total: "9940.879499" }) }, /^Client 7 has 9940.879499/],
    ["keeps a hold", { balances: changed(sound.balances, 0, { reserved: "1" }) }, /^Client 7 has 1 USDC reserved/]
  ] as const)("SC-PLT-04: detects a service that %s", (_, difference, sentence) => {
    const { lost, doubled, wrong } = findings({ ...sound, ...(difference as Partial<TraderBooks>) })
    assert.isTrue(
      [...lost, ...doubled, ...wrong].some((found) => sentence.test(found)),
      [...lost, ...doubled, ...wrong].join(" ")
    )
  })

  it("A1-51: an answer without its order, and one order for two keys, are contradictions", () => {
    const journal = journalOf()
    journal.acknowledge(clientId, ordered(perpBuy), answered(200, named(1, "FILLED")))
    journal.acknowledge(clientId, ordered(perpBuy), answered(200, {}))
    journal.acknowledge(clientId, ordered(perpBuy), answered(200, { ...named(10, "FILLED"), clOrdId: "O-9" }))
    assert.deepStrictEqual(journal.contradictions, [
      "Order 1 was told for two keys.",
      "An order of client 7 was answered 200 without its name.",
      "Order 10 is called O-9."
    ])
  })

  it.live("A1-51: a 502 that names an order is its answer; one without an order is no answer, and is repeated", () =>
    Effect.gen(function* () {
      const said = [answered(502, { code: 5020, msg: "", data: null }), answered(502, { data: named(3, "SENT") })]
      const client = { send: () => Effect.succeed(said.shift() ?? answered(500, {})) }
      const tally = makeTally()
      const { status, body } = yield* sendUntilAcknowledged(client, ordered(perpBuy).call, new SeededRandom(1), tally)
      assert.strictEqual(status, 502)
      assert.match(body.toString(), /"orderId":3/)
      assert.deepStrictEqual([tally.attempts, tally.badGateway], [2, 2])
    })
  )
})
