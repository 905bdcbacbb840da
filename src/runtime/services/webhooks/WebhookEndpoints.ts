/**
 * The partners' current endpoints, for the delivery worker and the feed sweep: a PUT between queueing and sending
 * changes url and secret of queued deliveries.
 */
import { Context, Effect, Layer } from "effect"
import { Directory } from "../partners/Directory.ts"
import type { EndpointRow } from "../../tables/webhook.ts"

export class WebhookEndpoints extends Context.Service<
  WebhookEndpoints,
  {
    /** The partner's endpoint while it is ACTIVE, else null. */
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
