/**
 * The partners' current endpoints, for the delivery worker and the feed sweep. A PUT changes url and secret of
 * deliveries that are already queued.
 */
import { Context, Effect, Layer } from "effect"
import { Directory } from "../partners/Directory.ts"
import type { EndpointRow } from "../../tables/webhook.ts"

export class WebhookEndpoints extends Context.Service<
  WebhookEndpoints,
  {
    /** The partner's endpoint if it is ACTIVE, otherwise null. */
    readonly find: (partnerId: number) => EndpointRow | null
    /** Every ACTIVE endpoint. */
    readonly active: () => ReadonlyArray<EndpointRow>
  }
>()("brokerage/runtime/services/webhooks/WebhookEndpoints") {
  static readonly layer: Layer.Layer<WebhookEndpoints, never, Directory> = Layer.effect(
    WebhookEndpoints,
    Effect.map(Directory, (directory) => {
      const find = (partnerId: number): EndpointRow | null => {
        const endpoint = directory.partner(partnerId)?.endpoint ?? null
        return endpoint?.state === "ACTIVE" ? endpoint : null
      }
      return WebhookEndpoints.of({
        find,
        active: () => directory.partners().flatMap(({ row }) => find(row.id) ?? [])
      })
    })
  )
}
