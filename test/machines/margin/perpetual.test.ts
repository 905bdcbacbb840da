/**
 * F4, F5, F6, F8, F11, A2-09, A2-45: the figures of one perpetual market, by published cases and against a second
 * implementation.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  estLiquidationPrice,
  orderMarginOf,
  positionMarginAt,
  roiPct,
  unrealizedOf
} from "../../../src/machines/margin/perpetual.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { micro } from "../../fixtures/contracts.ts"
import {
  initialMarginCases,
  liquidationCases,
  nettingCase,
  noLiquidationCase,
  openingCase,
  otherLiquidationCases,
  sizeCases,
  tierCase,
  unrealizedCases
} from "../../fixtures/goldenTrading.ts"
import { Fraction, fraction, naiveExposures, naiveMargin, usdcOf } from "../../fixtures/naiveTrading.ts"
import {
  naiveTiers,
  orderOf,
  positionAfter,
  positionOf,
  someFills,
  someOrder,
  somePrice,
  someQty,
  someTerms,
  tenth,
  termsAt
} from "../../fixtures/perpetuals.ts"

describe("F5: the initial margin of a position", () => {
  it.each(initialMarginCases)("$id", ({ qty, mark, leverage, expected }) => {
    assert.strictEqual(positionMarginAt(qty, mark, termsAt(leverage)), micro(expected))
  })

  it("IM-005: each slice by its own tier, none above the leverage in force", () => {
    const tiers = tierCase.tiers.map(({ from, maxLeverage }) => ({ from: micro(from), maxLeverage }))
    const at = (leverage: number) => positionMarginAt("1", tierCase.value, termsAt(leverage, { tiers }))
    assert.strictEqual(at(tierCase.leverage), micro(tierCase.initialMargin))
    // 1000/50 + 1000/40 + 1000/33 + 500/28, rounded up
    assert.strictEqual(at(50), micro("93.160174"))
    // 1000/35 + 1000/35 + 1000/33 + 500/28
    assert.strictEqual(at(35), micro("105.303031"))
  })

  it.each(sizeCases)("$id: a larger size at a higher rate", ({ qty, mark, tiers, initialMargin }) => {
    const slices = tiers.map(({ from, maxLeverage }) => ({ from: micro(from), maxLeverage }))
    assert.strictEqual(positionMarginAt(qty, mark, termsAt(50, { tiers: slices })), micro(initialMargin))
  })

  it.each([
    ["at the border of the second tier", "500000", 50, "10000"],
    ["a micro-USDC beyond it, rounded up", "500000.000001", 50, "10000.000001"],
    ["A2-09: over all four", "12000000", 50, "1285000"],
    ["a lower leverage in force than the tier's", "600000", 10, "60000"],
    ["nothing", "0", 10, "0"]
  ] as const)("%s", (_, value, leverage, expected) => {
    assert.strictEqual(positionMarginAt("1", value, termsAt(leverage)), micro(expected))
  })

  it("agrees with the second working out", () => {
    fc.assert(
      fc.property(someQty, somePrice, someTerms, (qty, mark, terms) => {
        const value = fraction(qty).times(fraction(mark))
        const expected = naiveMargin(value, terms.leverage, naiveTiers(terms)).ceil(6)
        assert.strictEqual(positionMarginAt(qty, mark, terms), expected)
        assert.strictEqual(positionMarginAt(new MoneyDecimal(qty), new MoneyDecimal(mark), terms), expected)
      })
    )
  })
})

describe("F4: the value of a position", () => {
  it.each(unrealizedCases)("$id", ({ fills, mark, avgEntry, pnl }) => {
    const position = positionAfter(fills.map(([side, qty, price]) => ({ side, qty, price })))
    assert.strictEqual(position.avgEntry, avgEntry)
    assert.strictEqual(unrealizedOf(position, mark), micro(pnl))
  })

  it("is rounded towards minus infinity (F1)", () => {
    assert.strictEqual(unrealizedOf(positionOf("0.0000033", "60000"), "60000.7"), 2n)
    assert.strictEqual(unrealizedOf(positionOf("0.0000033", "60000"), "59999.3"), -3n)
    assert.strictEqual(unrealizedOf(positionOf("-0.0000033", "60000"), "59999.3"), 2n)
    assert.strictEqual(unrealizedOf(positionOf("0", "60000"), "59999.3"), 0n)
  })

  it("agrees with the independent computation at the average of the stored row", () => {
    fc.assert(
      fc.property(someFills, somePrice, (fills, mark) => {
        const position = positionAfter(fills)
        const gain = fraction(mark).minus(fraction(position.avgEntry)).times(fraction(position.netQty))
        assert.strictEqual(unrealizedOf(position, mark), gain.floor(6))
      })
    )
  })
})

describe("F6: what orders tie up beyond the position", () => {
  it("IM-013: a buy that closes a short and opens half of it long", () => {
    const { netQty, mark, leverage, buy, positionMargin, orderMargin } = nettingCase
    const terms = termsAt(leverage)
    assert.strictEqual(positionMarginAt("1", mark, terms), micro(positionMargin))
    assert.strictEqual(orderMarginOf(netQty, [orderOf("BUY", buy.left, buy.price)], mark, terms), micro(orderMargin))
  })

  it("IM-015: the first order of a market", () => {
    const { price, qty, leverage, exact, printed } = openingCase
    const margin = orderMarginOf("0", [orderOf("BUY", qty, price)], price, termsAt(leverage))
    assert.strictEqual(margin, micro(exact))
    assert.strictEqual(margin - (margin % 10_000n), micro(printed))
  })

  const terms = termsAt(10)
  it.each([
    ["none", "1", [], "0"],
    ["opposite ones are not added up", "0", [orderOf("BUY", "1", "59000"), orderOf("SELL", "1", "61000")], "6100"],
    ["those of one side are", "0", [orderOf("BUY", "1", "59000"), orderOf("BUY", "1", "58000")], "11700"],
    ["one that only reduces", "1", [orderOf("SELL", "1", "60000")], "0"],
    ["one that closes and turns into as much", "1", [orderOf("SELL", "2", "60000")], "0"],
    ["one that turns into more", "1", [orderOf("SELL", "3", "60000")], "6000"],
    ["one that adds", "1", [orderOf("BUY", "1", "60000")], "6000"],
    ["reduce-only ones are passed over", "0", [orderOf("SELL", "5", "60000", true)], "0"],
    ["a MARKET order is taken half a percent above the mark", "0", [orderOf("BUY", "1", null)], "6030"],
    ["a MARKET sale likewise", "0", [orderOf("SELL", "1", null)], "6030"],
    ["A2-45: a conditional one at its price", "0", [orderOf("BUY", "1", "70000")], "7000"]
  ] as const)("%s", (_, netQty, orders, expected) => {
    assert.strictEqual(orderMarginOf(netQty, orders, "60000", terms), micro(expected))
  })

  it("depends on the slices that the larger exposure reaches", () => {
    // 480,000 held; 540,000 with the order: 20,000 more at 50x, then 40,000 at 20x.
    const margin = orderMarginOf("8", [orderOf("BUY", "1", "60000")], "60000", termsAt(50))
    assert.strictEqual(margin, micro("2400"))
  })

  it("without any price of the market a MARKET order counts nothing, a limit its own", () => {
    assert.strictEqual(orderMarginOf("0", [orderOf("BUY", "1", null)], null, terms), 0n)
    assert.strictEqual(orderMarginOf("0", [orderOf("BUY", "1", "60000")], null, terms), micro("6000"))
  })

  it("agrees with the second working out, and is never below zero", () => {
    const orders = fc.array(someOrder, { maxLength: 6 })
    fc.assert(
      fc.property(someFills, orders, somePrice, someTerms, (fills, working, mark, of) => {
        const { netQty } = positionAfter(fills)
        const { now, worst } = naiveExposures(netQty, mark, working, of.slippageBps)
        const [then, already] = [worst, now].map((value) => naiveMargin(value, of.leverage, naiveTiers(of)))
        const margin = orderMarginOf(netQty, working, mark, of)
        assert.strictEqual(margin, then?.minus(already ?? then).ceil(6))
        assert.isTrue(margin >= 0n)
      })
    )
  })
})

describe("F8: where a close-out would begin", () => {
  const alone = { unrealizedPnl: 0n, initialMargin: 0n, closeOutPct: 50 } as const
  const gridOf = (decimals: number) => ({ decimals, step: 1 })

  it.each(liquidationCases)("$id", ({ netQty, entry, leverage, equity, otherMargin, expected, places }) => {
    const account = { closeOutEquity: micro(equity), marginBase: micro(otherMargin) }
    const part = { ...alone, leverage, tick: gridOf(places + 3) }
    const price = estLiquidationPrice({ netQty, avgEntry: entry }, part, account)
    assert.strictEqual(new MoneyDecimal(price ?? 0).toFixed(places, MoneyDecimal.ROUND_HALF_UP), expected)
  })

  it.each(otherLiquidationCases)("$id: not with the maintenance at the entry", ({ netQty, equity, theirs }) => {
    const account = { closeOutEquity: micro(equity), marginBase: 0n }
    const price = estLiquidationPrice({ netQty, avgEntry: "10" }, { ...alone, leverage: 50, tick: gridOf(6) }, account)
    // Our maintenance is computed at the price itself: less for a long that has fallen, more for a short that has
    // risen.
    assert.isTrue(new MoneyDecimal(theirs).gt(price ?? theirs))
  })

  it("LIQ-017: null where no price above zero would do it", () => {
    const { netQty, entry, equity } = noLiquidationCase
    const part = { ...alone, leverage: 10, tick: tenth }
    const of = (usdc: string) =>
      estLiquidationPrice({ netQty, avgEntry: entry }, part, { closeOutEquity: micro(usdc), marginBase: 0n })
    assert.isNull(of(equity))
    assert.isNull(of("100"))
    assert.strictEqual(of("99.999999"), "0.1")
  })

  it("null without a quantity, and of a short whose price would be below the first tick", () => {
    const part = { ...alone, leverage: 10, tick: tenth }
    const account = { closeOutEquity: 0n, marginBase: 0n }
    assert.isNull(estLiquidationPrice({ netQty: "0", avgEntry: "0" }, part, account))
    assert.isNull(estLiquidationPrice({ netQty: "-1", avgEntry: "0.1" }, part, account))
  })

  it("is on the tick, a long's rounded up, a short's down", () => {
    const step = { decimals: 1, step: 5 }
    const of = (netQty: string, equity: string) =>
      estLiquidationPrice(
        { netQty, avgEntry: "60000" },
        { ...alone, leverage: 10, tick: step },
        { closeOutEquity: micro(equity), marginBase: 0n }
      )
    // (60000 - 6000) / 0.95 = 56842.105...; (60000 + 6000) / 1.05 = 62857.142...
    assert.strictEqual(of("1", "6000"), "56842.5")
    assert.strictEqual(of("-1", "6000"), "62857.0")
  })

  it("is the tick at which the account is not closed out yet while the next one would do it", () => {
    const money = fc.bigInt({ min: -(10n ** 11n), max: 10n ** 12n })
    fc.assert(
      fc.property(someFills, someTerms, money, fc.bigInt({ min: 0n, max: 10n ** 11n }), (fills, terms, rest, other) => {
        const position = positionAfter(fills)
        const { leverage } = terms
        const price = estLiquidationPrice(
          position,
          { unrealizedPnl: -7n, initialMargin: 5n, leverage, closeOutPct: 50, tick: tenth },
          { closeOutEquity: rest - 7n, marginBase: other + 5n }
        )
        const qty = fraction(position.netQty)
        /** The excess of the account's equity over half of its margin, at a price. */
        const above = (at: Fraction): Fraction => {
          const equity = usdcOf(rest).plus(qty.times(at.minus(fraction(position.avgEntry))))
          const base = usdcOf(other).plus(qty.size.times(at).by(fraction(leverage)))
          return equity.minus(base.by(fraction(2)))
        }
        const tick = fraction("0.1")
        if (price === null) {
          if (qty.sign > 0) assert.isTrue(above(fraction(0)).sign >= 0)
          if (qty.sign < 0) assert.isTrue(above(tick).sign < 0)
          return
        }
        assert.isTrue(above(fraction(price)).sign >= 0)
        const worse = qty.sign > 0 ? fraction(price).minus(tick) : fraction(price).plus(tick)
        assert.isTrue(above(worse).sign < 0)
      })
    )
  })
})

describe("F11: the return on what opened a position", () => {
  it.each([
    ["a gain", "0.5", "50000", "250", 10, "10.00"],
    ["a loss, half away from zero", "1", "10000", "-0.05", 10, "-0.01"],
    ["nothing to speak of, without a sign", "1", "10000", "-0.04", 10, "0.00"],
    ["a short", "-2", "100", "30", 5, "75.00"],
    ["flat", "0", "0", "0", 10, "0.00"]
  ] as const)("%s", (_, netQty, avgEntry, pnl, leverage, expected) => {
    assert.strictEqual(roiPct({ netQty, avgEntry }, micro(pnl), leverage), expected)
  })
})
