/**
 * GET .../account/summary: what trading has brought and cost a client since its account was opened (document 2, Other
 * account reads; A2-60). Without a trading family attached nothing was ever traded, so every figure is truly zero.
 */
import { formatAmount } from "../../../machines/shared/Money.ts"

export interface AccountSummaryWire {
  readonly currency: "USDC"
  readonly realizedPnl: string
  readonly commissionPaid: string
  readonly fundingPaid: string
  readonly tradeCount: number
  /** The opening of the account: ISO 8601 and Unix ms. */
  readonly since: string
  readonly sinceTs: number
  readonly realizedTotal: string
  readonly realizedByFamily: {
    readonly fills: string
    readonly spot: string
    readonly barrier: string
    readonly staking: string
  }
  readonly commissionByFamily: { readonly fills: string; readonly barrier: string; readonly staking: string }
  readonly counts: { readonly fills: number; readonly barrierContracts: number; readonly swapTakes: number }
}

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
