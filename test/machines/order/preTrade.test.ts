/** F13, A2-45, A2-49, A2-90: the effect of an order on a perpetual on the account. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { accountRisk, type AccountState } from "../../../src/machines/margin/accountRisk.ts"
import type { WorkingOrder } from "../../../src/machines/margin/perpetual.ts"
import { noFacts } from "../../../src/machines/market/Facts.ts"
import { commissionOf } from "../../../src/machines/order/positionRules.ts"
import { type PerpPreTrade, preTrade, type PreTradeOrder } from "../../../src/machines/order/preTrade.ts"
import { formatAmount } from "../../../src/machines/shared/Money.ts"
import { contractOf, factsWith, micro } from "../../fixtures/contracts.ts"
import { openingCase } from "../../fixtures/goldenTrading.ts"
import {
  fraction,
  naiveExposures,
  naiveLoss,
  naiveMargin,
  type NaiveOrder,
  naiveTurnover,
  zero
} from "../../fixtures/naiveTrading.ts"
import {
  holdingOf,
  naiveTiers,
  orderOf,
  perp,
  positionAfter,
  positionOf,
  someFills,
  someOrder,
  somePrice,
  someQty,
  someSide,
  someTerms,
  tenth,
  termsAt
} from "../../fixtures/perpetuals.ts"

const limitOrder = (over: Partial<PreTradeOrder> = {}): PreTradeOrder => ({
  symbol: perp,
  side: "BUY",
  qty: "1",
  price: "60000",
  trigger: null,
  reduceOnly: false,
  ...over
})
const marketOrder = (over: Partial<PreTradeOrder> = {}) => limitOrder({ price: null, ...over })
const conditional = (price: string, limitPrice: string | null, over: Partial<PreTradeOrder> = {}) =>
  limitOrder({ price: null, trigger: { price, limitPrice }, ...over })

interface Setting {
  readonly cash?: string
  readonly held?: string
  readonly entry?: string
  readonly orders?: ReadonlyArray<WorkingOrder>
  readonly bestOpposite?: string | null
  readonly leverage?: number
}

const withCash = (cash: bigint): AccountState => ({
  cashOf: (currency) => (currency === "USDC" ? cash : 0n),
  contracts: [],
  accepts: [],
  perpetuals: []
})

/** At a mark of 60,000, 10x and five basis points. */
const inputOf = (order: PreTradeOrder, setting: Setting = {}): PerpPreTrade => {
  const { cash = "10000", held = "0", entry = "60000", orders = [], bestOpposite = null, leverage = 10 } = setting
  const facts = factsWith({ [perp]: { price: "60000" } })
  return {
    order,
    risk: accountRisk(withCash(micro(cash)), facts),
    holding: holdingOf({ position: positionOf(held, entry), orders, terms: termsAt(leverage) }),
    facts,
    bestOpposite,
    commissionBps: 5,
    tick: tenth,
    reducingBps: 494,
    bandBps: 1_000
  }
}
const judge = (order: PreTradeOrder, setting?: Setting) => preTrade(inputOf(order, setting))

