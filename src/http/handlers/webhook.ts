/** The partner's webhook. The service refuses reads before the first registration (doc 3, Webhook). */
import { Effect, Layer } from "effect"
import { DeliveryFigures } from "../../runtime/ports/DeliveryFigures.ts"
import { Webhooks } from "../../runtime/services/webhooks/Webhooks.ts"
import { WebhookApi } from "../api/WebhookApi.ts"
import { toWire } from "../../machines/shared/wireRefusal.ts"
import { feature, handlersOf } from "./feature.ts"
import { done, orRefused, write } from "./handler.ts"

export const webhook = feature({
  api: WebhookApi,
  layer: Webhooks.layer.pipe(Layer.provide(DeliveryFigures.layer)),
  handlers: Effect.map(Webhooks, (webhooks) =>
    handlersOf(WebhookApi, {
      register: write(({ caller, body }) => webhooks.register(caller, body)),
      get: ({ caller }) => Effect.map(webhooks.get(caller.partner.row.id), orRefused),
      remove: write(({ caller }) => webhooks.remove(caller)),
      test: write(({ caller }, store) => webhooks.test(caller, store), {
        lookUp: ({ caller }) =>
          Effect.map(webhooks.get(caller.partner.row.id), (found) => (found.ok ? null : toWire(found.refusal)))
      }),
      deliveries: ({ caller, query }) => Effect.map(webhooks.deliveries(caller.partner.row.id, query), done)
    })
  )
})
