/**
 * The webhook event of each forwarded kind of the client's notification feed. Exhaustive: a new forwarded kind does not
 * compile until it has an event. Partners poll the other kinds (doc 3, events derived from the feed; A2-64).
 */
import type { FeedEventName, ForwardedKind } from "../Effects.ts"

export const feedEventOf: { readonly [K in ForwardedKind]: FeedEventName } = {
  VERIFICATION_DECISION: "client.verification_decision",
  RESTRICTION_SET: "margin.restriction_set",
  RESTRICTION_LIFTED: "margin.restriction_lifted",
  MONEY_MOVEMENT: "money.movement",
  BARRIER_NEAR_TP: "barrier.near_take_profit",
  BARRIER_NEAR_KO: "barrier.near_barrier",
  BARRIER_EXPIRY_SOON: "barrier.expiry_soon",
  SWAP_SETTLED: "swap.settled",
  SWAP_DEFAULTED: "swap.defaulted",
  STATEMENT_READY: "statement.ready"
}

/** The webhook event of a stored notification; null when its kind is polled, or comes from a newer version of the service. */
export const eventOfKind = (kind: string): FeedEventName | null =>
  Object.hasOwn(feedEventOf, kind) ? feedEventOf[kind as ForwardedKind] : null
