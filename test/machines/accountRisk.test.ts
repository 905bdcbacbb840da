/** F3, F4, F7, A1-12, A2-88, A2-99: the risk of an account, from its state and the facts of one moment. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"
import type { ContractTerms } from "../../src/machines/contract/ContractTerms.ts"
import {
  type AccountRisk,
  accountRisk,
  marginLevelOf,
  type PendingAccept,
  riskStateOf
} from "../../src/machines/margin/accountRisk.ts"
import { MarginPicture, marginPictureOf } from "../../src/machines/margin/marginPicture.ts"
import { type Facts, noFacts } from "../../src/machines/market/Facts.ts"
import { contractOf, contractsNow, factsWith, micro, someContract, someMark } from "../fixtures/contracts.ts"
import { marginLevelCases } from "../fixtures/golden.ts"

const attached: Facts = { ...noFacts, takenAt: 1_700_000_000_000 }

const ofCash = (cash: bigint): Omit<AccountRisk, "riskState"> => ({
  equity: cash,
  closeOutEquity: cash,
  unrealizedPnl: 0n,
  barrierUnrealizedPnl: 0n,
  positionMargin: 0n,
  orderMargin: 0n,
  orderLoss: 0n,
  barrierMargin: 0n,
  pendingAcceptMargin: 0n,
  initialMargin: 0n,
  maintenanceMargin: 0n,
  marginBase: 0n,
  marginLevel: null,
  freeMargin: cash,
  free: cash,
  marksFresh: true,
  barrierMarksFresh: true,
  anyMarkFresh: false,
  anyExposure: false,
  perps: []
})

const rows: ReadonlyArray<
  readonly [string, Readonly<Record<string, bigint>>, Facts, bigint, Pick<AccountRisk, "riskState">]
> = [
  ["nothing at all", {}, noFacts, 0n, { riskState: "NORMAL" }],
  ["USDC", { USDC: 12_500_000n }, noFacts, 12_500_000n, { riskState: "NORMAL" }],
  ["other money is never margin", { BTC: 100n, EUR: 500n }, noFacts, 0n, { riskState: "NORMAL" }],
  ["one micro-USDC short", { USDC: -1n }, noFacts, -1n, { riskState: "CLOSE_OUT" }],
  ["with a market", { USDC: 5n }, attached, 5n, { riskState: "NORMAL" }],
  ["with a market: short", { USDC: -5n }, attached, -5n, { riskState: "CLOSE_OUT" }]
]

describe("the risk of an account that holds money alone", () => {
  it.each(rows)("%s", (_, money, facts, cash, states) => {
    assert.deepStrictEqual(
      accountRisk({ cashOf: (currency) => money[currency] ?? 0n, contracts: [], accepts: [], perpetuals: [] }, facts),
      {
        ...ofCash(cash),
        ...states
      }
    )
  })
})

const ko = "BTC-USDC-KO"
const riskWith = (
  cash: bigint,
  contracts: ReadonlyArray<ContractTerms>,
  facts: Facts,
  accepts: ReadonlyArray<PendingAccept> = []
): AccountRisk =>
  accountRisk({ cashOf: (currency) => (currency === "USDC" ? cash : 0n), contracts, accepts, perpetuals: [] }, facts)

describe("the risk of an account with contracts", () => {
  it("a loss ties up less of the premium, and lowers what counts as equity by as much", () => {
    const risk = riskWith(micro("1500"), [contractOf()], factsWith({ [ko]: { price: "59400" } }))
    assert.deepStrictEqual(risk, {
      equity: micro("900"),
      closeOutEquity: micro("900"),
      unrealizedPnl: 0n,
      barrierUnrealizedPnl: micro("-600"),
      positionMargin: 0n,
      orderMargin: 0n,
      orderLoss: 0n,
      barrierMargin: micro("400"),
      pendingAcceptMargin: 0n,
      initialMargin: micro("400"),
      maintenanceMargin: micro("200"),
      marginBase: micro("400"),
      marginLevel: "225.00",
      freeMargin: micro("500"),
      free: micro("500"),
      riskState: "NORMAL",
      marksFresh: true,
      barrierMarksFresh: true,
      anyMarkFresh: true,
      anyExposure: true,
      perps: []
    })
  })

  it("a profit is equity, and is never spent", () => {
    const risk = riskWith(micro("1500"), [contractOf()], factsWith({ [ko]: { price: "63000" } }))
    assert.deepInclude(risk, {
      equity: micro("4500"),
      closeOutEquity: micro("1500"),
      barrierUnrealizedPnl: micro("3000"),
      barrierMargin: micro("1000"),
      freeMargin: micro("500"),
      free: micro("500"),
      marginLevel: "150.00"
    })
  })

  it("profits and losses of several are not set off against one another in the close-out equity (F4)", () => {
    const contracts = [contractOf(), contractOf({ side: "SELL", barrier: "61000" })]
    const risk = riskWith(micro("2000"), contracts, factsWith({ [ko]: { price: "60400" } }))
    assert.deepInclude(risk, {
      equity: micro("2000"),
      closeOutEquity: micro("1600"),
      barrierUnrealizedPnl: 0n,
      barrierMargin: micro("1600"),
      freeMargin: 0n
    })
  })

  it("accepts in flight tie up premium and commission, and are no part of the base", () => {
    const accepts = [
      { premium: micro("100"), commission: micro("12") },
      { premium: micro("30"), commission: 1n }
    ]
    const risk = riskWith(micro("1200"), [contractOf()], factsWith({ [ko]: { price: "60000" } }), accepts)
    assert.deepInclude(risk, {
      pendingAcceptMargin: micro("142.000001"),
      initialMargin: micro("1142.000001"),
      freeMargin: micro("57.999999"),
      marginBase: micro("1000"),
      marginLevel: "120.00",
      anyExposure: true
    })
    assert.isFalse(riskWith(0n, [], noFacts, accepts).anyExposure)
  })

  const states = [
    ["exactly the premiums", "1000", "60000", "NORMAL", "100.00"],
    ["a micro-USDC less", "999.999999", "60000", "MARGIN_CALL", "99.99"],
    ["exactly half", "500", "60000", "MARGIN_CALL", "50.00"],
    ["a micro-USDC less than half", "499.999999", "60000", "CLOSE_OUT", "49.99"],
    ["the border falls with the mark", "600", "59800", "MARGIN_CALL", "50.00"],
    ["and the next tick is beyond it", "600", "59799.9", "CLOSE_OUT", "49.99"],
    ["a loss of all that was paid", "999", "59000", "CLOSE_OUT", null],
    ["negative cash", "-1", "60000", "CLOSE_OUT", "-0.10"]
  ] as const
  it.each(states)("F7: %s: cash %s at %s", (_, cash, price, riskState, marginLevel) => {
    const risk = riskWith(micro(cash), [contractOf()], factsWith({ [ko]: { price } }))
    assert.deepInclude(risk, { riskState, marginLevel })
  })

  it.each([
    ["of now", { price: "59500" }, true, "-500"],
    ["10 s old", { price: "59500", at: contractsNow - 10_000 }, true, "-500"],
    ["older: the last one counts", { price: "59500", at: contractsNow - 10_001 }, false, "-500"],
    ["waiting for a snapshot: likewise", { price: "59500", current: false }, false, "-500"],
    ["not known at all: neither profit nor loss", null, false, "0"]
  ] as const)("F3: a mark %s", (_, mark, fresh, pnl) => {
    const facts = factsWith(mark === null ? {} : { [ko]: mark, "ETH-USDC-KO": { price: "1", current: false } })
    const risk = riskWith(micro("1500"), [contractOf()], facts)
    assert.deepInclude(risk, {
      marksFresh: fresh,
      barrierMarksFresh: fresh,
      barrierUnrealizedPnl: micro(pnl),
      freeMargin: micro("500"),
      riskState: "NORMAL"
    })
  })

  it("F3: one stale mark of several is enough", () => {
    const contracts = [contractOf(), contractOf({ symbol: "ETH-USDC-KO" })]
    const marks = { [ko]: { price: "60000" }, "ETH-USDC-KO": { price: "60000", at: 0 } }
    assert.deepInclude(riskWith(0n, contracts, factsWith(marks)), { marksFresh: false, anyMarkFresh: true })
  })

  it("F3: without a market no mark is fresh", () => {
    assert.deepInclude(riskWith(micro("1000"), [contractOf()], noFacts), { marksFresh: false, anyMarkFresh: false })
  })
})

describe("the margin level", () => {
  it.each(marginLevelCases)("$id", ({ equity, margin, level, state }) => {
    assert.strictEqual(marginLevelOf(micro(equity), micro(margin)), level)
    if (state !== null) assert.strictEqual(riskStateOf(micro(equity), micro(margin)), state)
  })

  it.each([
    [0n, 0n, null],
    [5n, 0n, null],
    [0n, 3n, "0.00"],
    [-1n, 30_000n, "-0.01"],
    [-1n, 3n, "-33.34"],
    [-3n, 3n, "-100.00"]
  ])("of %d against %d is %s", (equity, base, level) => {
    assert.strictEqual(marginLevelOf(equity, base), level)
  })

  it("never shows a threshold that it is below, and always one that it has reached", () => {
    const amount = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n })
    fc.assert(
      fc.property(amount, fc.bigInt({ min: -3n, max: 3n }), fc.constantFrom(50n, 100n), (base, near, pct) => {
        const equity = (base * pct) / 100n + near
        const level = marginLevelOf(equity, base) ?? ""
        assert.strictEqual(Number(level) < Number(pct), equity * 100n < base * pct)
      })
    )
  })
})

describe("F7: an account with contracts alone", () => {
  const contracts = fc.array(someContract, { minLength: 1, maxLength: 5 })
  const premiums = (all: ReadonlyArray<ContractTerms>): bigint => all.reduce((sum, { premium }) => sum + premium, 0n)

  it("a prefunded account is NORMAL at any mark, and one that is not never is while a premium is tied up", () => {
    fc.assert(
      fc.property(contracts, someMark, fc.bigInt({ min: 0n, max: 10n ** 9n }), (all, price, more) => {
        const facts = factsWith({ [ko]: { price } })
        assert.strictEqual(riskWith(premiums(all) + more, all, facts).riskState, "NORMAL")
        assert.notStrictEqual(riskWith(premiums(all) - 1n - more, all, facts).riskState, "NORMAL")
      })
    )
  })

  it("free margin is cash less the premiums, whatever the mark", () => {
    fc.assert(
      fc.property(contracts, someMark, fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }), (all, price, cash) => {
        for (const facts of [factsWith({ [ko]: { price } }), noFacts]) {
          const risk = riskWith(cash, all, facts)
          assert.strictEqual(risk.freeMargin, cash - premiums(all))
          assert.strictEqual(risk.freeMargin, risk.closeOutEquity - risk.initialMargin)
          assert.isTrue(risk.closeOutEquity <= risk.equity)
          assert.isTrue(risk.maintenanceMargin * 2n - risk.marginBase <= 1n)
        }
      })
    )
  })
})

describe("A2-99: the margin picture", () => {
  it("has every member of the contract, in USDC with six places", () => {
    const risk = riskWith(micro("1500"), [contractOf()], factsWith({ [ko]: { price: "59400", at: 0 } }))
    const picture = marginPictureOf({
      clientId: 7,
      categorization: "RETAIL",
      cash: micro("1500"),
      reserved: micro("12.5"),
      barriers: 1,
      openOrders: 0,
      instruments: new Map(),
      risk
    })
    assert.deepStrictEqual(picture, Schema.decodeUnknownSync(MarginPicture)(picture))
    assert.deepStrictEqual(picture, {
      clientId: 7,
      equity: "900.000000",
      cash: "1500.000000",
      unrealizedPnl: "0.000000",
      reserved: "12.500000",
      initialMargin: "400.000000",
      maintenanceMargin: "200.000000",
      positionMargin: "0.000000",
      orderMargin: "0.000000",
      freeMargin: "500.000000",
      marginLevel: "225.00",
      riskState: "NORMAL",
      categorization: "RETAIL",
      marksFresh: false,
      closeOutPct: 50,
      marginCallPct: 100,
      positions: [],
      openOrders: 0,
      barrierMargin: "400.000000",
      barrierUnrealizedPnl: "-600.000000",
      barrierMarksFresh: false,
      pendingAcceptMargin: "0.000000",
      closeOutEquity: "900.000000",
      barriers: 1
    })
  })
})
