/** F4, F7, A1-12: the risk of an account, from its state and the facts of one moment. */
import { assert, describe, it } from "@effect/vitest"
import { type AccountRisk, accountRisk } from "../../src/machines/margin/accountRisk.ts"
import { type Facts, noFacts } from "../../src/machines/market/Facts.ts"

const attached: Facts = { ...noFacts, takenAt: 1_700_000_000_000 }

const ofCash = (cash: bigint): Omit<AccountRisk, "riskState" | "shownRiskState"> => ({
  equity: cash,
  closeOutEquity: cash,
  unrealizedPnl: 0n,
  barrierUnrealizedPnl: 0n,
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
  anyExposure: false
})

const rows: ReadonlyArray<
  readonly [string, Readonly<Record<string, bigint>>, Facts, bigint, Pick<AccountRisk, "riskState" | "shownRiskState">]
> = [
  ["nothing at all", {}, noFacts, 0n, { riskState: "NORMAL", shownRiskState: null }],
  ["USDC", { USDC: 12_500_000n }, noFacts, 12_500_000n, { riskState: "NORMAL", shownRiskState: null }],
  ["other money is never margin", { BTC: 100n, EUR: 500n }, noFacts, 0n, { riskState: "NORMAL", shownRiskState: null }],
  ["one micro-USDC short", { USDC: -1n }, noFacts, -1n, { riskState: "CLOSE_OUT", shownRiskState: null }],
  ["with a market: shown", { USDC: 5n }, attached, 5n, { riskState: "NORMAL", shownRiskState: "NORMAL" }],
  ["with a market: short", { USDC: -5n }, attached, -5n, { riskState: "CLOSE_OUT", shownRiskState: "CLOSE_OUT" }]
]

describe("the risk of an account that holds money alone", () => {
  it.each(rows)("%s", (_, money, facts, cash, states) => {
    assert.deepStrictEqual(
      accountRisk({ cashOf: (currency) => money[currency] ?? 0n, contracts: [], accepts: [] }, facts),
      {
        ...ofCash(cash),
        ...states
      }
    )
  })
})
