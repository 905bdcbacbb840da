/** The fills that the venue keeps of an order: their limits, and the same fills after a restore (A2-96). */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { endedFillsKept, Fills, type KeptFill } from "../../simulator/venue/core/Fills.ts"
import { Venue } from "../../simulator/venue/core/Venue.ts"
import type { VenueState } from "../../simulator/venue/core/VenueState.ts"
import { fillLimit, type VenueFill } from "../../src/machines/venue/venueObjects.ts"
import { VenueMemory } from "../../src/runtime/ports/VenueMemory.ts"
import { opened } from "./openedVenue.ts"

const fill = (tradeId: number): KeptFill => ({ tradeId, price: 1, quantity: 1, liquidity: "TAKER", at: 1 })

const orderTerms = {
  account: "CL-1",
  symbol: "BTC-USDC-PERP",
  side: "BUY",
  price: "60000",
  qty: "0.1",
  tif: "GTC",
  reduceOnly: false,
  trigger: null,
  group: null
} as const
const fillTerms = {
  tradeId: 7,
  side: "BUY",
  price: "60000",
  qty: "0.1",
  liquidity: "TAKER",
  reason: null,
  at: 1_000
} as const

/** Two clients whose orders have traded three times. The maker's order has ended; the taker's last one rests. */
const traded = () => {
  const bench = opened()
  bench.command({ type: "book", symbol: "BTC-USDC-PERP", size: "0", levels: null, spread: null })
  bench.place({ ref: "O-1", price: "59990", qty: "0.3" })
  for (const [ref, qty] of [
    ["O-2", "0.1"],
    ["O-3", "0.2"]
  ] as const)
    bench.place({ ref, account: "CL-2", side: "SELL", price: "59990", qty })
  bench.place({ ref: "O-4", account: "CL-2", price: "59000", qty: "0.1" })
  return bench
}

describe("fills of an order", () => {
  it("are those of its account's events, oldest first", () => {
    const { venue, news } = traded()
    const said = news().flatMap((fact) => (fact.type === "fill" ? [fact.fill] : []))
    assert.deepStrictEqual(
      said.map(({ qty, liquidity, price }) => [qty, liquidity, price]),
      [
        ["0.1", "MAKER", "59990"],
        ["0.2", "MAKER", "59990"]
      ]
    )
    assert.deepStrictEqual(venue.orderFills("O-1"), said)
    assert.deepStrictEqual<unknown>(
      ["O-2", "O-3"].map((ref) => venue.orderFills(ref)?.map(({ tradeId, liquidity }) => ({ tradeId, liquidity }))),
      said.map(({ tradeId }) => [{ tradeId, liquidity: "TAKER" }])
    )
    assert.deepStrictEqual([venue.orderFills("O-4"), venue.orderFills("O-9")], [[], null])
  })

  it("are the same after a restore; a state from before fills were kept has none", () => {
    const { venue } = traded()
    const state = JSON.parse(JSON.stringify(venue.state())) as VenueState
    const nobody = { event: () => undefined, market: () => undefined }
    const refs = ["O-1", "O-2", "O-4"]
    assert.deepStrictEqual(
      refs.map((ref) => Venue.restore(state, nobody).orderFills(ref)),
      refs.map((ref) => venue.orderFills(ref))
    )
    const { fills: _, ...before } = state
    const old = Venue.restore(before, nobody)
    assert.deepStrictEqual(
      refs.map((ref) => old.orderFills(ref)),
      [null, null, []]
    )
  })

  it(`of ended orders are ${endedFillsKept} at most, and the oldest are dropped first; those of a live order stay`, () => {
    const fills = new Fills()
    const many = (orderId: number) => {
      for (let n = 0; n < fillLimit; n++) fills.add(orderId, fill(n))
    }
    many(1)
    for (let orderId = 2; orderId <= endedFillsKept / fillLimit + 2; orderId++) {
      many(orderId)
      fills.end(orderId)
    }
    assert.deepStrictEqual(
      [1, 2, 3].map((orderId) => fills.of(orderId)?.length ?? null),
      [fillLimit, null, fillLimit]
    )
    fills.forget(2)
    fills.forget(3)
    assert.deepStrictEqual([fills.of(3), fills.of(4)?.length], [null, fillLimit])
  })

  it(`of one order are the newest ${fillLimit}`, () => {
    const fills = new Fills()
    for (let n = 1; n <= fillLimit + 5; n++) fills.add(1, fill(n))
    const kept = fills.of(1) ?? []
    assert.deepStrictEqual([kept.length, kept[0]?.tradeId, kept.at(-1)?.tradeId], [fillLimit, 6, fillLimit + 5])
  })
})

describe("a venue in memory", () => {
  it("returns the published fills of an order, and null for an unknown order", async () => {
    const memory = new VenueMemory({ now: () => 1_000 })
    const { account, symbol, ...terms } = orderTerms
    const venue = memory.port()
    const { fill, before, after, other } = await Effect.runPromise(
      Effect.gen(function* () {
        const { order } = yield* venue.write("placeOrder", { ref: "O-1", account, symbol, ...terms })
        if (order === null) throw new Error("an order is always made")
        const fill: VenueFill = { ...fillTerms, account, symbol, ref: "O-1", orderId: order.id }
        const before = yield* venue.orderFills("O-1")
        memory.publish(account, (stamp) => ({ type: "fill", ...stamp, fill, order }))
        memory.publish(account, (stamp) => ({ type: "fill", ...stamp, fill: { ...fill, ref: "O-2" }, order }))
        return { fill, before, after: yield* venue.orderFills("O-1"), other: yield* venue.orderFills("O-2") }
      })
    )
    assert.deepStrictEqual([before, after, other], [[], [fill], null])
  })
})
