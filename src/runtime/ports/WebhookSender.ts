/**
 * One attempt to send a delivery to its endpoint. A port: `HttpsWebhookSender` connects, simulations answer from memory. The
 * secret and url are the current ones at the time of sending; the sender signs (doc 3, Webhook registration and delivery).
 */
import { Context, type Effect } from "effect"

export interface OutgoingWebhook {
  readonly deliveryId: number
  readonly event: string
  /** The stored body: every attempt sends the same bytes (A3-30). */
  readonly body: string
  readonly url: string
  /** The key of the signature; the whole string with its prefix is the key (A3-29). */
  readonly secret: string
}

/** The result of an attempt. `error` is a sentence for the delivery log of at most 256 bytes, without secrets. */
export type SendOutcome =
  | { readonly _tag: "Acknowledged"; readonly status: number }
  | { readonly _tag: "Failed"; readonly status: number | null; readonly error: string }

export class WebhookSender extends Context.Service<
  WebhookSender,
  {
    /** Makes one attempt. Never fails: every failure is an outcome. An interrupt aborts the attempt. */
    send(webhook: OutgoingWebhook): Effect.Effect<SendOutcome>
  }
>()("brokerage/runtime/ports/WebhookSender") {}
