/**
 * GET .../account/summary: what trading has brought and cost a client since its account was opened (doc 2, Other
 * account reads; A2-60). Without a trading family attached nothing was ever traded, so every figure is truly zero.
 */
import type { AccountSummaryWire } from "../../../machines/account/AccountWire.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"

const nothing = formatAmount(0n, "USDC")

export const accountSummary = (openedAt: number): AccountSummaryWire => ({
  currency: "USDC",
  realizedPnl: nothing,
  commissionPaid: nothing,
  fundingPaid: nothing,
  tradeCount: 0,
  since: new Date(openedAt).toISOString(),
  sinceTs: openedAt,
  realizedTotal: nothing,
  realizedByFamily: { fills: nothing, spot: nothing, barrier: nothing, staking: nothing },
  commissionByFamily: { fills: nothing, barrier: nothing, staking: nothing },
  counts: { fills: 0, barrierContracts: 0, swapTakes: 0 }
})
