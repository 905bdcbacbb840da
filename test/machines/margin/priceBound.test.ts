/** The largest distance from the mark at which reduce-only orders and orders of a close-out may trade (F9, F13). */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { boundAt, closingBps, isBeyond, reducingBps, tighterOf } from "../../../src/machines/margin/priceBound.ts"
import { fraction } from "../../fixtures/naiveTrading.ts"
import { somePrice, someSide, tenth } from "../../fixtures/perpetuals.ts"

const usual = { commissionBps: 5, bandBps: 1_000 }

describe("what only reduces", () => {
  it.each([
    [1, 1_000],
    [5, 994],
    [10, 494],
    [20, 244],
    [30, 161],
    [50, 94]
  ])("at most %i times: %i basis points", (cap, bps) => {
    assert.strictEqual(reducingBps({ cap, ...usual }), bps)
  })

  it("every account outside a close-out pays for it, the commission on the worst price too", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.nat({ max: 40 }), someSide, somePrice, (...all) => {
        const [cap, commissionBps, side, mark] = all
        const bps = reducingBps({ cap, commissionBps, bandBps: 9_000 })
        const bound = boundAt(side, mark, bps, tenth) ?? assert.fail("no bound")
        const [worst, now] = [fraction(bound), fraction(mark)]
        const lost = worst.minus(now).times(fraction(side === "BUY" ? 1 : -1))
        assert.isFalse(lost.sign < 0)
        const paid = lost.plus(worst.times(fraction(commissionBps)).by(fraction(10_000)))
        // Half of the smallest margin of one unit.
        const held = now.by(fraction(2 * cap))
        assert.isTrue(bps === 0 || !paid.gt(held), `${bound} costs more than ${cap} times leave`)
      })
    )
  })
})

describe("the most that a close-out may cost", () => {
  const market = { cap: 10, ...usual, equity: 300_000_000n as bigint | null, value: { units: 6_000n, places: 0 } }
  const at = (step: number, widenedBps = 0, over: Partial<typeof market> = {}) =>
    closingBps({ tried: { X: { at: 0, pause: 0, held: "1", step } }, widenedBps }, "X", { ...market, ...over })

  it("F9: 1 %, then 2 %, then as much as the equity pays with the commission, within the band", () => {
    assert.strictEqual(closingBps({ tried: {}, widenedBps: 0 }, "X", market), 100)
    // 300 of 6,000 are 5 %.
    assert.deepStrictEqual([at(0), at(1), at(2)], [100, 200, 494])
    assert.strictEqual(at(2, 0, { equity: 60_000_000n }), 200)
    assert.strictEqual(at(2, 0, { equity: -1n }), 200)
    assert.strictEqual(at(2, 0, { equity: 3_000_000_000n }), 1_000)
    assert.strictEqual(at(2, 0, { value: { units: 0n, places: 0 } }), 200)
    assert.strictEqual(at(2, 0, { equity: null }), 200)
  })

  it("F9: no step costs more than every account outside a close-out can pay, until the equity pays more", () => {
    const highest = { cap: 30, value: { units: 6_000n, places: 0 } }
    assert.deepStrictEqual([at(0, 0, highest), at(1, 0, highest), at(2, 0, highest)], [100, 161, 494])
    assert.strictEqual(at(2, 0, { ...highest, equity: 60_000_000n }), 161)
    assert.strictEqual(at(0, 0, { cap: 50 }), 94)
  })

  it("F9: further where staff have widened it, within the band", () => {
    assert.deepStrictEqual([at(0, 700), at(2, 300), at(0, 4_000)], [700, 494, 1_000])
  })
})

describe("a bound", () => {
  it.each([
    ["BUY", "60000", 494, "62964.0"],
    ["SELL", "60000", 494, "57036.0"],
    // A bound between two ticks rounds to the tick nearer to the mark.
    ["BUY", "100.1", 50, "100.6"],
    ["SELL", "100.1", 50, "99.6"]
  ] as const)("%s from %s by %i", (side, mark, bps, bound) => {
    assert.strictEqual(boundAt(side, mark, bps, tenth), bound)
  })

  it("is passed by a tick more", () => {
    assert.deepStrictEqual(
      [isBeyond("BUY", "100.1", "100"), isBeyond("BUY", "100.0", "100"), isBeyond("SELL", "99.9", "100")],
      [true, false, true]
    )
    assert.deepStrictEqual([tighterOf("BUY", "101", "100"), tighterOf("SELL", "101", "100")], ["100", "101"])
  })
})
