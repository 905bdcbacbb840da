/**
 * GET .../account/summary: what trading has brought and cost a client since its account was opened (doc 2, Other
 * account reads; A2-60). Its own totals and nothing else: no swap is offered.
 */
import type { AccountSummaryWire } from "../../../machines/account/AccountWire.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"
import { noTotals } from "./accountTotals.ts"

const usdc = (minor: bigint): string => formatAmount(minor, "USDC")
const nothing = usdc(0n)

/** `openedAt` is Unix ms; `funding` is what was posted of it, micro-USDC from the client's view. */
export const accountSummary = (
  openedAt: number,
  totals: typeof noTotals = noTotals,
  funding = 0n
): AccountSummaryWire => {
  const { fills, fillsPnl, spotPnl, barrierPnl, fillsCommission, barrierCommission, contracts } = totals
  return {
    currency: "USDC",
    realizedPnl: usdc(fillsPnl),
    commissionPaid: usdc(fillsCommission + barrierCommission),
    fundingPaid: usdc(-funding),
    tradeCount: fills,
    since: new Date(openedAt).toISOString(),
    sinceTs: openedAt,
    realizedTotal: usdc(fillsPnl + spotPnl + barrierPnl),
    realizedByFamily: { fills: usdc(fillsPnl), spot: usdc(spotPnl), barrier: usdc(barrierPnl), staking: nothing },
    commissionByFamily: { fills: usdc(fillsCommission), barrier: usdc(barrierCommission), staking: nothing },
    counts: { fills, barrierContracts: contracts, swapTakes: 0 }
  }
}
