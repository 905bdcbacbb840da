/** The ends of knock-out contracts (F15 to F17), by the published cases and on random paths. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type Contract, Contracts, premiumOf, resultOf } from "../../simulator/venue/core/Contracts.ts"
import type { Market } from "../../simulator/venue/core/Market.ts"

/** Ticks of one USDC and lots of one unit, so that figures equal those of the published cases. */
const market: Market = {
  symbol: "IX-USDC-KO",
  family: "BARRIER",
  base: "IX",
  assetClass: "index",
  displayName: "Index knock-out",
  tickDecimals: 0,
  lotDecimals: 0,
  minQty: 1,
  maxQty: 1_000_000,
  minNotional: 0n,
  bandBps: 1_000
}
const usdc = (amount: number): bigint => BigInt(amount) * 1_000_000n

const contractOf = (parts: Partial<Contract> = {}): Contract => ({
  id: 1,
  ref: "A-1-1",
  tradeId: 1,
  accountId: 1,
  dealer: "alpha",
  symbol: "IX-USDC-KO",
  side: "BUY",
  quantity: 10,
  entry: 10_000,
  barrier: 9_900,
  takeProfit: null,
  expiryAt: 1_000_000,
  strict: false,
  premiumBps: 10_000,
  openedAt: 0,
  state: "OPEN",
  settlePrice: null,
  endedAt: null,
  waits: null,
  ...parts
})

/** Plays marks a second apart. */
const played = (contract: Contract, ...marks: ReadonlyArray<number>): Contract => {
  const contracts = new Contracts()
  contracts.add(contract)
  marks.slice(1).forEach((price, n) => {
    contracts.move({ price: marks[n] ?? 0, at: n * 1_000 }, { price, at: (n + 1) * 1_000 })
  })
  return contract
}

describe("knock-out contracts", () => {
  it("BAR-001: the premium is the distance to the barrier", () =>
    assert.strictEqual(premiumOf(market, contractOf()), usdc(1_000)))

  it("a premium below the distance is rounded up", () =>
    assert.strictEqual(premiumOf(market, contractOf({ quantity: 1, entry: 10_001, premiumBps: 9_500 })), 95_950_000n))

  it("BAR-003: between the levels the result follows the mark", () => {
    const contract = contractOf({ state: "EARLY_CLOSE", settlePrice: 9_950 })
    assert.strictEqual(resultOf(market, contract), usdc(-500))
  })

  it("BAR-011: settles at the take profit, though the mark jumps through it", () => {
    const contract = played(contractOf({ quantity: 1, entry: 2_720, barrier: 2_690, takeProfit: 2_760 }), 2_755, 2_775)
    assert.deepInclude(contract, { state: "TAKE_PROFIT", settlePrice: 2_760, endedAt: 250 })
    assert.strictEqual(resultOf(market, contract), usdc(40))
  })

  it("SC-BAR-01: settles at the barrier, though the mark jumps through it", () => {
    const contract = played(contractOf(), 9_950, 9_850)
    assert.deepInclude(contract, { state: "KNOCKED_OUT", settlePrice: 9_900, endedAt: 500 })
    assert.strictEqual(resultOf(market, contract), usdc(-1_000))
  })

  it("the level itself is a touch, a price one tick before it is not", () => {
    assert.strictEqual(played(contractOf(), 9_950, 9_901).state, "OPEN")
    assert.strictEqual(played(contractOf(), 9_950, 9_900).state, "KNOCKED_OUT")
    const short = { side: "SELL", barrier: 10_100 } as const
    assert.strictEqual(played(contractOf(short), 10_050, 10_099).state, "OPEN")
    assert.strictEqual(played(contractOf(short), 10_050, 10_100).state, "KNOCKED_OUT")
  })

  it("SC-BAR-03: a touch at the moment of the expiry wins; a later one does not", () => {
    const path = [10_000, 10_100] as const
    const touched = { takeProfit: 10_050 }
    assert.strictEqual(played(contractOf({ ...touched, expiryAt: 500 }), ...path).state, "TAKE_PROFIT")
    const expired = played(contractOf({ ...touched, expiryAt: 499 }), ...path)
    assert.deepInclude(expired, { state: "EXPIRED", settlePrice: 10_000, endedAt: 499 })
  })

  it("an expiry settles at the last mark at or before it", () => {
    assert.strictEqual(played(contractOf({ expiryAt: 1_500 }), 10_000, 10_010, 10_020).settlePrice, 10_010)
    assert.strictEqual(played(contractOf({ expiryAt: 2_000 }), 10_000, 10_010, 10_020).settlePrice, 10_020)
  })

  it("SC-BAR-04: a strict contract without a touch loses its premium", () => {
    const contract = played(contractOf({ strict: true, takeProfit: 10_500, expiryAt: 900 }), 10_000, 10_400)
    assert.strictEqual(resultOf(market, contract), usdc(-1_000))
  })

  it("several contracts end in the order of time, in whichever direction the mark moves", () => {
    const contracts = new Contracts()
    for (const [n, barrier] of [9_900, 9_950, 9_925].entries()) contracts.add(contractOf({ id: n + 1, barrier }))
    contracts.add(contractOf({ id: 4, expiryAt: 400 }))
    const ended = contracts.move({ price: 10_000, at: 0 }, { price: 9_800, at: 1_000 })
    assert.deepStrictEqual(
      ended.map(({ id, endedAt }) => [id, endedAt]),
      [
        [2, 250],
        [3, 375],
        [4, 400],
        [1, 500]
      ]
    )
    assert.strictEqual(contracts.size, 0)
  })

  it("a path in one step ends every contract as the same path in many steps does", () => {
    const contract = fc.record({
      side: fc.constantFrom("BUY" as const, "SELL" as const),
      distance: fc.integer({ min: 1, max: 60 }),
      gain: fc.option(fc.integer({ min: 1, max: 60 })),
      expiryAt: fc.integer({ min: 1, max: 6_000 })
    })
    fc.assert(
      fc.property(
        fc.array(contract, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: -50, max: 50 }),
        (asked, move) => {
          // A hundred milliseconds per tick, so that the times on the finer path are whole as well.
          const span = Math.max(1, Math.abs(move))
          const make = () =>
            asked.map(({ side, distance, gain, expiryAt }, n) => {
              const sign = side === "BUY" ? 1 : -1
              const takeProfit = gain === null ? null : 10_000 + sign * gain
              return contractOf({ id: n + 1, side, barrier: 10_000 - sign * distance, takeProfit, expiryAt })
            })
          const ends = (steps: number) => {
            const contracts = new Contracts()
            const all = make()
            for (const one of all) contracts.add(one)
            const point = (n: number) => ({ price: 10_000 + (move * n) / steps, at: (100 * span * n) / steps })
            for (let n = 0; n < steps; n++) contracts.move(point(n), point(n + 1))
            // An expiry settles at the last mark, and the finer path has more marks.
            return all.map(({ id, state, endedAt }) => ({ id, state, endedAt }))
          }
          assert.deepStrictEqual(ends(1), ends(span))
        }
      ),
      { numRuns: 300 }
    )
  })
})
