/** POST .../margin/preview: whether an order would be taken, beside its figures (doc 2, Margin preview; A2-49). */
import type { Currency } from "../shared/Currency.ts"
import { formatAmount } from "../shared/Money.ts"
import { accept, type Refusal, refuse, unverified, type Verdict } from "../shared/Refusal.ts"
import { type OrderFacts, previewGates } from "./orderGates.ts"
import type { MarginPreviewWire, PreviewFigures } from "./OrderWire.ts"
import type { PreTrade } from "./preTrade.ts"

/** Where nothing could be worked out: the order has no market, or no valid fields. */
export const noFigures: PreviewFigures = {
  reservation: null,
  orderValue: null,
  marginRequired: null,
  leverage: null,
  freeMarginBefore: null,
  freeMarginAfter: null,
  marginLevelAfter: null,
  estLiquidationPrice: null,
  equityBefore: null,
  initialMarginBefore: null,
  initialMarginAfter: null,
  estimatedCommission: null,
  slippageAllowance: null,
  estimatedCosts: null
}

/** The figures of a pre-trade check as they are shown, each in its currency's scale (F13, F20). */
export const previewFiguresOf = (pre: PreTrade): PreviewFigures => {
  const paid = (minor: bigint | null): string | null => amountIn(minor, pre.currency)
  const usdc = (minor: bigint | null): string | null => amountIn(minor, "USDC")
  return {
    reservation: amountIn(pre.reservation, pre.reservationCurrency),
    orderValue: paid(pre.orderValue),
    marginRequired: usdc(pre.marginRequired),
    leverage: pre.leverage,
    freeMarginBefore: usdc(pre.freeMarginBefore),
    freeMarginAfter: usdc(pre.freeMarginAfter),
    marginLevelAfter: pre.marginLevelAfter,
    estLiquidationPrice: pre.estLiquidationPrice,
    equityBefore: usdc(pre.equityBefore),
    initialMarginBefore: usdc(pre.initialMarginBefore),
    initialMarginAfter: usdc(pre.initialMarginAfter),
    estimatedCommission: paid(pre.estimatedCommission),
    slippageAllowance: paid(pre.slippageAllowance),
    estimatedCosts: paid(pre.estimatedCosts)
  }
}

const amountIn = (minor: bigint | null, currency: Currency): string | null =>
  minor === null ? null : formatAmount(minor, currency)

/**
 * The figures with the verdict of the order's own gates. What the order would be refused with is the preview's reason, also
 * where the order itself has another status; a CLOSED account and a venue out of reach answer as they do to an order.
 */
export const marginPreviewOf = (facts: OrderFacts, figures: PreviewFigures): Verdict<MarginPreviewWire> => {
  for (const { refusal, previewed } of previewGates) {
    const refused = refusal(facts)
    if (refused !== null) return refuse(previewed ? previewRefusal(refused, figures) : refused)
  }
  return accept({ accepted: true, reason: null, ...figures })
}

/** A refusal as a preview says it (400 code 4000): its sentence, and whatever figures there are. */
export const previewRefusal = (refusal: Refusal, figures: PreviewFigures = noFigures): Refusal => {
  const sentence = "sentence" in refusal ? refusal.sentence : unverified
  const errors = refusal._tag === "Invalid" ? refusal.errors : null
  return { _tag: "Invalid", sentence, errors, beside: { accepted: false, reason: sentence, ...figures } }
}
