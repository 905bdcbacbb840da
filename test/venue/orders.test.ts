/** Single orders: times in force, reduce-only, triggers, groups (MATCH cases; A2-37, A2-41, A2-42, A2-95). */
import { assert, describe, it } from "@effect/vitest"
import { Exchange, type Fill } from "../../simulator/venue/core/Exchange.ts"
import type { Market } from "../../simulator/venue/core/Market.ts"
import type { Order, OrderRequest } from "../../simulator/venue/core/Order.ts"
import { orderRequest } from "./orderRequest.ts"

/** Prices with three decimal places, as in the published cases: 90.005 is 90,005 ticks. */
const market: Market = {
  symbol: "USDJPY-USDC-PERP",
  family: "PERP",
  base: "USDJPY",
  assetClass: "fx",
  displayName: "Dollar and yen",
  tickDecimals: 3,
  lotDecimals: 0,
  minQty: 1,
  maxQty: 10_000_000,
  minNotional: 0n,
  bandBps: 10_000
}

const client = 1
const house = 2

const opened = (listed: Market = market) => {
  const fills: Array<Fill> = []
  const exchange = new Exchange([listed], (event) => {
    if (event.kind === "fill") fills.push(event.fill)
  })
  exchange.open(client, "CL-00000001")
  exchange.open(house, "house")
  let refs = 0
  const place = (parts: Partial<OrderRequest>): Order =>
    exchange.place(orderRequest({ ref: `O-${++refs}`, accountId: client, symbol: market.symbol, ...parts }))
  const quote = (bid: number, ask: number, quantity = 1_000_000) => [
    place({ accountId: house, side: "BUY", price: bid, quantity }),
    place({ accountId: house, side: "SELL", price: ask, quantity })
  ]
  const move = (price: number) => exchange.move(market.symbol, "MARK", price)
  /** Fills of the client as price and quantity. */
  const mine = () =>
    fills.filter(({ accountId }) => accountId === client).map(({ price, quantity }) => [price, quantity])
  return { exchange, place, quote, move, mine }
}

const stop = (price: number, direction: "AT_OR_ABOVE" | "AT_OR_BELOW") => ({
  source: "MARK" as const,
  price,
  direction
})

