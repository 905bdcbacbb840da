/**
 * Orders of clients that trade with each other: both fills have one trade id, reduce-only orders follow the remaining
 * position, and legs trade beside their parent (C1; A2-40, A2-95).
 */
import { assert, describe, it } from "@effect/vitest"
import { Venue } from "../../simulator/venue/core/Venue.ts"
import type { VenueInput } from "../../simulator/venue/core/VenueInput.ts"
import type { VenueState } from "../../simulator/venue/core/VenueState.ts"
import type { VenueRequest } from "../../src/machines/venue/venueCalls.ts"
import { opened } from "./openedVenue.ts"

const symbol = "BTC-USDC-PERP"
const other = { account: "CL-2", side: "SELL" } as const

/** A market at 60,000 with clients' orders only. */
const emptied = () => {
  const world = opened()
  world.command({ type: "book", symbol, size: "0", levels: null, spread: null })
  const fills = (account?: string) => world.news(account).flatMap((fact) => (fact.type === "fill" ? [fact.fill] : []))
  const order = (ref: string) => world.venue.lookup([ref])[0]?.order
  const held = (account = "CL-1") => world.venue.account(account)?.positions.map(({ netQty }) => netQty)
  /** CL-1 buys this quantity from CL-2 at 60,000. */
  const long = (qty: string): void => {
    world.place({ ref: `L-${qty}`, ...other, price: "60000", qty })
    world.place({ ref: `B-${qty}`, price: "60000", qty })
  }
  return { ...world, fills, order, held, long }
}

const below = (price: string) => ({ source: "MARK", price, direction: "AT_OR_BELOW" }) as const
const leg = { side: "SELL", reduceOnly: true, group: "att:1" } as const

describe("two clients", () => {
  it("SC-ORD-22: trade under one trade id, each under its own order, at the price of the resting order", () => {
    const { place, fills, venue, held } = emptied()
    place({ ref: "O-1", price: "59990", qty: "0.3" })
    place({ ref: "O-2", ...other, price: "59900", qty: "0.2" })
    const [[maker], [taker]] = [fills(), fills("CL-2")]
    assert.deepInclude(maker, { ref: "O-1", side: "BUY", price: "59990", qty: "0.2", liquidity: "MAKER" })
    assert.deepInclude(taker, { ref: "O-2", side: "SELL", price: "59990", qty: "0.2", liquidity: "TAKER" })
    assert.strictEqual(maker?.tradeId, taker?.tradeId)
    assert.deepStrictEqual([venue.orderFills("O-1"), venue.orderFills("O-2")], [[maker], [taker]])
    assert.deepStrictEqual([held(), held("CL-2")], [["0.2"], ["-0.2"]])
  })

  it("continue after a restart: the rest trades under the next id, and earlier fills are still there", () => {
    const { place, venue } = emptied()
    place({ ref: "O-1", price: "59990", qty: "0.3" })
    place({ ref: "O-2", ...other, price: "59990", qty: "0.2" })
    const again = Venue.restore(JSON.parse(JSON.stringify(venue.state())) as VenueState, {
      event: () => undefined,
      market: () => undefined
    })
    const request: VenueRequest<"placeOrder"> = {
      ref: "O-3",
      ...other,
      symbol,
      price: "59990",
      qty: "0.1",
      tif: "GTC",
      reduceOnly: false,
      trigger: null,
      group: null
    }
    const input: VenueInput = { type: "call", name: "placeOrder", request }
    assert.strictEqual(again.apply(input).outcomes[0]?.order?.state, "FILLED")
    const ids = again.orderFills("O-1")?.map(({ tradeId }) => tradeId) ?? []
    const [first = 0, second] = ids
    assert.deepStrictEqual([ids.length, second], [2, first + 1])
    assert.strictEqual(again.lookup(["O-1"])[0]?.order?.state, "FILLED")
  })

  it("trade only with each other in an emptied book: the simulator's takers never come", () => {
    const { place, fills, tick, order } = emptied()
    place({ ref: "O-1", price: "60000" })
    for (let n = 0; n < 200; n++) tick()
    tick(3_600_000)
    assert.deepStrictEqual([fills(), order("O-1")?.state], [[], "WORKING"])
  })
})

describe("a price of one kind", () => {
  it.each([
    ["last", "LAST"],
    ["mark", "MARK"],
    ["index", "INDEX"]
  ] as const)(
    "SC-ORD-14: --only %s triggers orders on the %s price alone, against another client's order",
    (only, source) => {
      const { place, command, order, long } = emptied()
      long("0.5")
      place({ ref: "O-1", account: "CL-2", price: "59000", qty: "0.5" })
      for (const each of ["LAST", "MARK", "INDEX"] as const)
        place({ ref: each, side: "SELL", qty: "0.1", trigger: { ...below("59500"), source: each } })
      command({ type: "price", symbol, price: "59400", only })
      const states = (["LAST", "MARK", "INDEX"] as const).map((each) => order(each)?.state)
      assert.deepStrictEqual(
        states,
        (["LAST", "MARK", "INDEX"] as const).map((each) => (each === source ? "FILLED" : "WAITING"))
      )
      assert.strictEqual(order("O-1")?.filledQty, "0.1")
    }
  )
})

