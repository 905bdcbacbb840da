/** F4, F5, F7, F8: the complete golden cases of margin, from the initial data of their sources. */
import { assert, describe, it } from "@effect/vitest"
import { accountRisk } from "../../../src/machines/margin/accountRisk.ts"
import { estLiquidationPrice, positionMarginAt, unrealizedOf } from "../../../src/machines/margin/perpetual.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { factsWith, micro } from "../../fixtures/contracts.ts"
import { holdingOf, perp, positionOf, termsAt } from "../../fixtures/perpetuals.ts"
import { marginCaseWhole, scenarioCase, tierMaintenanceCase, walletCases } from "../../fixtures/goldenTrading.ts"

describe("golden cases of margin, whole", () => {
  it("MARGIN-001: equity and level from balance, position and the margin that is used", () => {
    const { balance, position, usedMargin, pnl, equity, level } = marginCaseWhole
    const gained = unrealizedOf(positionOf(position.qty, position.entry), position.mark)
    assert.strictEqual(gained, micro(pnl))
    assert.strictEqual(micro(balance) + gained, micro(equity))
    const percent = new MoneyDecimal(equity).div(usedMargin).mul(100)
    assert.strictEqual(percent.toFixed(2, MoneyDecimal.ROUND_FLOOR), level)
  })

  it.each(scenarioCase.steps)("$id: the scenario's step at $mark", ({ mark, ...expected }) => {
    const { cash, position, leverage } = scenarioCase
    const holding = holdingOf({ position: positionOf(position.qty, position.entry), terms: termsAt(leverage) })
    const state = { cashOf: () => micro(cash), contracts: [], accepts: [], perpetuals: [holding] }
    const risk = accountRisk(state, factsWith({ [perp]: { price: mark } }))
    assert.deepInclude(risk, {
      unrealizedPnl: micro(expected.unrealizedPnl),
      equity: micro(expected.equity),
      initialMargin: micro(expected.initialMargin),
      freeMargin: micro(expected.freeMargin),
      marginLevel: expected.level,
      riskState: expected.riskState
    })
  })

  it("IM-005: the slices add up as the maintenance of the source does, as far as its rates are those of whole leverages", () => {
    const { value, tiers, maintenance } = tierMaintenanceCase
    const slices = tiers.map(({ from, maxLeverage }) => ({ from: micro(from), maxLeverage }))
    assert.strictEqual(positionMarginAt("1", value, termsAt(50, { tiers: slices })), micro(maintenance))
  })

  it.each(walletCases)("$id: from the wallet, the deduction and what others have", (of) => {
    const { netQty, entry, leverage, wallet, deduction, otherMaintenance, otherPnl, expected, places } = of
    // A deduction from the maintenance counts as equity; the maintenance of other positions is half of their margin.
    const account = {
      closeOutEquity: micro(wallet) + micro(deduction) + micro(otherPnl),
      marginBase: 2n * micro(otherMaintenance)
    }
    const part = { unrealizedPnl: 0n, initialMargin: 0n, leverage, closeOutPct: 50, tick: { decimals: 14, step: 1 } }
    const price = estLiquidationPrice({ netQty, avgEntry: entry }, part, account)
    assert.strictEqual(new MoneyDecimal(price ?? 0).toFixed(places, MoneyDecimal.ROUND_HALF_UP), expected)
  })
})