describe("orders at the venue", () => {
  it("MATCH-002: a market order larger than the book ends cancelled with the fills that the book had", () => {
    const { place, quote } = opened()
    quote(90_002, 90_005, 500_000)
    const order = place({ quantity: 1_000_000, tif: "IOC" })
    assert.deepInclude(order, { state: "CANCELLED", left: 500_000, reason: "not filled at once" })
  })

  it("MATCH-004: an immediate limit order without a counterparty ends unfilled", () => {
    const { place, quote } = opened()
    quote(90_002, 90_005)
    assert.deepInclude(place({ price: 1_000, quantity: 5, tif: "IOC" }), { state: "CANCELLED", left: 5 })
  })

  it("MATCH-006: a market order in an empty book is refused", () => {
    const { place } = opened()
    assert.deepInclude(place({ tif: "IOC" }), { state: "REJECTED", reason: "no market" })
  })

  it("MATCH-008: reduce-only without a position is refused", () => {
    const { place, quote } = opened()
    quote(90_002, 90_005)
    assert.deepInclude(place({ reduceOnly: true }), { state: "REJECTED", reason: "no position to reduce" })
  })

  it("a reduce-only order never reverses the position, whatever its quantity", () => {
    const { exchange, place, quote } = opened()
    quote(90_002, 90_005)
    place({ quantity: 10 })
    const order = place({ side: "SELL", quantity: 25, reduceOnly: true, tif: "IOC" })
    assert.deepInclude(order, { state: "CANCELLED", left: 15, reason: "reduce-only empty" })
    assert.strictEqual(exchange.accounts.get(client)?.lotsOf(market.symbol), 0)
  })

  it("MATCH-010: a stop whose level is touched fills at the market of that moment", () => {
    const { place, quote, move, mine } = opened()
    quote(90_002, 90_015)
    move(90_005)
    const order = place({ trigger: stop(90_015, "AT_OR_ABOVE"), quantity: 3 })
    assert.strictEqual(order.state, "WAITING")
    move(90_014)
    assert.strictEqual(order.state, "WAITING")
    move(90_020)
    assert.strictEqual(order.state, "FILLED")
    assert.deepStrictEqual(mine(), [[90_015, 3]])
  })

  it("MATCH-012: a stop that the price jumps over fills at the market, not at its level", () => {
    const { place, quote, move, mine } = opened()
    place({ accountId: house, side: "SELL", price: 90_005, quantity: 10 })
    place({ quantity: 10, price: 90_005 })
    quote(89_975, 89_980)
    move(90_005)
    const order = place({ side: "SELL", trigger: stop(89_985, "AT_OR_BELOW"), quantity: 10, reduceOnly: true })
    move(89_975)
    assert.strictEqual(order.state, "FILLED")
    assert.deepStrictEqual(mine().at(-1), [89_975, 10])
  })

  it("A2-37: an order with a bound trades no further from the mark at which it triggers", () => {
    const { place, quote, move, mine } = opened()
    move(90_000)
    quote(88_110, 91_000, 2)
    place({ side: "BUY", price: 91_000, tif: "IOC", quantity: 2 })
    quote(88_109, 92_000, 10)
    place({ side: "BUY", price: 92_000, tif: "IOC", quantity: 8 })
    const order = place({
      side: "SELL",
      quantity: 5,
      tif: "IOC",
      reduceOnly: true,
      trigger: stop(89_500, "AT_OR_BELOW"),
      boundBps: 100
    })
    assert.deepInclude(order, { state: "WAITING", limit: null })
    move(89_000)
    // 89,000 less 1 % is 88,110. Bids for two lots lie there, and the other bids lie beyond it.
    assert.deepStrictEqual(mine().at(-1), [88_110, 2])
    assert.deepInclude(order, { state: "CANCELLED", left: 3, limit: 88_110, reason: "not filled at once" })
  })

  it("A2-37: a limit within the bound stays, one beyond it becomes the bound", () => {
    const { place, quote, move } = opened()
    move(90_000)
    quote(89_999, 90_001)
    place({ side: "BUY", tif: "IOC", price: 90_001, quantity: 10 })
    const sell = { side: "SELL", quantity: 5, reduceOnly: true, boundBps: 100 } as const
    const within = place({ ...sell, price: 89_500, trigger: stop(88_000, "AT_OR_BELOW") })
    const beyond = place({ ...sell, price: 80_000, trigger: stop(88_000, "AT_OR_BELOW") })
    move(88_000)
    assert.deepStrictEqual([within.limit, beyond.limit], [89_500, 87_120])
  })

  it("A2-40: the limit of a conditional order is checked against the band when it triggers", () => {
    const { place, move } = opened({ ...market, bandBps: 1_000 })
    move(90_000)
    const far = place({ side: "BUY", price: 120_000, trigger: stop(110_000, "AT_OR_ABOVE") })
    const near = place({ side: "BUY", price: 60_000, trigger: stop(110_000, "AT_OR_ABOVE") })
    assert.deepStrictEqual([far.state, near.state], ["WAITING", "WAITING"])
    move(110_000)
    assert.deepStrictEqual([far.state, near.state, near.reason], ["WORKING", "REJECTED", "price outside the band"])
  })

  it("MATCH-007: a trigger that is already reached is refused", () => {
    const { place, move } = opened()
    move(90_020)
    assert.deepInclude(place({ trigger: stop(90_015, "AT_OR_ABOVE") }), {
      state: "REJECTED",
      reason: "would trigger at once"
    })
  })

  it("SC-ORD-14: a spike of the last price triggers the orders on it, and none on the mark", () => {
    const { place, quote, move } = opened()
    quote(90_002, 90_005, 1)
    place({ accountId: house, side: "SELL", price: 90_100, quantity: 50 })
    move(90_003)
    const onLast = place({ trigger: { source: "LAST", price: 90_050, direction: "AT_OR_ABOVE" } })
    const onMark = place({ trigger: stop(90_050, "AT_OR_ABOVE") })
    place({ quantity: 3 })
    assert.deepStrictEqual([onLast.state, onMark.state], ["FILLED", "WAITING"])
  })

  it("MATCH-015: the first fill of a member, even a partial one, ends the others of its group", () => {
    const { place, quote, move } = opened()
    quote(90_000, 90_005, 10)
    place({ quantity: 10 })
    move(90_003)
    const takeProfit = place({ side: "SELL", price: 90_010, quantity: 10, reduceOnly: true, group: "g" })
    const stopLoss = place({
      side: "SELL",
      quantity: 10,
      reduceOnly: true,
      trigger: stop(89_990, "AT_OR_BELOW"),
      group: "g"
    })
    place({ accountId: house, price: 90_010, quantity: 4 })
    assert.deepInclude(takeProfit, { state: "WORKING", left: 6 })
    assert.deepInclude(stopLoss, { state: "CANCELLED", reason: "other of its group filled" })
  })

  it("SC-ORD-12: two stops of a group on one level never reverse the position", () => {
    const { exchange, place, quote, move } = opened()
    quote(90_000, 90_005)
    place({ quantity: 10 })
    move(90_003)
    const legs = [1, 2].map(() =>
      place({ side: "SELL", quantity: 10, reduceOnly: true, trigger: stop(89_990, "AT_OR_BELOW"), group: "g" })
    )
    move(89_980)
    assert.deepStrictEqual(legs.map(({ state }) => state).toSorted(), ["CANCELLED", "FILLED"])
    assert.strictEqual(exchange.accounts.get(client)?.lotsOf(market.symbol), 0)
  })

  it("A2-42: the rest of an order that would trade with its own account's order is cancelled", () => {
    const { place } = opened()
    place({ side: "SELL", price: 90_000, quantity: 5 })
    assert.deepInclude(place({ price: 90_000, quantity: 2 }), { state: "CANCELLED", reason: "self-trade", left: 2 })
  })

  it("MATCH-005: a post-only order that would take is refused, one that rests works", () => {
    const { place, quote } = opened()
    quote(90_000, 90_005)
    assert.deepInclude(place({ price: 90_005, tif: "POST_ONLY" }), {
      state: "REJECTED",
      reason: "would take liquidity"
    })
    assert.strictEqual(place({ price: 90_004, tif: "POST_ONLY" }).state, "WORKING")
  })

  it("MATCH-003: fill-or-kill trades the whole quantity or nothing", () => {
    const { place, quote } = opened()
    quote(90_000, 90_005, 10)
    assert.deepInclude(place({ price: 90_005, quantity: 11, tif: "FOK" }), { state: "CANCELLED", left: 11 })
    assert.strictEqual(place({ price: 90_005, quantity: 10, tif: "FOK" }).state, "FILLED")
  })

  it.each([
    ["IOC", 90_010, 11, { state: "CANCELLED", left: 1, reason: "not filled at once" }],
    ["FOK", 90_010, 11, { state: "CANCELLED", left: 11, reason: "not filled at once" }],
    ["FOK", null, 11, { state: "CANCELLED", left: 11, reason: "not filled at once" }],
    ["FOK", 90_010, 10, { state: "FILLED", left: 0 }],
    ["IOC", 90_000, 5, { state: "CANCELLED", left: 5, reason: "not filled at once" }],
    ["GTC", 90_000, 5, { state: "WORKING", left: 5 }]
  ] as const)(
    "A2-35: %s with the limit %s is applied when the order fires, of %d lots",
    (tif, price, quantity, end) => {
      const { place, quote, move } = opened()
      quote(90_000, 90_005, 10)
      move(90_005)
      const order = place({ price, quantity, tif, trigger: stop(90_020, "AT_OR_ABOVE") })
      assert.deepInclude(order, { state: "WAITING", left: quantity })
      move(90_020)
      assert.deepInclude(order, end)
    }
  )

  it("an order with a known ref is answered with its present state and not placed again", () => {
    const { exchange, place, quote } = opened()
    quote(90_000, 90_005)
    const order = place({ ref: "O-1-1", quantity: 2 })
    assert.strictEqual(place({ ref: "O-1-1", quantity: 9 }), order)
    assert.strictEqual(exchange.accounts.get(client)?.lotsOf(market.symbol), 2)
  })

  it("a halted market accepts reducing orders only", () => {
    const { exchange, place, quote } = opened()
    quote(90_000, 90_005)
    place({ quantity: 2 })
    const listing = exchange.listings.get(market.symbol)
    if (listing !== undefined) listing.halt = { since: 0 }
    assert.deepInclude(place({}), { state: "REJECTED", reason: "market halted" })
    assert.strictEqual(place({ side: "SELL", quantity: 2, reduceOnly: true }).state, "FILLED")
  })
})
