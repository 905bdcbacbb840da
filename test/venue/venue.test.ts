/** The venue's core as clients, streams and testers use it: calls by ref, commands, time, market data. */
import { assert, describe, it } from "@effect/vitest"
import { opened } from "./openedVenue.ts"

describe("calls of the venue", () => {
  it("A2-26: a ref is executed once, however often it arrives and with whatever body", () => {
    const { place, venue } = opened()
    const first = place({ ref: "O-1", price: null, qty: "0.5", tif: "IOC" })
    assert.deepInclude(first, { outcome: "EXECUTED", reason: null })
    assert.strictEqual(first.order?.state, "FILLED")
    // Only the first answer reports the events that the call made.
    const { events, fills, ...stands } = first
    assert.deepStrictEqual([events?.last, fills?.length], [3, 2])
    assert.deepStrictEqual(place({ ref: "O-1", qty: "0.7" }), stands)
    assert.deepStrictEqual(venue.account("CL-1")?.positions, [{ symbol: "BTC-USDC-PERP", netQty: "0.5" }])
  })

  it("A2-26: a voided ref is never executed; an executed or refused one keeps its outcome", () => {
    const { place, venue, call } = opened()
    place({ ref: "O-1", price: "59500" })
    place({ ref: "O-2", qty: "0.00001" })
    const { outcomes } = venue.apply({ type: "void", refs: ["O-1", "O-2", "O-3", "A-1-1"] })
    assert.deepStrictEqual(
      outcomes.map(({ ref, outcome }) => [ref, outcome]),
      [
        ["O-1", "EXECUTED"],
        ["O-2", "REFUSED"],
        ["O-3", "VOID"],
        ["A-1-1", "VOID"]
      ]
    )
    assert.strictEqual(place({ ref: "O-3" }).outcome, "VOID")
    assert.strictEqual(call("acceptQuote", { ref: "A-1-1", target: "R-1", quoteId: 1 }).outcome, "VOID")
    assert.strictEqual(venue.lookup(["O-9"])[0]?.outcome, "UNKNOWN")
  })

  it("an outcome shows the present state of its object", () => {
    const { place, call, venue } = opened()
    place({ ref: "O-1", price: "59500" })
    call("cancelOrder", { ref: "C-1", target: "O-1" })
    const [placed, cancelled] = venue.lookup(["O-1", "C-1"])
    assert.deepInclude(placed?.order, { state: "CANCELLED", reason: "cancelled by the account" })
    assert.deepStrictEqual(cancelled?.order, placed?.order)
  })

  it("a value off the grid and an unknown account, market or object are refused with a sentence", () => {
    const { place, call, request } = opened()
    const reasons = [
      place({ price: "59500.05" }),
      place({ qty: "0.00001" }),
      place({ trigger: { source: "MARK", price: "1.23", direction: "AT_OR_BELOW" } }),
      place({ symbol: "NO-USDC-PERP" }),
      place({ symbol: "BTC-USDC-KO" }),
      place({ account: "CL-nobody" }),
      place({ qty: "0.0001", price: "45000" }),
      call("cancelOrder", { ref: "C-1", target: "O-none" }),
      call("amendOrder", { ref: "M-1", target: "O-none", qty: "1" }),
      request({ ref: "R-1", qty: "0.00001" }),
      request({ ref: "R-2", barrier: "61000" }),
      request({ ref: "R-3", takeProfit: "59900" }),
      request({ ref: "R-4", premiumBps: 0 }),
      call("tearUp", { ref: "T-1", contractId: 1 }),
      call("requestClose", { ref: "R-5", contractId: 1, windowEndsAt: 9_000_000_000_000 }),
      call("takeOffer", { ref: "S-1", offerId: 999, qty: "1" }),
      call("takeOffer", { ref: "S-2", offerId: 1, qty: "0.00001" }),
      call("cancelRequest", { ref: "X-1", target: "R-none" })
    ].map(({ outcome, reason }) => (outcome === "REFUSED" ? reason : outcome))
    assert.deepStrictEqual(reasons, [
      "price off the grid",
      "quantity off the grid",
      "trigger price off the grid",
      "unknown market",
      "no orders in this market",
      "unknown account",
      "notional too small",
      "unknown order",
      "unknown order",
      "quantity off the grid",
      "barrier on the wrong side",
      "take profit on the wrong side",
      "premium share out of range",
      "unknown contract",
      "unknown contract",
      "unknown offer",
      "quantity off the grid",
      "unknown request"
    ])
  })

  it("an account reads and changes its own objects alone", () => {
    const { place, call, venue } = opened()
    place({ ref: "O-1", price: "59500" })
    assert.strictEqual(call("cancelOrder", { ref: "C-1", account: "CL-2", target: "O-1" }).reason, "unknown order")
    assert.deepStrictEqual(venue.account("CL-2")?.orders, [])
    assert.isNull(venue.account("CL-3"))
  })
})