describe("a preview", () => {
  it("has every figure", () => {
    assert.deepStrictEqual(judge(limitOrder()), {
      refPrice: "60000",
      currency: "USDC",
      reservationCurrency: "USDC",
      reservation: micro("6030"),
      reservationPrice: null,
      orderValue: micro("60000"),
      marginRequired: micro("6000"),
      leverage: 10,
      freeMarginBefore: micro("10000"),
      freeMarginAfter: micro("3970"),
      // 9,970 divided by 6,000
      marginLevelAfter: "166.16",
      // (60000 - 9970) / 0.95 = 52663.157...
      estLiquidationPrice: "52663.2",
      equityBefore: micro("10000"),
      initialMarginBefore: 0n,
      initialMarginAfter: micro("6000"),
      estimatedCommission: micro("30"),
      slippageAllowance: 0n,
      estimatedCosts: micro("30"),
      openLoss: 0n,
      onlyReduces: false,
      compared: { figure: "6030.000000", limit: "10000.000000" },
      sentence: null,
      bound: { limit: "60000", bps: null, worst: null, reducingBps: 494 }
    })
  })

  it("IM-015: the margin of a limit order", () => {
    const { price, qty, leverage, exact } = openingCase
    assert.strictEqual(judge(limitOrder({ price, qty }), { leverage }).marginRequired, micro(exact))
  })

  it.each([
    ["a limit", limitOrder({ price: "59000" }), "60100", "59000", "0"],
    ["MARKET: the other side of the book", marketOrder(), "60100", "60100", "300.5"],
    ["MARKET without a book: the mark", marketOrder(), null, "60000", "300"],
    ["a stop that trades at the market: its trigger", conditional("61000", null), "60100", "61000", "305"],
    ["a stop with a limit: the limit", conditional("61000", "61500"), "60100", "61500", "0"]
  ] as const)("F13: %s", (_, order, bestOpposite, refPrice, slippage) => {
    const figures = judge(order, { bestOpposite, cash: "20000" })
    assert.deepInclude(figures, {
      refPrice,
      orderValue: micro(refPrice),
      slippageAllowance: micro(slippage),
      estimatedCommission: commissionOf("1", refPrice, 5, "USDC"),
      sentence: null
    })
  })

  it.each([
    ["BUY", "50000", "54000.0"],
    ["BUY", "65999", "66000.0"],
    ["SELL", "70000", "66000.0"],
    ["SELL", "54001", "54000.0"],
    ["BUY", "60010", "60310.0"]
  ] as const)(
    "F13: at the market a %s with the other side at %s is bound at %s, inside the band",
    (side, other, limit) => {
      const { bound, sentence } = judge(marketOrder({ side }), { bestOpposite: other, cash: "20000" })
      assert.deepStrictEqual([bound.limit, sentence], [limit, null])
    }
  )

  it("A2-45: a conditional order is charged at its possible price, a MARKET one with the slippage", () => {
    assert.strictEqual(judge(conditional("70000", null)).marginRequired, micro("7000"))
    assert.strictEqual(judge(conditional("70000", "71000")).marginRequired, micro("7100"))
    assert.strictEqual(judge(marketOrder()).marginRequired, micro("6030"))
  })

  it("at another leverage is as if that one were in force", () => {
    const figures = judge(limitOrder(), { cash: "20000", held: "1", leverage: 5 })
    assert.deepInclude(figures, {
      leverage: 5,
      initialMarginBefore: micro("12000"),
      freeMarginBefore: micro("8000"),
      marginRequired: micro("12000"),
      initialMarginAfter: micro("24000")
    })
  })

  it("judges the other markets and the contracts along with it", () => {
    const input = inputOf(limitOrder())
    const other = holdingOf({
      symbol: "ETH-USDC-PERP",
      position: { ...positionOf("1", "3000"), symbol: "ETH-USDC-PERP" }
    })
    const state = {
      ...withCash(micro("10000")),
      contracts: [contractOf()],
      perpetuals: [other, { ...input.holding, orders: [] }]
    }
    const figures = preTrade({
      ...input,
      risk: accountRisk(state, input.facts),
      holding: { ...input.holding, orders: [orderOf("BUY", "0.1", "60000")] }
    })
    // The contract's premium, the ether position and the order that already works.
    assert.deepInclude(figures, { initialMarginBefore: micro("1900"), marginRequired: micro("6000") })
  })
})

describe("what fits the free margin", () => {
  const needs: ReadonlyArray<readonly [string, PreTradeOrder, Setting, string]> = [
    ["margin and commission, exactly", limitOrder(), {}, "6030"],
    ["MARKET: the slippage twice, in margin and as a cost", marketOrder(), {}, "6360"],
    ["what a limit above the mark loses at once", limitOrder({ price: "61000" }), {}, "7130.5"],
    ["not what one below it gains", limitOrder({ price: "59000" }), {}, "5929.5"],
    [
      "of one that turns, all of it: what it closes is lost too, and all that is open and opens can be closed",
      limitOrder({ side: "SELL", qty: "3", price: "59900" }),
      { held: "1" },
      // Half the margin of four, with the commission, exceeds the margin of the two short units by 119.85.
      "6389.85"
    ],
    ["of one that only turns: half the margin of three", limitOrder({ side: "SELL", qty: "2" }), { held: "1" }, "3060"]
  ]
  it.each(needs)("%s", (_, order, setting, needed) => {
    const held = setting.held === undefined ? 0n : micro("6000")
    const withFree = (free: bigint) => judge(order, { ...setting, cash: formatAmount(free + held, "USDC") })
    const enough = withFree(micro(needed))
    const figure = formatAmount(micro(needed), "USDC")
    assert.deepInclude(enough, { compared: { figure, limit: figure }, sentence: null })
    const short = withFree(micro(needed) - 1n)
    assert.strictEqual(short.sentence, "The order's margin and costs exceed the client's free margin.")
  })
})

