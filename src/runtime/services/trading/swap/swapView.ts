/** The partners' view of staking swaps (doc 2, Swap; STS-7). */
import { currencyFacts } from "../../../../machines/shared/Currency.ts"
import { decimalText, formatAmount, minorOf, MoneyDecimal } from "../../../../machines/shared/Money.ts"
import { progressOfSwap, termsOfSwap } from "../../../../machines/swap/Swap.ts"
import { commissionOn, expectedPayout, outstandingOf } from "../../../../machines/swap/swapFigures.ts"
import type { SwapWire } from "../../../../machines/swap/SwapWire.ts"
import type { SwapRow } from "../../../tables/swap.ts"

export const swapWire = ({ id, state, context }: SwapRow): SwapWire => {
  const { asset } = context
  const terms = termsOfSwap(context)
  const amount = (minor: bigint): string => formatAmount(minor, asset)
  const whole = (text: string): string => amount(minorOf(text, asset))
  // A rejected take has no expected payment.
  const outstanding = state === "REJECTED" ? 0n : outstandingOf(terms, progressOfSwap(context))
  return {
    swapId: id,
    // 0: confirmed manually by staff, no venue id yet.
    contractId: context.contractId === 0 ? null : context.contractId,
    tradeId: context.tradeId,
    offerId: context.offerId,
    symbol: context.symbol,
    name: context.name,
    asset,
    venueAsset: asset,
    displayDecimals: currencyFacts[asset].displayDecimals,
    qty: context.qty,
    notional: context.notional,
    rateBps: context.rateBps,
    ratePct: decimalText(new MoneyDecimal(context.rateBps).div(100), 2),
    tenorDays: context.tenorDays,
    reward: context.reward,
    fee: context.fee,
    expectedPayout: amount(expectedPayout(terms)),
    state,
    openedTs: context.openedTs,
    maturityTs: context.maturityTs,
    closedTs: context.closedTs,
    paid: whole(context.paid),
    outstanding: amount(outstanding),
    claim: amount(state === "DEFAULTED" ? outstanding : 0n),
    writtenOff: whole(context.writtenOff),
    recovered: whole(context.recovered),
    commission: whole(context.commission),
    commissionRewardBps: context.commissionRewardBps,
    estimatedCommission: amount(commissionOn(terms.reward, terms.commissionRewardBps)),
    settleReason: context.settleReason,
    rejectReason: context.rejectReason,
    ts: context.ts,
    createdAt: context.createdAt
  }
}
