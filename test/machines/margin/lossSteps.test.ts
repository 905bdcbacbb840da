/** A2-89: the loss steps of a position at which its client is notified, and the number of notices. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { lossStep, type NotifiedLoss, lossToNotify } from "../../../src/machines/margin/lossSteps.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"

/** A long of 0.1 at 60,000: a margin of 600 at a leverage of 10. */
const long = { netQty: "0.1", avgEntry: "60000", leverage: 10 }

describe("the step that a loss has reached", () => {
  it.each([
    ["a profit", 60_000_000n, 0],
    ["nothing", 0n, 0],
    ["one micro-USDC below ten percent", -59_999_999n, 0],
    ["ten percent exactly", -60_000_000n, 10],
    ["one micro-USDC below twenty", -119_999_999n, 10],
    ["twenty exactly", -120_000_000n, 20],
    ["all of the margin", -600_000_000n, 100],
    ["more than the margin", -661_000_000n, 110]
  ] as const)("A2-89: %s", (_, unrealizedPnl, step) => {
    assert.strictEqual(lossStep({ ...long, unrealizedPnl }), step)
    assert.strictEqual(lossStep({ ...long, netQty: "-0.1", unrealizedPnl }), step)
  })

  it("A2-89: the margin is that of the leverage in force; without a quantity there is no loss", () => {
    assert.strictEqual(lossStep({ ...long, leverage: 50, unrealizedPnl: -60_000_000n }), 50)
    assert.strictEqual(lossStep({ ...long, leverage: 1, unrealizedPnl: -60_000_000n }), 0)
    assert.strictEqual(lossStep({ ...long, netQty: "0", unrealizedPnl: -1n }), 0)
  })

  it("A2-89: is the same worked out in decimals", () => {
    const position = fc.record({
      lots: fc.integer({ min: 1, max: 10_000_000 }),
      short: fc.boolean(),
      entry: fc.bigInt({ min: 1n, max: 10n ** 24n }),
      leverage: fc.integer({ min: 1, max: 50 }),
      loss: fc.bigInt({ min: 1n, max: 10n ** 15n })
    })
    fc.assert(
      fc.property(position, ({ lots, short, entry, leverage, loss }) => {
        const qty = new MoneyDecimal(lots).div(10_000)
        const price = new MoneyDecimal(entry.toString()).div("1e18")
        const percent = new MoneyDecimal(loss.toString()).div(1e6).mul(100).mul(leverage).div(qty.mul(price))
        const step = lossStep({
          netQty: (short ? qty.neg() : qty).toFixed(),
          avgEntry: price.toFixed(),
          leverage,
          unrealizedPnl: -loss
        })
        assert.strictEqual(step, Math.min(percent.div(10).floor().mul(10).toNumber(), 1_000_000))
      })
    )
  })
})

describe("reported losses", () => {
  const day = 20_000
  const noon = day * 86_400_000 + 43_200_000
  const told: NotifiedLoss = { day, openedAt: 5, step: 20 }
  it.each([
    ["nothing is lost", null, { step: 0, openedAt: 5, now: noon }, null],
    ["the first step", null, { step: 10, openedAt: 5, now: noon }, { day, openedAt: 5, step: 10 }],
    ["a jump over several", null, { step: 40, openedAt: 5, now: noon }, { day, openedAt: 5, step: 40 }],
    ["the same step once more", told, { step: 20, openedAt: 5, now: noon }, null],
    ["a lower one, after a recovery", told, { step: 10, openedAt: 5, now: noon }, null],
    ["the next one", told, { step: 30, openedAt: 5, now: noon }, { day, openedAt: 5, step: 30 }],
    ["the last millisecond of the day", told, { step: 20, openedAt: 5, now: noon + 43_199_999 }, null],
    ["the next day", told, { step: 10, openedAt: 5, now: noon + 43_200_000 }, { day: day + 1, openedAt: 5, step: 10 }],
    ["another position of the day", told, { step: 10, openedAt: 6, now: noon }, { day, openedAt: 6, step: 10 }]
  ] as const)("A2-89: %s", (_, before, now, expected) => {
    assert.deepStrictEqual(lossToNotify(before, now), expected)
  })
})
