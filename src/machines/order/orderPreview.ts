/** POST .../margin/preview: whether an order would be taken, beside its figures (doc 2, Margin preview; A2-49). */
import { accept, type Refusal, refuse, unverified, type Verdict } from "../shared/Refusal.ts"
import { type OrderFacts, previewGates } from "./orderGates.ts"
import type { MarginPreviewWire, PreviewFigures } from "./OrderWire.ts"

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
  // Of what a preview shows, verification alone has a code of its own.
  const reason = "reason" in refusal ? refusal.reason : "VERIFICATION_MISSING"
  return { _tag: "Invalid", reason, sentence, errors, beside: { accepted: false, reason: sentence, ...figures } }
}
