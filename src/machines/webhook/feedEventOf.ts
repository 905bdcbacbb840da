/**
 * The webhook event that stands for each kind of the client's notification feed (doc 3, events derived from the feed).
 * Exhaustive: a new kind does not compile until it has its event.
 */
import type { FeedEventName, NotificationKind } from "../Effects.ts"

export const feedEventOf: { readonly [K in NotificationKind]: FeedEventName } = {
  VERIFICATION_DECISION: "client.verification_decision",
  RESTRICTION_SET: "margin.restriction_set",
  RESTRICTION_LIFTED: "margin.restriction_lifted",
  MONEY_MOVEMENT: "money.movement"
}
