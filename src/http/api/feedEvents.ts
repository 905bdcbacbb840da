/**
 * Descriptions of the webhook events that the sweep derives from the clients' notification feeds, for the OpenAPI document.
 * They have the shape of webhookEvents.ts. The compiler rejects a missing event (doc 3, events derived from the feed).
 */
import { Schema } from "effect"
import type { FeedEventName, ForwardedKind } from "../../machines/Effects.ts"
import { feedEventOf } from "../../machines/webhook/feedEventOf.ts"

const summaries: { readonly [E in FeedEventName]: string } = {
  "client.verification_decision": "A verification decision was taken on the service's side",
  "margin.restriction_set": "A restriction was engaged on the account",
  "margin.restriction_lifted": "A restriction was lifted",
  "money.movement": "A money movement on the service's own rails reached a terminal state",
  "barrier.near_take_profit": "The mark is within 10 basis points of an open contract's take profit",
  "barrier.near_barrier": "The mark is within 10 basis points of an open contract's barrier",
  "barrier.expiry_soon": "An open contract expires in 20 minutes, or was opened closer to its expiry",
  "swap.settled": "A staking swap paid out: at maturity, after a default, or with its delisted market",
  "swap.defaulted": "The writer of a staking swap fell short: what is outstanding stands as a claim",
  "statement.ready": "A statement was generated"
}

const dataOf = (kind: ForwardedKind) =>
  Schema.Struct({
    kind: Schema.Literal(kind),
    ref: Schema.String.annotate({ description: "Id of the object the notification is about." }),
    ts: Schema.Int.annotate({ description: "When it happened, Unix milliseconds." })
  })

/** The summary and the data schema of each event that the sweep derives. */
export const feedEvents: ReadonlyArray<{
  readonly name: FeedEventName
  readonly summary: string
  readonly data: Schema.Top
}> = (Object.entries(feedEventOf) as ReadonlyArray<[ForwardedKind, FeedEventName]>).map(([kind, name]) => ({
  name,
  summary: summaries[name],
  data: dataOf(kind)
}))