describe("A2-90: what only reduces is never refused by margin", () => {
  const sell = (qty: string, reduceOnly = false) => limitOrder({ side: "SELL", qty, reduceOnly })
  it.each([
    ["up to the position", sell("1"), "1", [], true],
    ["beyond it", sell("1.1"), "1", [], false],
    ["on the side of the position", limitOrder(), "1", [], false],
    ["without a position", sell("1"), "0", [], false],
    ["of a short", limitOrder(), "-1", [], true],
    ["with what works on the same side", sell("0.6"), "1", [orderOf("SELL", "0.5", "61000")], false],
    ["within what that leaves", sell("0.5"), "1", [orderOf("SELL", "0.5", "61000")], true],
    ["reduce-only ones counted", sell("0.6"), "1", [orderOf("SELL", "0.5", "61000", true)], false],
    ["not with the other side's", sell("1"), "1", [orderOf("BUY", "0.5", "59000")], true],
    ["reduceOnly, whatever works", sell("1", true), "1", [orderOf("SELL", "1", "61000")], true]
  ] as const)("%s", (_, order, held, orders, onlyReduces) => {
    // Far below zero equity: no order that opens a position fits.
    const figures = judge(order, { held, orders, cash: "100" })
    assert.strictEqual(figures.onlyReduces, onlyReduces)
    assert.strictEqual(figures.sentence === null, onlyReduces)
    assert.strictEqual(figures.compared === null, onlyReduces)
  })

  it("a loss at once is that of all of an order, if a part of it adds", () => {
    const order = limitOrder({ side: "SELL", qty: "1.5", price: "59000" })
    assert.strictEqual(judge(order, { held: "1" }).openLoss, micro("1500"))
    assert.strictEqual(judge(order, { held: "1", orders: [orderOf("SELL", "1", "61000")] }).openLoss, micro("1500"))
  })
})

describe("after the fill", () => {
  it("what closes realizes at its price, commission paid", () => {
    const figures = judge(limitOrder({ side: "SELL", qty: "0.5", price: "61000" }), { held: "1", entry: "58000" })
    // 10,000 + 1,500 realized - 15.25 + 1,000 of the other half, divided by 3,000.
    assert.deepInclude(figures, { initialMarginAfter: micro("3000"), marginLevelAfter: "416.15", openLoss: 0n })
  })

  it("a loss at once lowers the level, a better price than the mark does not raise it", () => {
    assert.strictEqual(judge(limitOrder({ price: "61000" })).marginLevelAfter, "149.49")
    // 10,000 - 29.5 divided by 6,000, without an additional 1,000.
    assert.strictEqual(judge(limitOrder({ price: "59000" })).marginLevelAfter, "166.17")
  })

  it("nothing is left: neither a level nor a price", () => {
    const closing = judge(limitOrder({ side: "SELL" }), { held: "1" })
    assert.deepInclude(closing, { initialMarginAfter: 0n, marginLevelAfter: null, estLiquidationPrice: null })
  })

  it("a reduce-only order closes what there is and opens nothing", () => {
    const beyond = judge(limitOrder({ side: "SELL", qty: "2", reduceOnly: true }), { held: "1" })
    assert.deepInclude(beyond, { initialMarginAfter: 0n, marginRequired: 0n })
    const wrong = judge(limitOrder({ reduceOnly: true }), { held: "1" })
    assert.deepInclude(wrong, { initialMarginAfter: micro("6000"), marginRequired: 0n })
  })

  it("is the account's risk once the fill at the mark is booked", () => {
    const mark = "60000"
    fc.assert(
      fc.property(
        someFills,
        fc.array(someOrder, { maxLength: 3 }),
        someSide,
        someQty,
        someTerms,
        (fills, orders, side, qty, terms) => {
          const position = positionAfter(fills)
          const holding = holdingOf({ position, orders, terms })
          const input = { ...inputOf(limitOrder({ side, qty, price: mark })), holding }
          const figures = preTrade(input)
          const booked = positionAfter([...fills, { side, qty, price: mark }])
          const cash = micro("10000") + booked.realizedPnl - position.realizedPnl - commissionOf(qty, mark, 5, "USDC")
          const risk = accountRisk({ ...withCash(cash), perpetuals: [{ ...holding, position: booked }] }, input.facts)
          assert.strictEqual(figures.initialMarginAfter, risk.initialMargin)
          assert.strictEqual(figures.marginLevelAfter, risk.marginLevel)
        }
      )
    )
  })
})