describe("reduce-only", () => {
  it("SC-ORD-13: a resting order trades the remaining position at most, and its rest is cancelled", () => {
    const { place, order, long, held } = emptied()
    long("0.5")
    place({ ref: "R-1", side: "SELL", price: "60100", qty: "0.5", reduceOnly: true })
    place({ ref: "O-1", account: "CL-4", price: "60000", qty: "0.3" })
    place({ ref: "O-2", side: "SELL", price: "60000", qty: "0.3" })
    place({ ref: "O-3", account: "CL-4", price: "60100", qty: "0.5" })
    assert.deepInclude(order("R-1"), { state: "CANCELLED", reason: "reduce-only empty", filledQty: "0.2" })
    assert.deepInclude(order("O-3"), { state: "WORKING", filledQty: "0.2" })
    assert.deepStrictEqual(held(), [])
  })

  it("SC-ORD-27: an order whose position the venue's own execution has closed trades nothing", () => {
    const { place, command, order, long, held } = emptied()
    long("0.5")
    place({ ref: "R-1", side: "SELL", price: "60100", qty: "0.5", reduceOnly: true })
    command({ type: "execute", account: "CL-1", symbol, qty: "-0.5", price: null, reason: "deleverage" })
    place({ ref: "O-1", account: "CL-4", price: "60100", qty: "0.1" })
    assert.deepInclude(order("R-1"), { state: "CANCELLED", reason: "reduce-only empty", filledQty: "0" })
    assert.deepStrictEqual([order("O-1")?.filledQty, held()], ["0", []])
  })
})

describe("legs beside their parent", () => {
  /** A parent that has bought 0.4 of 1 at 59,500, with a stop below for the filled quantity. */
  const partly = () => {
    const world = emptied()
    world.place({ ref: "P-1", price: "59500", qty: "1" })
    world.place({ ref: "O-1", ...other, price: "59500", qty: "0.4" })
    world.place({ ref: "S-1", ...leg, qty: "0.4", trigger: below("59400") })
    return world
  }

  it("SC-ORD-25: a triggered leg sells to the bids above the parent's rest", () => {
    const { place, command, order, fills, held } = partly()
    place({ ref: "O-2", account: "CL-4", price: "59600", qty: "0.5" })
    command({ type: "price", symbol, price: "59300", only: "mark" })
    assert.strictEqual(order("S-1")?.state, "FILLED")
    assert.deepInclude(fills().at(-1), { ref: "S-1", price: "59600", qty: "0.4" })
    assert.deepInclude(order("P-1"), { state: "WORKING", filledQty: "0.4" })
    assert.deepStrictEqual(held(), [])
  })

  it("A2-42: the leg ends if its parent's rest is the best bid, and the parent stays", () => {
    const { place, command, order, held } = partly()
    place({ ref: "O-2", account: "CL-4", price: "59500", qty: "0.5" })
    place({ ref: "O-3", account: "CL-4", price: "59600", qty: "0.1" })
    command({ type: "price", symbol, price: "59300", only: "mark" })
    assert.deepInclude(order("S-1"), { state: "CANCELLED", reason: "self-trade", filledQty: "0.1" })
    assert.deepStrictEqual([order("P-1")?.state, held()], ["WORKING", ["0.3"]])
  })

  it("A2-40: a waiting leg grows with its parent by amends, and sells no more than the position", () => {
    const { place, call, command, order, held } = partly()
    place({ ref: "T-1", ...leg, qty: "0.4", trigger: { ...below("61000"), direction: "AT_OR_ABOVE" } })
    place({ ref: "O-2", ...other, price: "59500", qty: "0.6" })
    const amend = (ref: string, target: string, qty: string) => call("amendOrder", { ref, target, qty }).order
    assert.deepInclude(amend("M-1", "S-1", "1"), { qty: "1", state: "WAITING", reduceOnly: true })
    assert.deepInclude(amend("M-2", "T-1", "1.5"), { qty: "1.5", state: "WAITING" })
    // An amend to a smaller quantity: a leg follows a smaller position as well.
    assert.deepInclude(amend("M-3", "S-1", "0.9"), { qty: "0.9", state: "WAITING" })
    place({ ref: "O-3", account: "CL-4", price: "60900", qty: "2" })
    command({ type: "price", symbol, price: "61000", only: "mark" })
    assert.deepInclude(order("T-1"), { state: "CANCELLED", reason: "reduce-only empty", filledQty: "1" })
    assert.deepInclude(order("S-1"), { state: "CANCELLED", reason: "other of its group filled" })
    assert.deepStrictEqual(held(), [])
  })
})
