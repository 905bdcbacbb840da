/**
 * The ended objects that a venue keeps: no more than its limits allow, together with every live object, and the same
 * after a restore (C1, Restart).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { completeOptions } from "../../simulator/venue/core/completeOptions.ts"
import { Venue } from "../../simulator/venue/core/Venue.ts"
import type { Kept, VenueInput } from "../../simulator/venue/core/VenueInput.ts"
import type { VenueState } from "../../simulator/venue/core/VenueState.ts"
import { accountInputs, drafts, venueOptions } from "./venueInputs.ts"

const few: Kept = { refs: 25, orders: 6, requests: 3, contracts: 3, swaps: 3 }
const nobody = { event: () => undefined, market: () => undefined }
const opened = (kept: Kept, seed = 1): Venue => {
  const venue = new Venue(venueOptions({ seed, kept, knobs: { takers: 0 } }), nobody)
  for (const input of accountInputs) venue.apply(input)
  return venue
}
const stored = (venue: Venue): VenueState => JSON.parse(JSON.stringify(venue.state())) as VenueState
const call = (name: string, request: object): VenueInput => ({ type: "call", name, request }) as VenueInput

/** The number of ended objects of each kind. */
const overOf = ({ orders, rfqs, contracts, swaps }: VenueState): Omit<Kept, "refs"> => ({
  orders: orders.filter(({ ref, state }) => ref !== null && state !== "WORKING" && state !== "WAITING").length,
  requests: rfqs.filter(({ state }) => state !== "OPEN").length,
  contracts: contracts.filter(({ state }) => state !== "OPEN").length,
  swaps: swaps.filter(({ end }) => end !== null).length
})

/** Filled lots by order id, summed from the kept fills. */
const filledIn = ({ fills = [] }: VenueState): ReadonlyMap<number, number> => {
  const filled = new Map<number, number>()
  for (const [orderId, , , quantity] of fills.toSorted(([one], [other]) => one - other))
    filled.set(orderId, (filled.get(orderId) ?? 0) + quantity)
  return filled
}
/** Filled lots by order id, for orders with a ref: the quantity less what is left. */
const filledOf = ({ orders }: VenueState): ReadonlyMap<number, number> =>
  new Map(
    orders
      .filter(({ ref, quantity, left }) => ref !== null && left < quantity)
      .toSorted((one, other) => one.id - other.id)
      .map(({ id, quantity, left }) => [id, quantity - left])
  )

