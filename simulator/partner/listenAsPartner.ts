/** Runs and registers a receiver, for `sim partner listen` and the demo of `serve` (operator surface). */
import { Effect, type Redacted, type Scope } from "effect"
import { makePartnerClient, type Unreachable } from "./PartnerClient.ts"
import { registerWebhook, type RegistrationRefused } from "./registerWebhook.ts"
import {
  type ReceiverNotStarted,
  startWebhookReceiver,
  type WebhookReceiver,
  type WebhookReceiverOptions
} from "./WebhookReceiver.ts"

export interface ListenOptions extends WebhookReceiverOptions {
  /** Origin of the service, such as https://localhost:8443. */
  readonly url: string
  /** Partner key with scope TRADE. */
  readonly key: Redacted.Redacted
  /** PEM of the CA to trust for the service; absent: the system's. */
  readonly ca?: string
}

/** Listens until the scope closes. The registration stays, and the service retries failed deliveries. */
export const listenAsPartner = (
  options: ListenOptions
): Effect.Effect<WebhookReceiver, ReceiverNotStarted | RegistrationRefused | Unreachable, Scope.Scope> =>
  Effect.gen(function* () {
    const receiver = yield* startWebhookReceiver(options)
    const { url, key, ca } = options
    const client = makePartnerClient({ origin: () => url, key, connections: 1, ...(ca === undefined ? {} : { ca }) })
    yield* Effect.scoped(Effect.flatMap(client, (partner) => registerWebhook(partner, receiver)))
    return receiver
  })
