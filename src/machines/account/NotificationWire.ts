/**
 * A client's notification feed as partners poll it, declared once for the contract and for the service (doc 2, Other account
 * reads; A2-64, EVT-10).
 */
import { Schema } from "effect"
import type { NotificationKind } from "../Effects.ts"
import { notificationLimits } from "../shared/Limits.ts"

/**
 * Descriptions of each kind of notification: its cause, and the object that its `ref` names. A new kind does not compile
 * until it is described here.
 */
const meanings: { readonly [K in NotificationKind]: string } = {
  VERIFICATION_DECISION: "a verification decision on the service's side (ref: the client, or the code of a block)",
  RESTRICTION_SET: "a restriction was engaged (ref: its name)",
  RESTRICTION_LIFTED: "a restriction was lifted (ref: its name)",
  MONEY_MOVEMENT: "a money movement on the service's own rails ended (ref: its id)",
  APPROPRIATENESS_RETAKE: "the appropriateness test must be taken again (ref: the client)",
  BARRIER_OPENED: "a contract was opened (ref: contractId)",
  BARRIER_NEAR_TP: "the mark is within 10 basis points of a contract's take profit (ref: contractId)",
  BARRIER_NEAR_KO: "the mark is within 10 basis points of a contract's barrier (ref: contractId)",
  BARRIER_EXPIRY_SOON: "a contract expires within 20 minutes (ref: contractId)",
  STATEMENT_READY: "a statement was generated (ref: statementId)",
  BARRIER_SETTLED: "a contract ended and was settled (ref: contractId)",
  SWAP_SETTLED: "a staking swap paid out: matured, cured or settled with its market (ref: swapId)",
  SWAP_DEFAULTED: "the writer of a staking swap fell short (ref: swapId)",
  RFQ_EXPIRED: "a request's quoting window elapsed (ref: rfqId)",
  MARGIN_CALL: "the account's risk state became MARGIN_CALL (ref: the client)",
  CLOSE_OUT: "the account's risk state became CLOSE_OUT (ref: the client)",
  LEVERAGE_LOSS_10:
    "the loss of a perpetual position reached another ten percent of the margin at entry, once a step and UTC day (ref: the symbol)",
  ORDER_FILLED: "an order was filled to the last lot (ref: orderId)",
  ORDER_REJECTED: "the venue refused an order (ref: orderId)"
}

const kinds = Object.entries(meanings)
  .map(([kind, meaning]) => `${kind}: ${meaning}`)
  .join("; ")

export const NotificationWire = Schema.Struct({
  kind: Schema.String.annotate({ description: `New kinds may be added. ${kinds}.` }),
  ref: Schema.String.annotate({ description: "The object that it is about." }),
  ts: Schema.Int.annotate({ description: "When it happened, Unix ms." }),
  event: Schema.NullOr(Schema.String).annotate({
    description: "The webhook event that stands for the kind; null: it is polled here alone."
  })
}).annotate({ identifier: "Notification" })
export type NotificationWire = typeof NotificationWire.Type

/** The data of the answer to GET .../notifications. */
export const NotificationsWire = Schema.Struct({
  items: Schema.Array(NotificationWire).annotate({
    description: `Oldest first, at most ${notificationLimits.answerMax}.`
  }),
  since: Schema.Int.annotate({ description: "From when the answer is, inclusive, Unix ms." }),
  asOf: Schema.Int.annotate({ description: "When it was read, Unix ms." })
})
export type NotificationsWire = typeof NotificationsWire.Type
