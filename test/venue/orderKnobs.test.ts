/**
 * The knobs of orders and of the maker's book (C1): reject rate, fill slicing and refill rate, by market and by the
 * seed.
 */
import { assert, describe, it } from "@effect/vitest"
import { Venue } from "../../simulator/venue/core/Venue.ts"
import type { VenueState } from "../../simulator/venue/core/VenueState.ts"
import { opened } from "./openedVenue.ts"

const symbol = "BTC-USDC-PERP"
const nobody = { event: () => undefined, market: () => undefined }
const restored = (venue: Venue): Venue => Venue.restore(JSON.parse(JSON.stringify(venue.state())) as VenueState, nobody)

describe("knobs of orders", () => {
  it("reject: refuses this share of a market's orders, and none of other markets; the same ones for the same seed", () => {
    const refused = () => {
      const world = opened({ orders: { [symbol]: { reject: 0.3 } } })
      const reasons = Array.from({ length: 200 }, () => world.place({ price: "58000" }).reason)
      const others = Array.from({ length: 50 }, () => world.place({ symbol: "BTC-USDC", price: "58000" }).reason)
      assert.deepStrictEqual(new Set(others), new Set([null]))
      return reasons
    }
    const first = refused()
    assert.deepStrictEqual(new Set(first), new Set([null, "rejected by the venue"]))
    const count = first.filter((reason) => reason !== null).length
    assert.isTrue(count > 40 && count < 80, String(count))
    assert.deepStrictEqual(refused(), first)
  })

  it("reject affects only orders that pass every check", () => {
    const world = opened({ orders: { [symbol]: { reject: 1 } } })
    assert.strictEqual(world.place({ qty: "1000000" }).reason, "quantity too large")
    assert.strictEqual(world.place({ reduceOnly: true }).reason, "no position to reduce")
    const { outcome, reason, order } = world.place({})
    assert.deepStrictEqual([outcome, reason, order?.state], ["REFUSED", "rejected by the venue", "REJECTED"])
  })

  it("slices: an order that trades at once has at least this number of fills, which add up to its quantity", () => {
    const world = opened({ books: { [symbol]: { size: "10" } }, orders: { [symbol]: { slices: 7 } } })
    const { order } = world.place({ qty: "0.1", tif: "IOC" })
    const fills = world.news().flatMap((fact) => (fact.type === "fill" ? [fact] : []))
    assert.lengthOf(fills, 7)
    assert.lengthOf(new Set(fills.map(({ fill }) => fill.tradeId)), 7)
    assert.strictEqual(
      fills.reduce((sum, { fill }) => sum + Math.round(Number(fill.qty) * 10_000), 0),
      1_000
    )
    assert.deepStrictEqual(
      fills.map(({ order: then }) => then.filledQty),
      ["0.0143", "0.0286", "0.0429", "0.0572", "0.0715", "0.0858", "0.1"]
    )
    assert.deepInclude(order, { state: "FILLED", filledQty: "0.1" })
    assert.strictEqual(world.place({ qty: "0.0003", tif: "FOK" }).order?.state, "FILLED")
  })

  it("a restore keeps knobs, and set changes one without the others", () => {
    const world = opened({ books: { [symbol]: { size: "10" } }, orders: { [symbol]: { slices: 3 } } })
    world.command({ type: "set", knobs: `orders: {${symbol}: {reject: 1}}\n` })
    const again = restored(world.venue)
    const input = { type: "command", command: { type: "set", knobs: `orders: {${symbol}: {reject: 0}}` } } as const
    assert.isNull(again.apply(input).refusal)
    assert.strictEqual(world.place({}).reason, "rejected by the venue")
    const request = { account: "CL-1", symbol, side: "BUY", price: null, qty: "0.3", tif: "IOC" } as const
    const rest = { reduceOnly: false, trigger: null, group: null }
    const before = again.number
    again.apply({ type: "call", name: "placeOrder", request: { ref: "after", ...request, ...rest } })
    const fills = (again.eventsAfter(before) ?? []).filter(({ fact }) => fact.type === "fill")
    assert.lengthOf(fills, 3)
  })

  it("a market without orders and a value out of range are refused with a sentence", () => {
    const world = opened()
    const set = (knobs: string) => world.refusal({ type: "set", knobs })
    assert.strictEqual(set("orders: {BTC-USDC-KO: {reject: 1}}"), "orders: BTC-USDC-KO has no orders.")
    assert.match(set(`orders: {${symbol}: {reject: 1.1}}`) ?? "", /^line 1: orders\.BTC-USDC-PERP\.reject/)
    assert.match(set(`orders: {${symbol}: {slices: 0}}`) ?? "", /^line 1: orders\.BTC-USDC-PERP\.slices/)
    assert.match(set(`books: {${symbol}: {refill: 2}}`) ?? "", /^line 1: books\.BTC-USDC-PERP\.refill/)
  })
})

describe("refill of the maker's book", () => {
  /** Lots of the asks on each tick after their best three levels were bought. */
  const depths = (refill: number, cut: number | null = null): ReadonlyArray<number> => {
    const world = opened({ books: { [symbol]: { levels: 3, refill } } })
    let { venue } = world
    world.place({ qty: "20", tif: "IOC" })
    return Array.from({ length: 30 }, (_, n) => {
      if (n === cut) venue = restored(venue)
      venue.apply({ type: "time", to: venue.now + 1_000 })
      const book = venue.snapshot("book", symbol)
      return book?.channel === "book" ? book.asks.length : -1
    })
  }

  it("always: the book is full at the next tick; never: it stays as it is; sometimes: it fills level by level", () => {
    assert.deepStrictEqual(new Set(depths(1)), new Set([3]))
    assert.deepStrictEqual(new Set(depths(0)), new Set([0]))
    const some = depths(0.1)
    assert.strictEqual(some.at(-1), 3)
    assert.isBelow(some[0] ?? 3, 3)
    assert.deepStrictEqual(some, some.toSorted())
    assert.deepStrictEqual(depths(0.1, 4), some)
  })
})
