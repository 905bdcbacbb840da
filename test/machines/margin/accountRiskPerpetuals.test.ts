/** F3 to F7: perpetuals in the risk of an account. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type AccountRisk, accountRisk } from "../../../src/machines/margin/accountRisk.ts"
import type { PerpHolding } from "../../../src/machines/margin/perpRisk.ts"
import { noFacts } from "../../../src/machines/market/Facts.ts"
import { contractOf, contractsNow, factsWith, micro } from "../../fixtures/contracts.ts"
import { fraction, naiveExposures, naiveLoss, naiveTurnover, naiveMargin } from "../../fixtures/naiveTrading.ts"
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
  someTerms,
  termsAt
} from "../../fixtures/perpetuals.ts"
import { closeOutBelowCase } from "../../fixtures/goldenTrading.ts"

const riskOf = (
  cash: string,
  perpetuals: ReadonlyArray<PerpHolding>,
  facts = factsWith({ [perp]: { price: "60000" } })
): AccountRisk =>
  accountRisk(
    { cashOf: (currency) => (currency === "USDC" ? micro(cash) : 0n), contracts: [], accepts: [], perpetuals },
    facts
  )

describe("the risk of an account with perpetuals", () => {
  it("a position, an order and their parts", () => {
    const holding = holdingOf({ position: positionOf("1", "59000"), orders: [orderOf("BUY", "0.5", "58000")] })
    const facts = factsWith({ [perp]: { price: "60000" } })
    const risk = riskOf("10000", [holding], facts)
    assert.deepStrictEqual(risk, {
      equity: micro("11000"),
      closeOutEquity: micro("11000"),
      unrealizedPnl: micro("1000"),
      barrierUnrealizedPnl: 0n,
      positionMargin: micro("6000"),
      orderMargin: micro("2900"),
      orderLoss: 0n,
      barrierMargin: 0n,
      pendingAcceptMargin: 0n,
      initialMargin: micro("8900"),
      maintenanceMargin: micro("3000"),
      marginBase: micro("6000"),
      marginLevel: "183.33",
      freeMargin: micro("2100"),
      free: micro("2100"),
      riskState: "NORMAL",
      marksFresh: true,
      barrierMarksFresh: true,
      anyMarkFresh: true,
      anyExposure: true,
      perps: [
        {
          holding,
          mark: facts.marks.get(perp) ?? null,
          markFresh: true,
          unrealizedPnl: micro("1000"),
          initialMargin: micro("6000"),
          orderMargin: micro("2900"),
          turnover: 0n,
          orderLoss: 0n
        }
      ]
    })
  })

  it("the profit of perpetuals is margin, unlike that of contracts; it is not cash", () => {
    const state = {
      cashOf: () => micro("8000"),
      contracts: [contractOf()],
      accepts: [],
      perpetuals: [holdingOf({ position: positionOf("1", "58000") })]
    }
    const risk = accountRisk(state, factsWith({ [perp]: { price: "60000" }, "BTC-USDC-KO": { price: "60300" } }))
    assert.deepInclude(risk, {
      equity: micro("10300"),
      closeOutEquity: micro("10000"),
      marginBase: micro("7000"),
      freeMargin: micro("3000"),
      free: micro("3000")
    })
    assert.strictEqual(riskOf("8000", [holdingOf({ position: positionOf("0.1", "50000") })]).free, micro("8000"))
  })

  const babypips = [
    ["MARGIN-003", "1.30000", "10000", "6500", "3500", "153.84", "NORMAL"],
    ["MARGIN-007", "1.23000", "3000", "6150", "-3150", "48.78", "CLOSE_OUT"]
  ] as const
  it.each(babypips)("%s: a long of 100,000 at 1.30000", (_, mark, equity, margin, free, marginLevel, riskState) => {
    const holding = holdingOf({ position: positionOf("100000", "1.30000"), terms: termsAt(20) })
    assert.deepInclude(riskOf("10000", [holding], factsWith({ [perp]: { price: mark } })), {
      equity: micro(equity),
      initialMargin: micro(margin),
      freeMargin: micro(free),
      marginLevel,
      riskState
    })
  })

  it("IM-011, MARGIN-005: is closed out below half of its initial margin, not at it", () => {
    const { margin, closeOutBelow } = closeOutBelowCase
    const holding = holdingOf({ position: positionOf("1", "7650"), terms: termsAt(20) })
    const at = (cash: string) => riskOf(cash, [holding], factsWith({ [perp]: { price: "7650" } }))
    assert.deepInclude(at(closeOutBelow), { positionMargin: micro(margin), riskState: "MARGIN_CALL" })
    assert.strictEqual(at("191.249999").riskState, "CLOSE_OUT")
  })

  it("orders tie up free margin, and are no part of the level", () => {
    const holding = holdingOf({ orders: [orderOf("BUY", "1", "60000")] })
    assert.deepInclude(riskOf("5000", [holding]), {
      marginLevel: null,
      marginBase: 0n,
      freeMargin: micro("-1000"),
      riskState: "NORMAL",
      anyExposure: false
    })
  })

  it("a position that is flat is like none", () => {
    for (const netQty of ["0", "0.0000"]) {
      const position = { ...positionOf("0", "1"), netQty, realizedPnl: micro("50") }
      assert.deepInclude(riskOf("5", [holdingOf({ position })], noFacts), {
        equity: micro("5"),
        initialMargin: 0n,
        marksFresh: true,
        anyExposure: false
      })
    }
  })
})

describe("F3: marks of perpetuals", () => {
  const open = holdingOf({ position: positionOf("1", "59000") })
  const limit = holdingOf({ orders: [orderOf("BUY", "1", "59000")] })
  const market = holdingOf({ orders: [orderOf("BUY", "1", null)] })
  const closing = holdingOf({ orders: [orderOf("BUY", "1", null, true)] })
  const stale = { [perp]: { price: "60000", at: contractsNow - 10_001 } }
  it.each([
    ["a live one", open, { [perp]: { price: "60000" } }, true, true, "1000"],
    ["a stale one: the last one counts", open, stale, false, false, "1000"],
    ["none: the entry stands for it", open, {}, false, false, "0"],
    ["stale, and a limit that does not use it", limit, stale, true, false, "0"],
    ["none, and a limit: its loss against the mark is unknown", limit, {}, false, false, "0"],
    ["stale, and a MARKET order that does", market, stale, false, false, "0"],
    ["stale, and a MARKET order that only reduces", closing, stale, true, false, "0"]
  ] as const)("%s", (_, holding, marks, marksFresh, anyMarkFresh, pnl) => {
    const risk = riskOf("10000", [holding], factsWith(marks))
    assert.deepInclude(risk, { marksFresh, anyMarkFresh, barrierMarksFresh: true, unrealizedPnl: micro(pnl) })
    assert.strictEqual(risk.anyExposure, holding === open)
    assert.strictEqual(risk.perps[0]?.mark?.price.toFixed() ?? null, perp in marks ? "60000" : null)
  })

  it("without a mark a position has the initial margin of its opening", () => {
    const risk = riskOf("10000", [open], noFacts)
    assert.deepInclude(risk, { positionMargin: micro("5900"), freeMargin: micro("4100") })
  })

  it("one stale mark of several is enough, contracts counted", () => {
    const other = holdingOf({ symbol: "ETH-USDC-PERP", position: positionOf("1", "3000") })
    const marks = { [perp]: { price: "60000" }, "ETH-USDC-PERP": { price: "3000", current: false } }
    assert.deepInclude(riskOf("10000", [open, other], factsWith(marks)), { marksFresh: false, anyMarkFresh: true })
  })
})

describe("F4 to F7 against a second working out", () => {
  const markets = ["BTC-USDC-PERP", "ETH-USDC-PERP", "XAU-USDC-PERP"]
  const market = fc.record({
    fills: someFills,
    orders: fc.array(someOrder, { maxLength: 4 }),
    terms: someTerms,
    mark: somePrice
  })

  /** Reduce-only orders with the same cost per unit: their sequence decides how the costs are rounded. */
  const equallyDear = {
    fills: [{ side: "SELL" as const, qty: "0.0002", price: "6000.0" }],
    orders: ["0.0002", "0.0001"].map((left) => {
      const terms = { symbol: perp, side: "BUY" as const, price: null, boundBps: 494, reduceOnly: true }
      return { ...terms, left }
    }),
    terms: termsAt(21, { slippageBps: 0, cap: 1, commissionBps: 0 }),
    mark: "6764.2"
  }

  it("agrees for several markets", () => {
    const money = fc.bigInt({ min: -(10n ** 12n), max: 10n ** 13n })
    fc.assert(
      fc.property(fc.array(market, { maxLength: 3 }), money, (all, cash) => {
        const perpetuals = all.map(({ fills, orders, terms }, at) => {
          const symbol = markets[at] ?? ""
          return { symbol, position: { ...positionAfter(fills), symbol }, orders, terms }
        })
        const marks = Object.fromEntries(all.map(({ mark }, at) => [markets[at], { price: mark }]))
        const risk = accountRisk({ cashOf: () => cash, contracts: [], accepts: [], perpetuals }, factsWith(marks))

        let [pnl, base, orderMargin, orderLoss] = [0n, 0n, 0n, 0n]
        for (const [at, { position, orders, terms }] of perpetuals.entries()) {
          const mark = all[at]?.mark ?? ""
          const { now, worst } = naiveExposures(position.netQty, mark, orders, terms.slippageBps)
          const [then, already] = [worst, now].map((value) => naiveMargin(value, terms.leverage, naiveTiers(terms)))
          pnl += fraction(mark).minus(fraction(position.avgEntry)).times(fraction(position.netQty)).floor(6)
          base += already?.ceil(6) ?? 0n
          orderMargin += then?.minus(already ?? then).ceil(6) ?? 0n
          const tiedUp = (already?.ceil(6) ?? 0n) + (then?.minus(already ?? then).ceil(6) ?? 0n)
          orderLoss += naiveLoss(mark, orders, terms.slippageBps)
          orderLoss += naiveTurnover(position.netQty, mark, orders, { ...terms, tiedUp })
        }
        const equity = cash + pnl
        assert.deepInclude(risk, {
          equity,
          closeOutEquity: equity,
          unrealizedPnl: pnl,
          positionMargin: base,
          marginBase: base,
          orderMargin,
          initialMargin: base + orderMargin,
          freeMargin: equity - base - orderMargin,
          orderLoss,
          marginLevel: base === 0n ? null : riskPercent(equity, base)
        })
        const half = equity * 2n < base
        const called = equity < base
        const withoutBase = equity < 0n ? "CLOSE_OUT" : "NORMAL"
        const expected = half ? "CLOSE_OUT" : called ? "MARGIN_CALL" : "NORMAL"
        assert.strictEqual(risk.riskState, base === 0n ? withoutBase : expected)
      }),
      { examples: [[[equallyDear], 0n]] }
    )
  })
})

const riskPercent = (equity: bigint, base: bigint): string => {
  const hundredths = fraction(equity).by(fraction(base)).floor(4)
  const size = hundredths < 0n ? -hundredths : hundredths
  return `${hundredths < 0n ? "-" : ""}${size / 100n}.${String(size % 100n).padStart(2, "0")}`
}
