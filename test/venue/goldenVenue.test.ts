/** Published cases of matching, funding and knock-out contracts, played against the whole core through its calls. */
import { assert, describe, it } from "@effect/vitest"
import { opened } from "./openedVenue.ts"

const stamp = Date.parse("2026-03-01T08:00:00Z")

describe("published cases against the whole venue", () => {
  /** A market with clients' orders only, as the cases assume. */
  const matching = () => {
    const world = opened()
    world.command({ type: "book", symbol: "BTC-USDC-PERP", size: "0", levels: null, spread: null })
    return {
      ...world,
      quote: () => {
        world.place({ account: "CL-2", side: "BUY", price: "59990", qty: "0.5" })
        world.place({ account: "CL-2", side: "SELL", price: "60010", qty: "0.5" })
      }
    }
  }

  it("MATCH-002: a market order larger than the book ends with the fills that the book had", () => {
    const { quote, place } = matching()
    quote()
    assert.deepInclude(place({ qty: "1", tif: "IOC" }).order, { state: "CANCELLED", filledQty: "0.5" })
  })

  it("MATCH-004: an IOC limit order that does not reach the book ends unfilled", () => {
    const { quote, place } = matching()
    quote()
    assert.deepInclude(place({ price: "58000", tif: "IOC" }).order, { state: "CANCELLED", filledQty: "0" })
  })

  it("MATCH-006, MATCH-008: a market order in an empty book and a reduce-only order without a position are refused", () => {
    const { quote, place } = matching()
    assert.deepInclude(place({}), { outcome: "REFUSED", reason: "no market" })
    quote()
    assert.deepInclude(place({ reduceOnly: true }), { outcome: "REFUSED", reason: "no position to reduce" })
  })

  it("MATCH-015: a partial fill of one leg ends the other", () => {
    const { quote, place, venue } = matching()
    quote()
    place({ qty: "0.3", tif: "IOC" })
    const leg = { side: "SELL", qty: "0.3", reduceOnly: true, group: "oco" } as const
    const trigger = { source: "MARK", price: "59000", direction: "AT_OR_BELOW" } as const
    place({ ref: "O-tp", ...leg, price: "60005" })
    place({ ref: "O-sl", ...leg, trigger })
    place({ account: "CL-4", side: "BUY", price: "60005", qty: "0.1" })
    const [takeProfit, stop] = venue.lookup(["O-tp", "O-sl"])
    assert.deepInclude(takeProfit?.order, { state: "WORKING", filledQty: "0.1" })
    assert.deepInclude(stop?.order, { state: "CANCELLED", reason: "other of its group filled" })
  })

  const cases = [
    ["FUND-007: a short of ten at 2.0 gets a hundredth of a percent", "2", "10", "0.0001", "0.002"],
    ["FUND-009: a short of ten at 2.5 gets two", "2.5", "10", "0.0002", "0.005"],
    // The case has -0.0002493, before the rounding against the account.
    ["FUND-011: a short of thirty pays a negative rate", "2.77", "30", "-0.000003", "-0.00025"]
  ] as const
  it.each(cases)("%s", (_, price, qty, rate, amount) => {
    const { command, place, venue, news, balance } = opened()
    command({ type: "price", symbol: "XRP-USDC-PERP", price, only: null })
    command({ type: "funding", symbol: "XRP-USDC-PERP", rate })
    place({ symbol: "XRP-USDC-PERP", side: "SELL", qty, tif: "IOC" })
    venue.apply({ type: "time", to: stamp + 1_000 })
    const paid = news().flatMap((one) => (one.type === "funding" ? [one.funding] : []))
    assert.lengthOf(paid, 1)
    assert.deepInclude(paid[0], { settledAt: stamp, mark: price, rate, netQty: `-${qty}`, amount })
    assert.strictEqual(balance("CL-1", "USDC"), amount)
  })

  /** A contract of one ounce of gold at 2,720. */
  const gold = (levels: { readonly barrier: string; readonly takeProfit: string | null }) => {
    const world = opened()
    const mark = (price: string) => world.command({ type: "price", symbol: "XAU-USDC-KO", price, only: null })
    mark("2720")
    world.request({ ref: "R-1", symbol: "XAU-USDC-KO", qty: "1", premiumBps: 10_000, ...levels })
    const quoted = { type: "quote", rfqRef: "R-1", dealer: "alpha", price: "2720", qty: "1" } as const
    const { id: quoteId } = world.venue.apply({ ...quoted, validUntil: world.venue.now + 1_000 })
    world.call("acceptQuote", { ref: "A-1", target: "R-1", quoteId })
    return { ...world, mark, contract: () => world.venue.lookup(["A-1"])[0]?.contract }
  }

  it("BAR-011: a mark that jumps over the take profit settles at it", () => {
    const { mark, contract, balance } = gold({ barrier: "2690", takeProfit: "2760" })
    mark("2755")
    mark("2775")
    assert.deepInclude(contract(), { state: "TAKE_PROFIT", settlePrice: "2760" })
    assert.strictEqual(balance("CL-1", "USDC"), "40")
  })

  it("BAR-013: the loss is at most the distance to the barrier, however far the mark jumps", () => {
    const { mark, contract, balance } = gold({ barrier: "2690", takeProfit: null })
    mark("2500")
    assert.deepInclude(contract(), { state: "KNOCKED_OUT", settlePrice: "2690" })
    assert.strictEqual(balance("CL-1", "USDC"), "-30")
  })
})
