/**
 * Webhook endpoint and delivery: statuses, the machines' contexts, wire rows and the retry schedule (doc 3, Webhook, Webhook
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
  /** The position in the notification feed from which rows are forwarded (the sweep's cursor), Unix ms. */
  readonly sweepFrom: number
}
export type EndpointEvent =
  | { readonly type: "PUT"; readonly at: number }
  | { readonly type: "DELETE"; readonly at: number }
  | { readonly type: "TEST"; readonly at: number }
  | { readonly type: "PARTNER_CLOSED"; readonly at: number }

export interface DeliveryInput {
  /** The time at which the delivery was queued: it is due at once. */
  readonly nextAt: number
  readonly attempts: number
}
/** A finished attempt, with its time and its result. */
export interface DeliveryTry {
  /** Unix ms. */
  readonly at: number
  /** HTTP status; null without a response. */
  readonly status: number | null
  /** The reason of a failure; null when delivered. */
  readonly error: string | null
}

export interface DeliveryContext {
  /** The number of finished attempts, successful or not. */
  readonly attempts: number
  /** HTTP status of the last attempt; null without a response. */
  readonly lastStatus: number | null
  /** The reason why the last attempt failed, at most 256 bytes; null when it did not. */
  readonly error: string | null
  readonly sentAt: number | null
  /** The time of the next attempt, Unix ms; null when there is none. */
  readonly nextAt: number | null
  /** The last attempts, oldest first, including those before a redelivery; at most `keptTries`. */
  readonly tries: ReadonlyArray<DeliveryTry>
}

/** A delivery stores this many attempts: two full retry schedules. */
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
  /** The partner was closed: its events are not sent any more. The commit that closes the partner ends all waiting deliveries. */
  | { readonly type: "PARTNER_CLOSED"; readonly at: number }

/** The error of deliveries that ended with their partner; they are never retried. */
export const partnerClosedError = "The partner is closed."

/** The pause before the next attempt after the n-th failure, ms: 5 s x 2^n, n at most 7. */
export const retryDelay = (failedAttempts: number): number =>
  webhookLimits.retryBaseMillis * 2 ** Math.min(failedAttempts, webhookLimits.retryMaxDoublings)

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
