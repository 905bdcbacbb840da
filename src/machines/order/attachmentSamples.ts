/** Events of the protection of an order: path tests and diagrams use them (D7). */
import { type AttachmentEvent, type AttachmentInput, firstStanding, type Leg, type Standing } from "./Attachment.ts"

/** A purchase with a take profit at 66,000 and a stop at 58,000. */
export const attachmentInput: AttachmentInput = {
  orderId: 1,
  clientId: 1,
  symbol: "BTC-USDC-PERP",
  side: "BUY",
  qtyDecimals: 4,
  takeProfit: { price: "66000.0", limitPrice: null },
  stopLoss: { price: "58000.0", limitPrice: null },
  createdAt: 5,
  updatedAt: 5
}

const leg: Leg = {
  orderId: 4,
  role: "takeProfit",
  round: 1,
  atMarket: false,
  asked: "0.0400",
  askedFor: "0.0400",
  tries: 1,
  standsFor: "0.0400"
}

/** The parent is partly filled, and both legs are sent for that part. */
export const placedStanding: Standing = {
  ...firstStanding,
  filled: "0.0400",
  round: 1,
  legs: [leg, { ...leg, orderId: 5, role: "stopLoss" }]
}
/** The stop has traded; the take profit is being cancelled. */
export const firedStanding: Standing = {
  ...placedStanding,
  dealt: "0.0400",
  taken: "0.0400",
  traded: true,
  legs: [leg]
}
/** Parent and legs have ended. */
export const closedStanding: Standing = { ...firedStanding, parentWorks: false, legs: [] }

export const attachmentSamples: ReadonlyArray<AttachmentEvent> = [
  { type: "PLACE", at: 5, standing: placedStanding },
  { type: "STAND", at: 5, standing: placedStanding },
  { type: "FIRE", at: 5, standing: firedStanding },
  { type: "CLOSE", at: 5, standing: closedStanding },
  { type: "FOLLOW", at: 5, standing: placedStanding }
]