describe("A2-40: an order's quantity is amended", () => {
  const resting = () => {
    const world = opened()
    // No ladder: the book has clients' orders only.
    world.command({ type: "book", symbol: "BTC-USDC-PERP", size: "0", levels: null, spread: null })
    world.place({ ref: "O-1", side: "BUY", price: "59500", qty: "0.5" })
    world.place({ ref: "O-2", account: "CL-2", side: "BUY", price: "59500", qty: "0.5" })
    return world
  }
  const takes = ({ place, venue }: ReturnType<typeof resting>, qty: string) => {
    place({ ref: "O-9", account: "CL-4", side: "SELL", price: "59500", qty, tif: "IOC" })
    return venue.lookup(["O-1", "O-2"]).map(({ order }) => order?.filledQty)
  }

  it("a smaller order keeps its place, a larger one goes to the end", () => {
    const smaller = resting()
    assert.strictEqual(smaller.call("amendOrder", { ref: "M-1", target: "O-1", qty: "0.3" }).order?.qty, "0.3")
    assert.deepStrictEqual(takes(smaller, "0.4"), ["0.3", "0.1"])
    const larger = resting()
    assert.strictEqual(larger.call("amendOrder", { ref: "M-1", target: "O-1", qty: "0.6" }).order?.qty, "0.6")
    assert.deepStrictEqual(takes(larger, "0.7"), ["0.2", "0.5"])
  })

  it("a waiting order is amended too; a quantity below the fills or of an ended order is refused", () => {
    const world = resting()
    takes(world, "0.2")
    const amend = (ref: string, target: string, qty: string) => world.call("amendOrder", { ref, target, qty })
    assert.strictEqual(amend("M-1", "O-1", "0.2").reason, "quantity filled already")
    assert.deepInclude(amend("M-2", "O-1", "0.3").order, { qty: "0.3", filledQty: "0.2", state: "WORKING" })
    assert.strictEqual(amend("M-3", "O-1", "900000").reason, "quantity too large")
    const trigger = { source: "MARK", price: "59000", direction: "AT_OR_BELOW" } as const
    world.place({ ref: "O-3", side: "SELL", qty: "0.1", reduceOnly: true, trigger })
    assert.deepInclude(amend("M-4", "O-3", "0.2").order, { qty: "0.2", state: "WAITING" })
    const bound = { qty: "0.2", boundBps: 50 }
    assert.deepInclude(world.call("amendOrder", { ref: "M-6", target: "O-3", ...bound }), { outcome: "EXECUTED" })
    const refused = world.call("amendOrder", { ref: "M-7", target: "O-1", qty: "0.3", boundBps: 50 })
    assert.strictEqual(refused.reason, "order does not wait")
    world.call("cancelOrder", { ref: "C-1", target: "O-3" })
    assert.strictEqual(amend("M-5", "O-3", "0.3").reason, "order has ended")
  })
})

