/**
 * GET .../account/summary: profit and cost of a client's trading since the account was opened, from the client's
 * running totals (A2-60, STS-11).
 */
import {
  type AccountTotals,
  commissionTotal,
  noTotals,
  realizedTotal
} from "../../../machines/account/accountTotals.ts"
import type { AccountSummaryWire } from "../../../machines/account/AccountWire.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"

const usdc = (minor: bigint): string => formatAmount(minor, "USDC")

/** `openedAt` is Unix ms; `funding` is the booked sum, micro-USDC from the client's view. */
export const accountSummary = (
  openedAt: number,
  totals: AccountTotals = noTotals,
  funding = 0n
): AccountSummaryWire => {
  const { fills, fillsPnl, spotPnl, barrierPnl, stakingPnl, contracts, swapTakes } = totals
  const { fillsCommission, barrierCommission, stakingCommission } = totals
  return {
    currency: "USDC",
    realizedPnl: usdc(fillsPnl),
    commissionPaid: usdc(commissionTotal(totals)),
    fundingPaid: usdc(-funding),
    tradeCount: fills,
    since: new Date(openedAt).toISOString(),
    sinceTs: openedAt,
    realizedTotal: usdc(realizedTotal(totals)),
    realizedByFamily: {
      fills: usdc(fillsPnl),
      spot: usdc(spotPnl),
      barrier: usdc(barrierPnl),
      staking: usdc(stakingPnl)
    },
    commissionByFamily: {
      fills: usdc(fillsCommission),
      barrier: usdc(barrierCommission),
      staking: usdc(stakingCommission)
    },
    counts: { fills, barrierContracts: contracts, swapTakes }
  }
}
