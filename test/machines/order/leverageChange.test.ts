/** Reasons to refuse a choice of leverage, and the figures of a refusal for its margin (A2-50, F3, F9, SC-MRG-19). */
import { assert, describe, it } from "@effect/vitest"
import { accountRisk, type AccountRisk } from "../../../src/machines/margin/accountRisk.ts"
import { changeRefusal, overCap } from "../../../src/machines/order/leverageChange.ts"
import { toWire } from "../../../src/machines/shared/wireRefusal.ts"
import { contractsNow, factsWith, micro, type MarkOf } from "../../fixtures/contracts.ts"
import { termsAt } from "../../fixtures/perpetuals.ts"

const perp = "BTC-USDC-PERP"

/** A long of 0.1 at 60,000 with this cash in USDC; `orders`: working purchases of 0.1 at 60,000. */
const riskAt = (leverage: number, cash: string, orders = 0, mark: MarkOf = { price: "60000" }): AccountRisk =>
  accountRisk(
    {
      cashOf: (currency) => (currency === "USDC" ? micro(cash) : 0n),
      contracts: [],
      accepts: [],
      perpetuals: [
        {
          symbol: perp,
          position: { symbol: perp, netQty: "0.1", avgEntry: "60000", netCost: "6000", realizedPnl: 0n },
          orders: Array.from({ length: orders }, () => ({
            symbol: perp,
            side: "BUY" as const,
            left: "0.1",
            price: "60000",
            boundBps: null,
            reduceOnly: false
          })),
          terms: termsAt(leverage)
        }
      ]
    },
    factsWith({ [perp]: mark })
  )

const change = { restrictions: [], recorded: "NORMAL", force: false } as const
const refusedAs = (from: AccountRisk, to: AccountRisk, force = false) =>
  changeRefusal({ ...change, before: from, after: to, force })?._tag ?? null

describe("another leverage", () => {
  // 6,000 at 10: a margin of 600; at 6: 1,000; at 5: 1,200; at 3: 2,000.
  it.each([
    ["what it ties up is there to the last micro-USDC", riskAt(10, "1000"), riskAt(6, "1000"), null],
    ["one micro-USDC is missing", riskAt(10, "999.999999"), riskAt(6, "999.999999"), "MarginBreach"],
    ["less is tied up, and it is a margin call all the same", riskAt(5, "700"), riskAt(6, "700"), null],
    ["less is tied up, and it is a close-out all the same", riskAt(5, "100"), riskAt(10, "100"), null],
    ["as much is tied up", riskAt(5, "100"), riskAt(5, "100"), null],
    [
      "SC-MRG-19: NORMAL after it, the free margin below zero",
      riskAt(10, "1300", 1),
      riskAt(8, "1300", 1),
      "MarginBreach"
    ],
    ["the same, the orders covered too", riskAt(10, "1500", 1), riskAt(8, "1500", 1), null]
  ] as const)("A2-50: %s", (_, before, after, tag) => {
    assert.strictEqual(refusedAs(before, after), tag)
    assert.isNull(refusedAs(before, after, true), "force applies it")
  })

  it("A2-50: the six figures of a refusal", () => {
    const refusal = changeRefusal({ ...change, before: riskAt(10, "1000"), after: riskAt(5, "1000") })
    if (refusal === null) throw new Error("it was not refused")
    const { status, code, data } = toWire(refusal)
    assert.deepStrictEqual([status, code], [409, 4090])
    assert.deepStrictEqual(data, {
      reason: "WOULD_BREACH_MARGIN",
      wouldBreach: true,
      initialMarginAfter: "1200.000000",
      maintenanceMarginAfter: "600.000000",
      freeMarginAfter: "-200.000000",
      marginLevelAfter: "83.33",
      riskStateAfter: "MARGIN_CALL"
    })
    const orders = changeRefusal({ ...change, before: riskAt(10, "1300", 1), after: riskAt(8, "1300", 1) })
    assert.deepStrictEqual(orders, {
      _tag: "MarginBreach",
      after: {
        initialMarginAfter: "1500.000000",
        maintenanceMarginAfter: "375.000000",
        freeMarginAfter: "-200.000000",
        marginLevelAfter: "173.33",
        riskStateAfter: "NORMAL"
      }
    })
  })

  it("F3: needs live prices while something is open, whatever its effect on the margin, and with force too", () => {
    const stale = { price: "60000", at: contractsNow - 10_001 }
    const [before, after] = [riskAt(5, "5000", 0, stale), riskAt(10, "5000", 0, stale)]
    assert.strictEqual(refusedAs(before, after), "Invalid")
    assert.strictEqual(refusedAs(before, after, true), "Invalid")
    const fresh = { price: "60000", at: contractsNow - 10_000 }
    assert.isNull(refusedAs(riskAt(5, "5000", 0, fresh), riskAt(10, "5000", 0, fresh)))
  })

  it("F9: is refused while the account is being closed out, with force too", () => {
    const [before, after] = [riskAt(5, "100"), riskAt(10, "100")]
    for (const force of [false, true]) {
      assert.deepInclude(changeRefusal({ ...change, restrictions: ["CLOSE_OUT"], before, after, force }), {
        _tag: "Invalid",
        sentence: "The account is being closed out, so positions can only be reduced."
      })
    }
    // An account that can't be restricted, because it is under review.
    assert.isNotNull(changeRefusal({ ...change, recorded: "CLOSE_OUT", before, after, force: true }))
    assert.isNull(changeRefusal({ ...change, recorded: "MARGIN_CALL", before, after }))
    for (const restriction of ["FROZEN", "NO_NEW_RISK", "NO_WITHDRAWALS"] as const)
      assert.isNull(changeRefusal({ ...change, restrictions: [restriction], before, after, force: false }))
  })

  it("A2-50: may be the cap, and no more", () => {
    assert.isNull(overCap({ leverage: 10, cap: 10 }))
    assert.deepInclude(overCap({ leverage: 11, cap: 10 }), {
      sentence: "The leverage must be at most 10 in this market.",
      errors: { leverage: "The leverage must be at most 10 in this market." }
    })
  })
})