describe("contracts of the venue", () => {
  it("a quote is accepted once: a contract opens, the request ends, and the trade is public", () => {
    const { request, quote, call, venue, news, tick } = opened()
    request({ ref: "R-1" })
    const quoteId = quote("R-1", "60010")
    const taken = call("acceptQuote", { ref: "A-1-1", target: "R-1", quoteId })
    assert.deepInclude(taken.contract, { ref: "A-1-1", entry: "60010", qty: "0.1", state: "OPEN", premiumBps: 9_500 })
    assert.strictEqual(taken.rfq?.state, "ACCEPTED")
    assert.strictEqual(call("acceptQuote", { ref: "A-1-2", target: "R-1", quoteId }).reason, "request not open")
    assert.deepStrictEqual(
      news().map(({ type }) => type),
      ["rfq", "quote", "contract", "rfq"]
    )
    tick()
    const trades = venue.snapshot("trades", "BTC-USDC-KO")
    const [trade] = trades?.channel === "trades" ? trades.trades : []
    assert.deepStrictEqual(
      [trade?.id, trade?.price, trade?.qty, trade?.side],
      [taken.contract?.tradeId, "60010", "0.1", "BUY"]
    )
  })

  it("A2-25: a decline from outside is stored under the ref, and the quote ends", () => {
    const { request, quote, venue, call } = opened()
    request({ ref: "R-1" })
    const quoteId = quote("R-1", "60010")
    const accept = { ref: "A-1-1", account: "CL-1", target: "R-1", quoteId }
    const reason = "declined by the dealer"
    const [declined] = venue.apply({ type: "decline", name: "acceptQuote", request: accept, reason }).outcomes
    assert.deepInclude(declined, { outcome: "REFUSED", reason })
    assert.deepStrictEqual(call("acceptQuote", accept), declined)
    assert.strictEqual(declined?.rfq?.quotes[0]?.state, "EXPIRED")
    assert.strictEqual(declined?.rfq?.state, "OPEN")
  })

  it("SC-BAR-02: a path that dips between two ticks knocks out at the level, at the interpolated time", () => {
    const { deal, command, tick, venue, start } = opened()
    const contract = deal({ barrier: "59900" })
    const points = [
      { offsetMs: 0, price: "60000" },
      { offsetMs: 2_000, price: "59800" },
      { offsetMs: 4_000, price: "60000" }
    ]
    command({ type: "path", symbol: "BTC-USDC-KO", points })
    tick(10_000)
    const [ended] = venue.lookup([contract])
    assert.deepInclude(ended?.contract, { state: "KNOCKED_OUT", settlePrice: "59900", endedAt: start + 1_000 })
  })

  it("SC-BAR-06: the end of a contract cancels the request to close it", () => {
    const { deal, call, command, venue } = opened()
    const contractId = venue.lookup([deal({ barrier: "59900" })])[0]?.contract?.id
    call("requestClose", { ref: "R-9", contractId, windowEndsAt: venue.now + 60_000 })
    command({ type: "price", symbol: "BTC-USDC-PERP", price: "59850", only: null })
    assert.deepInclude(venue.lookup(["R-9"])[0]?.rfq, { state: "CANCELLED", reason: "contract ended" })
  })

  it("F19: only its writer quotes its close; an accepted close ends it early and pays its profit", () => {
    const { deal, call, quote, venue, balance } = opened()
    const contractId = venue.lookup([deal({ barrier: "59000", dealer: "beta" })])[0]?.contract?.id
    call("requestClose", { ref: "R-9", contractId, windowEndsAt: venue.now + 60_000 })
    assert.strictEqual(quote("R-9", "60200", "alpha"), 0)
    const quoteId = quote("R-9", "60200", "beta")
    const { contract } = call("acceptQuote", { ref: "A-9-1", target: "R-9", quoteId })
    assert.deepInclude(contract, { state: "EARLY_CLOSE", settlePrice: "60200" })
    assert.strictEqual(balance("CL-1", "USDC"), "20")
  })

  it("F9: a contract is torn up at the mark, and ends at the final price when its market is delisted", () => {
    const { deal, call, command, venue } = opened()
    const [one, other] = [deal({ ref: "R-1" }), deal({ ref: "R-2" })]
    const contractId = venue.lookup([one])[0]?.contract?.id
    const mark = venue.markets().find(({ symbol }) => symbol === "BTC-USDC-KO")?.mark ?? null
    assert.deepInclude(call("tearUp", { ref: "T-1", contractId }).contract, { state: "TORN_UP", settlePrice: mark })
    assert.strictEqual(call("tearUp", { ref: "T-2", contractId }).reason, "contract has ended")
    command({ type: "delist", symbol: "BTC-USDC-KO" })
    assert.deepInclude(venue.lookup([other])[0]?.contract, { state: "CLOSED", settlePrice: mark })
  })

  it("quotes and requests end at their own time", () => {
    const { request, quote, tick, news, start } = opened()
    request({ ref: "R-1", windowEndsAt: start + 20_500 })
    quote("R-1", "60010", "alpha", start + 5_300)
    tick(60_000)
    assert.deepStrictEqual(
      news().map(({ type, at }) => [type, at - start]),
      [
        ["rfq", 0],
        ["quote", 0],
        ["quote", 5_300],
        ["rfq", 20_500]
      ]
    )
  })
})