describe("without a price", () => {
  it("an order is refused without a mark, a closing one too, because its possible price is unknown", () => {
    const unpriced = { ...inputOf(marketOrder()), facts: noFacts }
    assert.deepInclude(preTrade(unpriced), {
      refPrice: null,
      reservation: null,
      freeMarginBefore: micro("10000"),
      freeMarginAfter: null,
      onlyReduces: false,
      sentence: "The market has no price that the order could be judged at."
    })
    const closing = inputOf(marketOrder({ side: "SELL" }), { held: "1" })
    assert.deepInclude(preTrade({ ...closing, facts: noFacts }), {
      onlyReduces: true,
      sentence: "The market has no price that the order could be judged at."
    })
  })

  it("a limit is judged without a mark at its own price", () => {
    const figures = preTrade({ ...inputOf(limitOrder()), facts: noFacts })
    assert.deepInclude(figures, { marginRequired: micro("6000"), openLoss: 0n, sentence: null })
    assert.strictEqual(figures.initialMarginAfter, micro("6000"))
  })
})

describe("F13 against a second working out", () => {
  it("agrees on the needed margin and on the verdict", () => {
    const cash = fc.integer({ min: 0, max: 2_000_000 }).map(String)
    const orders = fc.array(someOrder, { maxLength: 4 })
    fc.assert(
      fc.property(someFills, orders, someSide, someQty, somePrice, somePrice, someTerms, cash, (...all) => {
        const [fills, working, side, qty, price, mark, terms, money] = all
        const position = positionAfter(fills)
        const input: PerpPreTrade = {
          ...inputOf(limitOrder({ side, qty, price }), { cash: money }),
          holding: holdingOf({ position, orders: working, terms }),
          facts: factsWith({ [perp]: { price: mark } })
        }
        const figures = preTrade(input)

        const marginWith = (more: ReadonlyArray<NaiveOrder>): bigint => {
          const { now, worst } = naiveExposures(position.netQty, mark, [...working, ...more], terms.slippageBps)
          const [then, already] = [worst, now].map((value) => naiveMargin(value, terms.leverage, naiveTiers(terms)))
          return (already?.ceil(6) ?? 0n) + (then?.minus(already ?? then).ceil(6) ?? 0n)
        }
        const required = marginWith([orderOf(side, qty, price)]) - marginWith([])
        const before = marginWith([])
        const turnoverWith = (more: ReadonlyArray<NaiveOrder>): bigint => {
          const all = [...working, ...more]
          return naiveTurnover(position.netQty, mark, all, { ...terms, tiedUp: marginWith(more) })
        }
        const spoken = naiveLoss(mark, working, terms.slippageBps)
        const away = side === "BUY" ? fraction(1) : fraction(-1)
        const sameSide = working.filter((order) => order.side === side)
        const after = sameSide.reduce(
          (net, { left }) => net.plus(away.times(fraction(left))),
          fraction(position.netQty)
        )
        // The quantity beyond zero in the order's direction, after and before it.
        const beyond = after
          .plus(away.times(fraction(qty)))
          .times(away)
          .max(zero)
          .minus(after.times(away).max(zero))
        const lost = fraction(price).minus(fraction(mark)).times(away).max(zero)
        const loss = beyond.sign === 0 ? 0n : lost.times(fraction(qty)).ceil(6)
        const commission = fraction(price).times(fraction(qty)).times(fraction("0.0005")).ceil(6)
        const pnl = fraction(mark).minus(fraction(position.avgEntry)).times(fraction(position.netQty)).floor(6)
        const free = micro(money) + pnl - before
        assert.deepInclude(figures, {
          onlyReduces: beyond.sign === 0,
          marginRequired: required,
          openLoss: loss,
          estimatedCommission: commission,
          freeMarginBefore: free,
          freeMarginAfter: free - required - commission
        })
        const turnover = turnoverWith([orderOf(side, qty, price)])
        const paid = turnover > commission ? turnover : commission
        const fits = beyond.sign === 0 || free - spoken - required - loss - paid >= 0n
        assert.strictEqual(figures.sentence === null, fits)
      })
    )
  })
})
