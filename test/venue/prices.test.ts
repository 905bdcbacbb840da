/** Prices of the simulated venue: seeded, held, played (C1, Price process; operator surface, sim venue price and path). */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { bases, defaultMarkets, openingTicks } from "../../simulator/venue/core/defaultMarkets.ts"
import { valueOf } from "../../simulator/venue/core/Market.ts"
import { Prices } from "../../simulator/venue/core/Prices.ts"

const walk = { volatility: 0.6, jumps: 50, jumpSize: 0.05 }
const minute = 60_000

const opened = (seed: number): Prices => {
  const prices = new Prices()
  prices.add("BTC", 600_000, walk, new SeededRandom(seed))
  return prices
}
/** Marks at intervals of a minute. */
const marksOf = (prices: Prices, steps: number, premium = 0, from = 0): ReadonlyArray<number> =>
  Array.from({ length: steps }, (_, n) => prices.step("BTC", (from + n + 1) * minute, premium).mark)

describe("prices", () => {
  it("a seed decides the whole path, and another seed gives another one", () => {
    assert.deepStrictEqual(marksOf(opened(7), 500), marksOf(opened(7), 500))
    assert.notDeepEqual(marksOf(opened(7), 500), marksOf(opened(8), 500))
  })

  it("stay positive whole ticks between a tenth and ten times the opening price", () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const prices = new Prices()
        prices.add("BTC", 600_000, { volatility: 20, jumps: 5_000, jumpSize: 0.5 }, new SeededRandom(seed))
        for (const mark of marksOf(prices, 200)) {
          assert.isTrue(Number.isSafeInteger(mark))
          assert.isAtLeast(mark, 59_700)
          assert.isAtMost(mark, 6_030_000)
        }
      }),
      { numRuns: 50 }
    )
  })

  it("a mark moves toward the book's premium over the index, at most half a percent, and returns", () => {
    const prices = opened(1)
    prices.hold("BTC", ["index"], 600_000)
    assert.strictEqual(marksOf(prices, 200, 0.02).at(-1), 603_000)
    assert.strictEqual(marksOf(prices, 200, 0, 200).at(-1), 600_000)
  })

  it("a held price stays while the other prices move; after its release the walk continues from it", () => {
    const prices = opened(3)
    prices.hold("BTC", ["index", "mark", "last"], 500_000)
    assert.deepStrictEqual(new Set(marksOf(prices, 50)), new Set([500_000]))
    assert.strictEqual(prices.heldOf("BTC").last, 500_000)
    prices.release("BTC")
    assert.approximately(marksOf(prices, 1, 0, 50)[0] ?? 0, 500_000, 30_000)
    prices.hold("BTC", ["mark"], 400_000)
    const { index, mark } = prices.step("BTC", 52 * minute, 0)
    assert.strictEqual(mark, 400_000)
    assert.isAbove(index, 450_000)
    assert.strictEqual(prices.heldOf("BTC").last, null)
  })

  it("a path is a straight line between its points and ends at its last, from which the walk continues", () => {
    const prices = opened(4)
    prices.play("BTC", 0, [
      { offsetMillis: 0, price: 600_000 },
      { offsetMillis: 2 * minute, price: 610_000 },
      { offsetMillis: 3 * minute, price: 590_000 }
    ])
    const index = [1, 2, 3].map((n) => prices.step("BTC", n * minute, 0).index)
    assert.deepStrictEqual(index, [605_000, 610_000, 590_000])
    assert.approximately(prices.step("BTC", 4 * minute, 0).index, 590_000, 30_000)
  })
})

describe("the default markets", () => {
  it("C3: 25 markets, each symbol once, on grids of whole micro-USDC", () => {
    assert.strictEqual(new Set(defaultMarkets.map(({ symbol }) => symbol)).size, 25)
    assert.strictEqual(defaultMarkets.length, 25)
    for (const market of defaultMarkets) assert.isAtMost(market.tickDecimals + market.lotDecimals, 6, market.symbol)
  })

  it("C3: the largest order is worth ten million USDC at the opening price", () => {
    for (const base of bases) {
      for (const market of defaultMarkets.filter((each) => each.base === base.base)) {
        const value = valueOf(market, openingTicks(base), market.maxQty)
        assert.isTrue(value <= 10_000_000_000_000n, market.symbol)
        assert.isTrue(value > 9_900_000_000_000n, market.symbol)
      }
    }
  })
})
