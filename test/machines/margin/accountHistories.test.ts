/**
 * F4, F5, F7, F16, A2-89, A2-102: whole accounts over random histories of marks (with gaps), money, fills, contracts,
 * leverage and categorization, compared with a second implementation straight from the formulas, to the last
 * micro-USDC.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { ContractTerms } from "../../../src/machines/contract/ContractTerms.ts"
import { accountRisk } from "../../../src/machines/margin/accountRisk.ts"
import { lossStep } from "../../../src/machines/margin/lossSteps.ts"
import type { PerpHolding } from "../../../src/machines/margin/perpRisk.ts"
import { formatAmount } from "../../../src/machines/shared/Money.ts"
import { contractOf, factsWith, micro, someContract } from "../../fixtures/contracts.ts"
import { plainLossStep, plainRisk, type PlainAccount } from "../../fixtures/naiveMargin.ts"
import { holdingOf, positionOf, someTerms } from "../../fixtures/perpetuals.ts"

const markets = ["BTC-USDC-PERP", "ETH-USDC-PERP", "XAU-USDC-PERP"] as const
const ko = contractOf().symbol
const caps = { RETAIL: 10, PROFESSIONAL: 50 } as const

interface Held {
  readonly qty: string
  readonly entry: string
}

class History {
  cash = 0n
  categorization: keyof typeof caps = "RETAIL"
  readonly held = new Map<string, Held>()
  readonly chosen = new Map<string, number>()
  readonly marks = new Map<string, number>(markets.map((symbol) => [symbol, 600_000]))
  koMark = 600_000
  contracts: ReadonlyArray<ContractTerms> = []

  leverage(symbol: string): number {
    const cap = caps[this.categorization]
    return Math.min(this.chosen.get(symbol) ?? cap, cap)
  }
}
type Step = (history: History) => void

const text = (tenths: number): string => (tenths / 10).toFixed(1)
const someMarket = fc.constantFrom(...markets)
const steps: ReadonlyArray<fc.Arbitrary<Step>> = [
  // A gap down by up to nine tenths, or up to ten times the price.
  fc
    .record({ symbol: someMarket, share: fc.integer({ min: 100, max: 10_000 }) })
    .map(({ symbol, share }): Step => (history) => {
      const to = Math.floor(((history.marks.get(symbol) ?? 0) * share) / 1_000)
      history.marks.set(symbol, Math.min(9_000_000, Math.max(100, to)))
    }),
  fc.integer({ min: 1_000, max: 2_000_000 }).map(
    (mark): Step =>
      (history) =>
        void (history.koMark = mark)
  ),
  fc.bigInt({ min: -(10n ** 10n), max: 2n * 10n ** 10n }).map(
    (amount): Step =>
      (history) =>
        void (history.cash += amount)
  ),
  fc
    .record({
      symbol: someMarket,
      lots: fc.integer({ min: -30_000, max: 30_000 }),
      at: fc.integer({ min: 900, max: 1_100 })
    })
    .map(({ symbol, lots, at }): Step => (history) => {
      if (lots === 0) return void history.held.delete(symbol)
      const entry = text(Math.max(1, Math.floor(((history.marks.get(symbol) ?? 1) * at) / 1_000)))
      history.held.set(symbol, { qty: (lots / 10_000).toFixed(4), entry })
    }),
  someContract.map(
    (contract): Step =>
      (history) =>
        void (history.contracts = [...history.contracts, contract].slice(-3))
  ),
  fc.constant<Step>((history) => void (history.contracts = history.contracts.slice(1))),
  fc.record({ symbol: someMarket, leverage: fc.integer({ min: 1, max: 50 }) }).map(
    ({ symbol, leverage }): Step =>
      (history) =>
        void history.chosen.set(symbol, leverage)
  ),
  fc.constantFrom("RETAIL" as const, "PROFESSIONAL" as const).map(
    (categorization): Step =>
      (history) =>
        void (history.categorization = categorization)
  )
]

const usdc = (amount: bigint): string => formatAmount(amount, "USDC")

describe("an independent computation of accounts with contracts beside positions", () => {
  it("agrees after every step of any history, and on every reported loss", () => {
    const seen = { states: new Set<string>(), mixed: 0 }
    fc.assert(
      fc.property(fc.array(fc.oneof(...steps), { minLength: 10, maxLength: 40 }), someTerms, (taken, terms) => {
        const history = new History()
        for (const step of taken) {
          step(history)
          const { cash, held, marks, koMark, contracts } = history
          const perpetuals = [...held].map(([symbol, { qty, entry }]): PerpHolding =>
            holdingOf({
              symbol,
              position: { ...positionOf(qty, entry), symbol },
              terms: { ...terms, leverage: history.leverage(symbol) }
            })
          )
          const prices = Object.fromEntries([...marks].map(([symbol, mark]) => [symbol, { price: text(mark) }]))
          const facts = factsWith({ ...prices, [ko]: { price: text(koMark) } })
          const risk = accountRisk({ cashOf: () => cash, contracts, accepts: [], perpetuals }, facts)
          const account: PlainAccount = {
            cash: usdc(cash),
            isRetail: history.categorization === "RETAIL",
            tiers: terms.tiers.map(({ from, maxLeverage }) => ({ from: usdc(from), most: maxLeverage })),
            positions: [...held].map(([symbol, { qty, entry }], openedAt) => ({
              symbol,
              qty,
              entry,
              mark: text(marks.get(symbol) ?? 0),
              leverage: history.leverage(symbol),
              openedAt
            })),
            contracts: contracts.map(({ side, qty, entry, premium, potentialProfit }) => ({
              side,
              qty,
              entry,
              premium: usdc(premium),
              profit: potentialProfit === null ? null : usdc(potentialProfit),
              mark: text(koMark)
            }))
          }
          const plain = plainRisk(account)
          assert.deepStrictEqual(
            [
              risk.equity,
              risk.closeOutEquity,
              risk.positionMargin,
              risk.barrierMargin,
              risk.freeMargin,
              risk.maintenanceMargin
            ],
            [
              plain.equity,
              plain.closeOutEquity,
              plain.positionMargin,
              plain.barrierMargin,
              plain.freeMargin,
              plain.maintenance
            ].map((figure) => micro(figure.toFixed(6)))
          )
          assert.deepStrictEqual([risk.marginLevel, risk.riskState], [plain.level, plain.state])
          for (const [at, position] of account.positions.entries()) {
            const unrealizedPnl = risk.perps[at]?.unrealizedPnl ?? 0n
            const { qty: netQty, entry: avgEntry, leverage } = position
            assert.strictEqual(lossStep({ netQty, avgEntry, leverage, unrealizedPnl }), plainLossStep(position))
          }
          seen.states.add(risk.riskState)
          if (contracts.length > 0 && held.size > 1) seen.mixed++
        }
      }),
      { numRuns: 200, seed: 16 }
    )
    // The histories reach every state that the test is for.
    assert.sameMembers([...seen.states], ["NORMAL", "MARGIN_CALL", "CLOSE_OUT"])
    assert.isAbove(seen.mixed, 200)
  })
})
