/** POST .../margin/preview: whether an order would be accepted, with its figures (doc 2, Margin preview; A2-49). */
import { accept, type Refusal, refuse, unverified, type Verdict } from "../shared/Refusal.ts"
import { type OrderFacts, previewGates } from "./orderGates.ts"
import type { MarginPreviewWire, PreviewFigures } from "./OrderWire.ts"

/** A preview without figures, for an order whose market or fields are invalid. */
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
 * The preview's figures, with the verdict of the order's own gates. A refusal of the order becomes the preview's reason with
 * status 400, even where placing the order has another status. A CLOSED account and an unreachable venue refuse the preview
 * as they refuse an order.
 */
export const marginPreviewOf = (facts: OrderFacts, figures: PreviewFigures): Verdict<MarginPreviewWire> => {
  for (const { refusal, previewed } of previewGates) {
    const refused = refusal(facts)
    if (refused !== null) return refuse(previewed ? previewRefusal(refused, figures) : refused)
  }
  return accept({ accepted: true, reason: null, ...figures })
}

/** A refusal in the form of a preview (400 code 4000): the sentence, and the known figures. */
export const previewRefusal = (refusal: Refusal, figures: PreviewFigures = noFigures): Refusal => {
  const sentence = "sentence" in refusal ? refusal.sentence : unverified
  const errors = refusal._tag === "Invalid" ? refusal.errors : null
  // A refusal by verification is the only one of a preview without a reason token, so the token is added here.
  const reason = "reason" in refusal ? refusal.reason : "VERIFICATION_MISSING"
  return { _tag: "Invalid", reason, sentence, errors, beside: { accepted: false, reason: sentence, ...figures } }
}