describe("what is kept", () => {
  it("random inputs: ended objects stay within the limits, every live object is found by its ref, every kept order has all fills, and a restore keeps all of them", () => {
    fc.assert(
      fc.property(drafts(120), fc.nat(120), fc.nat(1_000), (steps, cut, seed) => {
        const venue = opened(few, seed)
        let restored: Venue | null = null
        for (const [n, draft] of steps.entries()) {
          const input = draft(n, venue)
          const applied = venue.apply(input)
          if (n === cut) restored = Venue.restore(stored(venue), nobody)
          else if (restored !== null) assert.deepStrictEqual(restored.apply(input), applied)
        }
        const state = stored(venue)
        if (restored !== null) assert.deepStrictEqual(stored(restored), state)
        assert.deepStrictEqual(filledIn(state), filledOf(state))
        for (const [kind, count] of Object.entries(overOf(state))) assert.isAtMost(count, few[kind as keyof Kept], kind)
        for (const account of ["CL-1", "CL-2", "CL-3"].map((name) => venue.account(name))) {
          const live = [...(account?.orders ?? []), ...(account?.contracts ?? []), ...(account?.swaps ?? [])]
          const refs = live.flatMap(({ ref }) => (ref === null ? [] : [ref]))
          for (const { ref, outcome } of venue.lookup(refs)) assert.strictEqual(outcome, "EXECUTED", ref)
        }
      }),
      { numRuns: 25 }
    )
  })

  it("20,000 calls: the state stays within its limits, a resting order is always found, and an ended call is not", () => {
    const kept: Kept = { refs: 2_000, orders: 500, requests: 100, contracts: 100, swaps: 100 }
    const venue = opened(kept)
    const random = new SeededRandom(3)
    const order = (ref: string, parts: object): VenueInput =>
      call("placeOrder", {
        ref,
        account: "CL-1",
        symbol: "BTC-USDC-PERP",
        side: "BUY",
        price: "55000",
        qty: "0.01",
        tif: "GTC",
        reduceOnly: false,
        trigger: null,
        group: null,
        ...parts
      })
    venue.apply(order("rests", {}))
    const sizes: Array<number> = []
    for (let n = 1; n <= 20_000; n++) {
      venue.apply(order(`O-${n}`, { price: null, tif: "IOC", side: random.chance(0.5) ? "BUY" : "SELL" }))
      if (n % 100 === 0) venue.apply({ type: "time", to: venue.now + 10_000 })
      if (n % 5_000 === 0) sizes.push(JSON.stringify({ ...venue.state(), events: null, listings: null }).length)
    }
    const state = venue.state()
    assert.lengthOf(state.refs, kept.refs)
    assert.strictEqual(overOf(state).orders, kept.orders)
    assert.isAtMost(Math.max(...sizes), Math.min(...sizes) * 1.1, sizes.join(", "))
    const outcomes = venue.lookup(["rests", "O-1", "O-19000", "O-20000"])
    assert.deepStrictEqual(
      outcomes.map(({ outcome, order: placed }) => [outcome, placed?.state ?? null]),
      [
        ["EXECUTED", "WORKING"],
        ["UNKNOWN", null],
        ["EXECUTED", null],
        ["EXECUTED", "FILLED"]
      ]
    )
    const [again] = venue.apply(order("rests", { qty: "5" })).outcomes
    assert.deepInclude(again?.order, { qty: "0.01", state: "WORKING" })
  })

  it("a state of an older version closes a contract by its number", () => {
    const venue = opened(few)
    venue.apply({ type: "command", command: { type: "price", symbol: "BTC-USDC-KO", price: "60000", only: null } })
    const asked = { account: "CL-1", windowEndsAt: venue.now + 60_000 }
    const terms = { symbol: "BTC-USDC-KO", side: "BUY", qty: "0.1", barrier: "50000", takeProfit: null }
    const more = { expiryAt: venue.now + 86_400_000, strict: false, premiumBps: 9_500 }
    venue.apply(call("requestQuotes", { ref: "R-1", ...asked, ...terms, ...more }))
    const quote = (rfqRef: string): number =>
      venue.apply({
        type: "quote",
        rfqRef,
        dealer: "alpha",
        price: "60000",
        qty: "0.1",
        validUntil: venue.now + 30_000
      }).id ?? 0
    venue.apply(call("acceptQuote", { ref: "A-1", account: "CL-1", target: "R-1", quoteId: quote("R-1") }))
    venue.apply(call("requestClose", { ref: "R-2", ...asked, contractId: 1 }))
    const state = stored(venue)
    assert.deepInclude(state.rfqs[0], { ref: "R-2", closes: { id: 1, dealer: "alpha" } })
    const before = { ...state, rfqs: state.rfqs.map((rfq) => ({ ...rfq, closes: rfq.ref === "R-2" ? 1 : null })) }
    assert.deepStrictEqual(stored(Venue.restore(before, nobody)), state)
  })

  it("the limits are options that the books keep from their start", () => {
    assert.deepStrictEqual(completeOptions(venueOptions()).kept, {
      refs: 1_000_000,
      orders: 100_000,
      requests: 10_000,
      contracts: 50_000,
      swaps: 50_000
    })
    assert.deepStrictEqual(completeOptions(venueOptions({ kept: few })).kept, few)
  })
})
