/** The partners' view of knock-out contracts: terms, figures at the present mark, and the end (doc 2; F16). */
import { liveFigures } from "../../../../machines/contract/contractFigures.ts"
import type { ContractWire } from "../../../../machines/contract/ContractWire.ts"
import { type Facts, isFresh } from "../../../../machines/market/Facts.ts"
import { decimalText, formatAmount } from "../../../../machines/shared/Money.ts"
import type { ContractRow } from "../../../tables/contract.ts"
import { termsOf } from "../../account/contractHoldings.ts"

export const contractWire = (row: ContractRow, facts: Facts, now: number): ContractWire => {
  const { context } = row
  return {
    contractId: row.id,
    symbol: context.symbol,
    side: context.side,
    qty: context.qty,
    entry: context.entry,
    barrierLevel: context.barrier,
    takeProfit: context.takeProfit,
    expiryTs: context.expiryTs,
    expiresInMs: Math.max(0, context.expiryTs - now),
    state: row.state,
    openedAt: context.openedAt,
    closedAt: context.closedAt,
    settlePrice: context.settlePrice,
    pnl: context.pnl,
    ...(row.state === "OPEN" ? liveOf(row, facts, now) : notLive),
    maxLoss: context.premium,
    premium: context.premium,
    potentialProfit: context.potentialProfit,
    leverage: context.leverage,
    commission: context.commission,
    notional: context.notional,
    venueRfqId: context.venueRfqId,
    rfqId: context.rfqId,
    closeReason: context.closeReason,
    closeRfqId: context.closeRfqId,
    strictTakeProfit: context.strict,
    premiumBps: context.premiumBps,
    currency: "USDC"
  }
}

const notLive = {
  mark: null,
  markFresh: null,
  distanceAbs: null,
  distancePct: null,
  distanceToTpAbs: null,
  distanceToTpPct: null,
  unrealizedPnl: null,
  requirement: null
} as const

const liveOf = (row: ContractRow, { marks }: Facts, now: number) => {
  const mark = marks.get(row.symbol)
  if (mark === undefined) return { ...notLive, markFresh: false }
  const { priceDecimals: places } = row.context
  const { unrealizedPnl, requirement, ...distances } = liveFigures(termsOf(row), { price: mark.price, places })
  return {
    mark: decimalText(mark.price, places),
    markFresh: isFresh(mark, now),
    ...distances,
    unrealizedPnl: formatAmount(unrealizedPnl, "USDC"),
    requirement: formatAmount(requirement, "USDC")
  }
}
