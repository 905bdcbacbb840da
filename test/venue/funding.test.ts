/** F14: funding rates, and the funding of positions by the published cases. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Funding, nextStamp, paymentOf, premiumOf, rateOf, rateUnit } from "../../simulator/venue/core/Funding.ts"
import type { Market } from "../../simulator/venue/core/Market.ts"

const market: Market = {
  symbol: "X-PERP",
  family: "PERP",
  base: "X",
  assetClass: "crypto",
  displayName: "X perpetual",
  tickDecimals: 1,
  lotDecimals: 0,
  minQty: 1,
  maxQty: 1_000_000_000,
  minNotional: 0n,
  bandBps: 1_000
}
const e8 = (rate: number): number => Math.round(rate * rateUnit)

describe("funding", () => {
  const cases: ReadonlyArray<readonly [id: string, lots: number, ticks: number, rate: number, micro: bigint]> = [
    ["FUND-003: a long pays a positive rate", 10, 100_000, 0.0095, -950_000_000n],
    ["FUND-007: a short receives it", -10, 20, 0.0001, 2_000n],
    ["FUND-009: a short receives it", -10, 25, 0.0002, 5_000n],
    ["FUND-005: one of twenty at a quarter of a percent", 20, 10, 0.0025, -50_000n]
  ]
  it.each(cases)("%s", (_, lots, ticks, rate, micro) =>
    assert.strictEqual(paymentOf(market, lots, ticks, e8(rate)), micro)
  )

  it("is rounded against the account, whichever side pays", () => {
    assert.strictEqual(paymentOf(market, 3, 1, 1), -1n)
    assert.strictEqual(paymentOf(market, -3, 1, 1), 0n)
  })

  it("longs pay the amount that shorts get, except for the rounding", () => {
    const lots = fc.integer({ min: 1, max: 1_000_000 })
    fc.assert(
      fc.property(
        lots,
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.integer({ min: -750_000, max: 750_000 }),
        (n, mark, rate) => {
          const both = paymentOf(market, n, mark, rate) + paymentOf(market, -n, mark, rate)
          assert.isTrue(both === 0n || both === -1n)
        }
      )
    )
  })

  it("a rate is the premium, moved toward the interest rate and capped", () => {
    assert.strictEqual(rateOf(0), e8(0.0001))
    assert.strictEqual(rateOf(e8(0.0004)), e8(0.0001))
    assert.strictEqual(rateOf(e8(0.001)), e8(0.0005))
    assert.strictEqual(rateOf(e8(-0.002)), e8(-0.0015))
    assert.strictEqual(rateOf(e8(0.02)), e8(0.0075))
    assert.strictEqual(rateOf(e8(-0.02)), e8(-0.0075))
  })

  it("a premium counts if the whole book is above or below the index", () => {
    assert.strictEqual(premiumOf(1_000, 1_010, 1_011), e8(0.01))
    assert.strictEqual(premiumOf(1_000, 989, 990), e8(-0.01))
    assert.strictEqual(premiumOf(1_000, 999, 1_001), 0)
    assert.strictEqual(premiumOf(1_000, null, null), 0)
  })

  it("an interval's average is paid at the end of the next", () => {
    const funding = new Funding()
    funding.sample(e8(0.002))
    funding.sample(e8(0.004))
    assert.strictEqual(funding.rate, e8(0.0001))
    assert.strictEqual(funding.predicted, e8(0.0025))
    assert.strictEqual(funding.stamp(), e8(0.0001))
    assert.strictEqual(funding.rate, e8(0.0025))
    assert.strictEqual(funding.stamp(), e8(0.0025))
  })

  it("a held rate stays until it is released", () => {
    const funding = new Funding()
    funding.hold(e8(-0.001))
    assert.deepStrictEqual([funding.rate, funding.predicted], [e8(-0.001), e8(-0.001)])
    funding.release()
    assert.strictEqual(funding.rate, e8(0.0001))
  })

  it("stamps are at 00:00, 08:00 and 16:00 UTC", () => {
    const at = (text: string) => Date.parse(`2026-03-01T${text}Z`)
    assert.strictEqual(nextStamp(at("00:00:00.000")), at("08:00:00.000"))
    assert.strictEqual(nextStamp(at("07:59:59.999")), at("08:00:00.000"))
    assert.strictEqual(nextStamp(at("16:00:00.001")), Date.parse("2026-03-02T00:00:00Z"))
  })
})
