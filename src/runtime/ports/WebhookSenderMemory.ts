/** Attempts without a network, for tests and deterministic simulation: a function is the receiver. */
import { Effect, Layer } from "effect"
import { type OutgoingWebhook, type SendOutcome, WebhookSender } from "./WebhookSender.ts"

/**
 * The reaction of a receiver: the status of its response, `Silent` for a timeout, `Unreachable` for a failed connection.
 */
export type Received = number | "Silent" | "Unreachable"

export const WebhookSenderMemory = {
  layer: (receive: (webhook: OutgoingWebhook) => Effect.Effect<Received>): Layer.Layer<WebhookSender> =>
    Layer.succeed(WebhookSender, WebhookSender.of({ send: (webhook) => Effect.map(receive(webhook), outcomeOf) }))
}

const outcomeOf = (received: Received): SendOutcome => {
  if (received === "Silent") return { _tag: "Failed", status: null, error: "The endpoint did not answer in time." }
  if (received === "Unreachable") return { _tag: "Failed", status: null, error: "The connection failed." }
  return received >= 200 && received < 300
    ? { _tag: "Acknowledged", status: received }
    : { _tag: "Failed", status: received, error: `The endpoint answered ${received}.` }
}
