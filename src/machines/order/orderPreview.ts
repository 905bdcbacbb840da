/** POST .../margin/preview: whether an order would be accepted, with its figures (doc 2, Margin preview; A2-49). */
import { accept, type Refusal, refuse, unverified, type Verdict } from "../shared/Refusal.ts"
import { type OrderFacts, previewGates } from "./orderGates.ts"
import type { MarginPreviewWire, PreviewFigures } from "./OrderWire.ts"

/** The figures of an order without a market or without valid fields. */
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

/**
 * The figures with the verdict of the order's own gates. The order's refusal becomes the preview's reason, even where the order
 * itself would have another status. A CLOSED account and an unreachable venue answer like an order.
 */
export const marginPreviewOf = (facts: OrderFacts, figures: PreviewFigures): Verdict<MarginPreviewWire> => {
  for (const { refusal, previewed } of previewGates) {
    const refused = refusal(facts)
    if (refused !== null) return refuse(previewed ? previewRefusal(refused, figures) : refused)
  }
  return accept({ accepted: true, reason: null, ...figures })
}

/** A refusal in the form of a preview (400 code 4000): its sentence, and the known figures. */
export const previewRefusal = (refusal: Refusal, figures: PreviewFigures = noFigures): Refusal => {
  const sentence = "sentence" in refusal ? refusal.sentence : unverified
  const errors = refusal._tag === "Invalid" ? refusal.errors : null
  // Of the previewed refusals, only the refusal for verification has a code of its own and no reason.
  const reason = "reason" in refusal ? refusal.reason : "VERIFICATION_MISSING"
  return { _tag: "Invalid", reason, sentence, errors, beside: { accepted: false, reason: sentence, ...figures } }
}
