/** A2-102: the effect of another categorization, and the reasons to refuse it, on both sides of each limit. */
import { assert, describe, it } from "@effect/vitest"
import { type AccountRisk, accountRisk, type RiskState } from "../../../src/machines/margin/accountRisk.ts"
import {
  categorizationChange,
  categorizationRefusal,
  type Categorizing
} from "../../../src/machines/margin/categorization.ts"
import type { JsonObject } from "../../../src/machines/shared/Json.ts"
import { contractsNow, factsWith, micro } from "../../fixtures/contracts.ts"
import { termsAt } from "../../fixtures/perpetuals.ts"

const perp = "BTC-USDC-PERP"
/** A long of 0.1 at 60,000: a margin of 120 for a professional at 50, of 600 for a retail client at 10. */
const riskAt = (leverage: number, cash: string, at = contractsNow) =>
  accountRisk(
    {
      cashOf: () => micro(cash),
      contracts: [],
      accepts: [],
      perpetuals: [
        {
          symbol: perp,
          position: { symbol: perp, netQty: "0.1", avgEntry: "60000", netCost: "6000", realizedPnl: 0n },
          orders: [],
          terms: termsAt(leverage)
        }
      ]
    },
    factsWith({ [perp]: { price: "60000", at } })
  )

const changeOf = (before: AccountRisk, after: AccountRisk, recorded: RiskState = "NORMAL") =>
  categorizationChange({
    recorded,
    toRecord: after.riskState,
    before,
    after,
    leverage: [
      { symbol: "ETH-USDC-PERP", before: 25, after: 10 },
      { symbol: perp, before: 50, after: 10 }
    ]
  })

const toRetail = (cash: string, over: Partial<Categorizing> = {}) =>
  categorizationRefusal({
    to: "RETAIL",
    cash: micro(cash),
    episodeOpen: false,
    recorded: "NORMAL",
    before: riskAt(50, cash),
    after: riskAt(10, cash),
    change: changeOf(riskAt(50, cash), riskAt(10, cash)),
    force: false,
    ...over
  })
const toProfessional = (cash: string, recorded: RiskState = "NORMAL") =>
  categorizationRefusal({
    to: "PROFESSIONAL",
    cash: micro(cash),
    episodeOpen: false,
    recorded,
    before: riskAt(10, cash),
    after: riskAt(50, cash),
    change: changeOf(riskAt(10, cash), riskAt(50, cash)),
    force: true
  })
const sentence = (refusal: ReturnType<typeof categorizationRefusal>) =>
  refusal !== null && "sentence" in refusal ? refusal.sentence : null

describe("its effect on the account", () => {
  it("A2-102: margin, level and state before and after, and the leverage of each market", () => {
    const change = changeOf(riskAt(50, "500"), riskAt(10, "500"))
    assert.deepStrictEqual(change, {
      before: {
        equity: "500.000000",
        initialMargin: "120.000000",
        maintenanceMargin: "60.000000",
        freeMargin: "380.000000",
        marginLevel: "416.66",
        riskState: "NORMAL",
        marksFresh: true
      },
      after: {
        equity: "500.000000",
        initialMargin: "600.000000",
        maintenanceMargin: "300.000000",
        freeMargin: "-100.000000",
        marginLevel: "83.33",
        riskState: "MARGIN_CALL",
        marksFresh: true
      },
      leverage: [
        // A chosen leverage in a market without position or order.
        {
          symbol: "ETH-USDC-PERP",
          leverageBefore: 25,
          leverageAfter: 10,
          marginBefore: "0.000000",
          marginAfter: "0.000000"
        },
        { symbol: perp, leverageBefore: 50, leverageAfter: 10, marginBefore: "120.000000", marginAfter: "600.000000" }
      ],
      follows: "MARGIN_CALL"
    })
  })

  it.each([
    ["enough", "600", "NORMAL", "NOTHING"],
    ["a micro-USDC too little", "599.999999", "NORMAL", "MARGIN_CALL"],
    ["half of it", "300", "NORMAL", "MARGIN_CALL"],
    ["less than half", "299.999999", "NORMAL", "CLOSE_OUT"],
    ["a call that stands already", "599.999999", "MARGIN_CALL", "NOTHING"],
    ["a call that becomes a close-out", "299.999999", "MARGIN_CALL", "CLOSE_OUT"]
  ] as const)("A2-102: what follows with %s", (_, cash, recorded, follows) => {
    assert.strictEqual(changeOf(riskAt(50, cash), riskAt(10, cash), recorded).follows, follows)
  })
})

describe("a professional who becomes a retail client", () => {
  it("A2-102: with the margin to the last micro-USDC, or by force; a refusal has the figures", () => {
    assert.isNull(toRetail("600"))
    const refusal = toRetail("599.999999")
    assert.deepStrictEqual(refusal?._tag === "Conflict" ? refusal.data : null, {
      initialMarginAfter: "600.000000",
      maintenanceMarginAfter: "300.000000",
      freeMarginAfter: "-0.000001",
      marginLevelAfter: "99.99",
      riskStateAfter: "MARGIN_CALL",
      change: changeOf(riskAt(50, "599.999999"), riskAt(10, "599.999999"))
    } as unknown as JsonObject)
    assert.isNull(toRetail("599.999999", { force: true }))
    assert.isNull(toRetail("0", { force: true }))
  })

  it("A2-102, SC-MRG-18: has no debt, and is in no close-out, whatever is forced", () => {
    for (const force of [false, true])
      assert.strictEqual(
        sentence(toRetail("-0.000001", { force })),
        "The client owes 0.000001 USDC, which must be settled before it becomes RETAIL."
      )
    assert.strictEqual(
      sentence(toRetail("5000", { episodeOpen: true, force: true })),
      "The account is being closed out, so its categorization can't be changed."
    )
  })

  it("A2-102: without live prices it is possible by force alone", () => {
    const after = riskAt(10, "5000", contractsNow - 10_001)
    assert.match(sentence(toRetail("5000", { after })) ?? "", /without live prices/)
    assert.isNull(toRetail("5000", { after, force: true }))
  })
})

describe("a retail client who becomes a professional", () => {
  it("A2-102: is NORMAL, by the recorded state and by live marks, whatever is forced", () => {
    assert.isNull(toProfessional("600"))
    assert.match(sentence(toProfessional("599.999999")) ?? "", /^The account is in MARGIN_CALL:/)
    assert.match(sentence(toProfessional("600", "MARGIN_CALL")) ?? "", /^The account is in MARGIN_CALL:/)
    assert.match(sentence(toProfessional("600", "CLOSE_OUT")) ?? "", /^The account is in CLOSE_OUT:/)
  })
})
