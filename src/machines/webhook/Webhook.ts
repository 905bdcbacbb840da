/**
 * Webhook endpoint and delivery: statuses, what the machines keep, wire rows and the retry ladder (doc 3, Webhook, Webhook
 * registration and delivery; D13, D14, F29, D15).
 */
import { Schema } from "effect"
import { Id } from "../shared/Ids.ts"
import { webhookLimits } from "../shared/Limits.ts"

export const deliveryStatuses = ["PENDING", "RETRYING", "SENT", "FAILED"] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

export interface EndpointInput {
  readonly partnerId: number
}
export interface EndpointContext extends EndpointInput {
  /** The notification feed is forwarded from this time on (sweep cursor), Unix ms. */
  readonly sweepFrom: number
}
export type EndpointEvent =
  | { readonly type: "PUT"; readonly at: number }
  | { readonly type: "DELETE"; readonly at: number }
  | { readonly type: "TEST"; readonly at: number }
  | { readonly type: "PARTNER_CLOSED"; readonly at: number }

export interface DeliveryInput {
  /** When it was queued: it is due at once. */
  readonly nextAt: number
  readonly attempts: number
}
/** A finished attempt: when, and what came of it. */
export interface DeliveryTry {
  /** Unix ms. */
  readonly at: number
  /** HTTP status; null when no answer came. */
  readonly status: number | null
  /** Why it failed; null: the receiver has it. */
  readonly error: string | null
}

export interface DeliveryContext {
  /** Finished attempts, whatever came of them. */
  readonly attempts: number
  /** HTTP status of the last attempt; null when no answer came. */
  readonly lastStatus: number | null
  /** Why the last attempt failed; at most 256 bytes. */
  readonly error: string | null
  readonly sentAt: number | null
  /** The next attempt, Unix ms; null when none is to come. */
  readonly nextAt: number | null
  /** The last attempts, oldest first, those before a redelivery too; at most `keptTries`. */
  readonly tries: ReadonlyArray<DeliveryTry>
}

/** Attempts that a delivery remembers: two times round the ladder. */
export const keptTries = 20
export type DeliveryEvent =
  | { readonly type: "ACKNOWLEDGED"; readonly at: number; readonly status: number }
  | {
      readonly type: "ATTEMPT_FAILED"
      readonly at: number
      readonly status: number | null
      readonly error: string
    }
  | { readonly type: "REDELIVER"; readonly at: number }
  /** No event goes out any more; the commit that closes the partner ends what waits. */
  | { readonly type: "PARTNER_CLOSED"; readonly at: number }

/** Why a delivery ended that nobody will try again. */
export const partnerClosedError = "The partner is closed."

/** Wait before the next attempt after the n-th failed one: 5 s x 2^n, n capped at 7. Milliseconds. */
export const retryDelay = (failedAttempts: number): number =>
  webhookLimits.retryBaseMillis * 2 ** Math.min(failedAttempts, webhookLimits.retryMaxDoublings)

/** One row of the delivery log. */
export const WebhookDelivery = Schema.Struct({
  deliveryId: Id,
  event: Schema.String,
  clientId: Schema.NullOr(Id),
  clientUid: Schema.NullOr(Schema.String),
  status: Schema.Literals(deliveryStatuses),
  attempts: Schema.Int,
  lastStatus: Schema.NullOr(Schema.Int).annotate({ description: "HTTP status of the last attempt." }),
  error: Schema.NullOr(Schema.String).annotate({ description: "Why the last attempt failed." }),
  ts: Schema.Int.annotate({ description: "When it was queued, Unix milliseconds." }),
  sentAt: Schema.NullOr(Schema.Int),
  nextAt: Schema.NullOr(Schema.Int).annotate({ description: "When the next attempt is due, Unix milliseconds." })
})
export type WebhookDelivery = typeof WebhookDelivery.Type
