/** F12, F15, F16, F17, F19: the figures of a knock-out contract at its entry, while it is open and at its end. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  closePnl,
  type ContractEnd,
  figuresAt,
  liveFigures,
  pnlAt,
  premiumBpsOf,
  settledPnl
} from "../../src/machines/contract/contractFigures.ts"
import { requiredMargin } from "../../src/machines/contract/priceRules.ts"
import { defaultMarketTerms } from "../../src/machines/market/marketTerms.ts"
import { MoneyDecimal } from "../../src/machines/shared/Money.ts"
import { contractOf, micro, someContract, someMark } from "../fixtures/contracts.ts"
import { contractEntryCases, contractLiveCase, contractResidualCase, contractTouchCase } from "../fixtures/golden.ts"

const at = (price: string) => ({ price: new MoneyDecimal(price), places: 1 })

describe("F15: at the entry", () => {
  it.each(contractEntryCases)("$id", ({ terms, expected }) => {
    const figures = figuresAt({ ...terms, takeProfit: null, premiumBps: 10_000 })
    assert.deepStrictEqual(figures, {
      premium: micro(expected.premium),
      notional: micro(expected.notional),
      commission: micro(expected.commission),
      leverage: expected.leverage,
      potentialProfit: null
    })
    assert.strictEqual(requiredMargin(figures), micro(expected.required))
  })

  const odd = { side: "BUY", qty: "0.0001", price: "60000.1", barrier: "59999.8", takeProfit: "60000.2" } as const
  it.each([
    // 0.0001 x 0.3 x 0.95 = 0.0000285: up; 0.0001 x 60000.1 = 6.00001: exact; 2 bps of it 0.001200002: up; 0.00001: exact.
    ["a charge is rounded up", 9_500, { premium: 29n, notional: 6_000_010n, commission: 1_201n, potentialProfit: 10n }],
    ["the whole distance", 10_000, { premium: 30n, notional: 6_000_010n, commission: 1_201n, potentialProfit: 10n }],
    ["a strict share", 4_000, { premium: 12n, notional: 6_000_010n, commission: 1_201n, potentialProfit: 10n }]
  ])("F1, F12: %s", (_, premiumBps, expected) => {
    const { leverage, ...money } = figuresAt({ ...odd, premiumBps, commissionBps: 2 })
    assert.deepStrictEqual(money, expected)
    assert.match(leverage, /^[0-9]+\.[0-9]{2}$/)
  })

  it("a profit is rounded down", () => {
    const { potentialProfit } = figuresAt({
      ...odd,
      qty: "0.0000033",
      takeProfit: "60000.7",
      premiumBps: 9_500,
      commissionBps: 2
    })
    assert.strictEqual(potentialProfit, 1n)
  })

  it("leverage is rounded half up, and 0.00 where nothing is paid", () => {
    const of = (price: string, barrier: string) =>
      figuresAt({ side: "SELL", qty: "1", price, barrier, takeProfit: null, premiumBps: 10_000, commissionBps: 2 })
        .leverage
    assert.strictEqual(of("2.01", "3.01"), "2.01")
    assert.strictEqual(of("1.005", "2.005"), "1.01")
    assert.strictEqual(of("1.0049", "2.0049"), "1.00")
    assert.strictEqual(of("60000", "60000"), "0.00")
  })

  it("A2-18: a normal contract reserves the rebate, a strict one has its own share", () => {
    assert.strictEqual(premiumBpsOf(false, defaultMarketTerms), 9_500)
    assert.strictEqual(premiumBpsOf(true, defaultMarketTerms), 4_000)
  })
})

describe("F16: calls in flight", () => {
  it("BAR-003", () => {
    const { contract, mark, unrealizedPnl, requirement } = contractLiveCase
    const live = liveFigures(contractOf({ ...contract, premium: micro(contract.premium) }), at(mark))
    assert.strictEqual(live.unrealizedPnl, micro(unrealizedPnl))
    assert.strictEqual(live.requirement, micro(requirement))
  })

  it("distances are on the grid and in percent of the mark, half up", () => {
    const long = contractOf({ takeProfit: "61000.5" })
    assert.deepInclude(liveFigures(long, at("60123.4")), {
      distanceAbs: "1123.4",
      distancePct: "1.8685",
      distanceToTpAbs: "877.1",
      distanceToTpPct: "1.4588"
    })
    assert.deepInclude(liveFigures(contractOf(), at("59000")), {
      distanceAbs: "0.0",
      distancePct: "0.0000",
      distanceToTpAbs: null,
      distanceToTpPct: null
    })
  })

  it("BAR-009: with a rebate the loss stops at the premium before the barrier is touched", () => {
    const { barrier, strike, maxRedemption } = contractResidualCase
    // The price covers the whole distance to the strike; the part between strike and barrier is never lost.
    const price = new MoneyDecimal("100")
    const whole = price.minus(strike)
    const share = price.minus(barrier).div(whole)
    assert.strictEqual(whole.mul(new MoneyDecimal(1).minus(share)).toFixed(), maxRedemption)
    const contract = contractOf({ premiumBps: 9_500 })
    assert.strictEqual(pnlAt(contract, "59049.9"), micro("-950"))
    assert.strictEqual(pnlAt(contract, "59050"), micro("-950"))
    assert.strictEqual(pnlAt(contract, "59050.1"), micro("-949.9"))
    assert.strictEqual(pnlAt(contract, "59000"), micro("-950"))
  })

  it("a signed figure is rounded towards minus infinity (F1)", () => {
    const contract = contractOf({ qty: "0.0000033" })
    assert.strictEqual(pnlAt(contract, "60000.7"), 2n)
    assert.strictEqual(pnlAt(contract, "59999.3"), -3n)
  })
})

describe("F17: at its end", () => {
  it("BAR-011", () => {
    const { contract, settlePrice, pnl, maxLoss, potentialProfit } = contractTouchCase
    const terms = contractOf(contract)
    assert.strictEqual(terms.premium, micro(maxLoss))
    assert.strictEqual(terms.potentialProfit, micro(potentialProfit))
    assert.strictEqual(settledPnl(terms, "TAKE_PROFIT", settlePrice), micro(pnl))
  })

  const normal = contractOf({ takeProfit: "61000", premiumBps: 9_500 })
  const strict = contractOf({ takeProfit: "61000", premiumBps: 4_000, strict: true })
  const open = contractOf()
  it.each([
    ["a knock-out costs the premium", normal, "KNOCKED_OUT", "59000", "-950"],
    ["a take profit pays the potential profit", normal, "TAKE_PROFIT", "61000", "1000"],
    ["an expiry pays what it is worth", normal, "EXPIRED", "60500", "500"],
    ["an expiry costs the premium at most", normal, "EXPIRED", "59001", "-950"],
    ["A2-20: a strict one that expires untouched pays nothing", strict, "EXPIRED", "60999.9", "-400"],
    ["A2-20: a strict one that was touched", strict, "TAKE_PROFIT", "61000", "1000"],
    ["A2-20: a strict one that is closed early", strict, "EARLY_CLOSE", "60250", "250"],
    ["A2-20: a strict one that is torn up", strict, "TORN_UP", "59900", "-100"],
    ["a final price beyond the take profit", normal, "CLOSED", "65000", "1000"],
    ["without a take profit nothing bounds it", open, "CLOSED", "65000", "5000"],
    ["torn up beyond the barrier", open, "TORN_UP", "58000", "-1000"]
  ] as const)("%s", (_, contract, how, price, pnl) => {
    assert.strictEqual(settledPnl(contract, how, price), micro(pnl))
  })

  it("F16: whole numbers give what exact decimals give", () => {
    fc.assert(
      fc.property(someContract, someMark, (contract, mark) => {
        const { side, qty, entry, premium, potentialProfit } = contract
        const gain = new MoneyDecimal(mark).minus(entry).mul(side === "BUY" ? 1 : -1)
        const raw = gain.mul(qty).mul(1e6).floor()
        const least = MoneyDecimal.max(raw, (-premium).toString())
        const pnl = potentialProfit === null ? least : MoneyDecimal.min(least, potentialProfit.toString())
        assert.strictEqual(pnlAt(contract, mark).toString(), pnl.toFixed())
        assert.strictEqual(pnlAt(contract, new MoneyDecimal(mark)), pnlAt(contract, mark))
      })
    )
  })

  const ends: ReadonlyArray<ContractEnd> = ["KNOCKED_OUT", "TAKE_PROFIT", "EXPIRED", "EARLY_CLOSE", "TORN_UP", "CLOSED"]
  it("nothing costs more than its premium or pays more than its potential profit, at any mark and end", () => {
    fc.assert(
      fc.property(someContract, someMark, fc.constantFrom(...ends), (contract, mark, how) => {
        const { premium, potentialProfit } = contract
        for (const pnl of [settledPnl(contract, how, mark), closePnl(contract, mark), pnlAt(contract, mark)]) {
          assert.isTrue(pnl >= -premium)
          if (potentialProfit !== null) assert.isTrue(pnl <= potentialProfit)
        }
        const { unrealizedPnl, requirement } = liveFigures(contract, at(mark))
        assert.isTrue(requirement >= 0n && requirement <= premium)
        assert.strictEqual(requirement - (unrealizedPnl < 0n ? unrealizedPnl : 0n), premium)
      })
    )
  })
})
