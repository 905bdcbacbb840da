/** What placing and cancelling an order are refused with once the order is stored (doc 2, Orders; A2-32, A2-92). */
import type { Refusal } from "../shared/Refusal.ts"
import type { PlacedWire } from "./OrderWire.ts"

const notKnown = "The venue has not answered yet: the order is in flight and is resolved by itself."

/** 400 of an order that was stored and then refused, by the venue in its own words or by us. */
export const orderRejected = (
  { orderId, clOrdId }: Pick<PlacedWire, "orderId" | "clOrdId">,
  sentence: string
): Refusal => ({
  _tag: "Invalid",
  reason: "REFUSED_BY_VENUE",
  sentence,
  errors: null,
  beside: { orderId, clOrdId, state: "REJECTED" }
})

/** 502 of an order, or of its cancel, whose outcome at the venue is not known yet. */
export const orderUnanswered = ({ orderId, clOrdId, state }: PlacedWire): Refusal => ({
  _tag: "VenueAway",
  reason: "OUTCOME_PENDING",
  sentence: notKnown,
  data: { orderId, clOrdId, state }
})
