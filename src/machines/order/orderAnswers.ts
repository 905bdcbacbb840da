/** Refusals of placing and cancelling an order that is already stored (doc 2, Orders; A2-32, A2-92). */
import { type Refusal, venueNotReached } from "../shared/Refusal.ts"
import { notReceived } from "../venue/venueCalls.ts"
import type { PlacedWire } from "./OrderWire.ts"

const notKnown = "The venue has not answered yet: the order is in flight and is resolved by itself."

/** The answer to an order that was stored and then rejected: 502 if the venue never received it, else 400 with the reason. */
export const orderRejected = (
  { orderId, clOrdId }: Pick<PlacedWire, "orderId" | "clOrdId">,
  reason: string | null
): Refusal => {
  const order = { orderId, clOrdId, state: "REJECTED" } as const
  if (reason === notReceived) return venueNotReached(order)
  const sentence = `The venue has refused the order: ${reason ?? "no reason was given"}.`
  return { _tag: "Invalid", reason: "REFUSED_BY_VENUE", sentence, errors: null, beside: order }
}

/** The refusal 502 for an order or a cancel whose outcome at the venue is unknown. */
export const orderUnanswered = ({ orderId, clOrdId, state }: PlacedWire): Refusal => ({
  _tag: "VenueAway",
  reason: "OUTCOME_PENDING",
  sentence: notKnown,
  data: { orderId, clOrdId, state }
})
