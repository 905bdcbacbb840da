/** Handlers of the webhook commands: each is one call of the service that partners use too (operator surface). */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { parseId } from "../../machines/shared/Ids.ts"
import { pageLimits } from "../../machines/shared/Limits.ts"
import { refuse, unknown } from "../../machines/shared/Refusal.ts"
import { Webhooks } from "../../runtime/services/webhooks/Webhooks.ts"
import { DeliveryGroup } from "../api/operator/DeliveryGroup.ts"
import { WebhookGroup } from "../api/operator/WebhookGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer } from "./toOperatorError.ts"

const webhookHandlers = HttpApiBuilder.group(
  OperatorApi,
  "webhook",
  Effect.fnUntraced(function* (handlers) {
    const webhooks = yield* Webhooks
    return handlers.handleAll({
      show: ({ params }) => answer(webhooks.endpointOf(params.partner)),
      deliveries: ({ params, query: { limit = pageLimits.deliveries.default, ...rest } }) =>
        answer(webhooks.deliveriesOf(params.partner, { limit, ...rest })),
      redeliver: ({ params }) =>
        Effect.flatMap(currentCaller, (caller) => {
          const deliveryId = parseId(params.deliveryId)
          return answer(
            deliveryId === undefined
              ? Effect.succeed(refuse(unknown("Delivery")))
              : webhooks.redeliver(caller, deliveryId)
          )
        })
    })
  })
)

const deliveryHandlers = HttpApiBuilder.group(
  OperatorApi,
  "delivery",
  Effect.fnUntraced(function* (handlers) {
    const webhooks = yield* Webhooks
    return handlers.handleAll({
      show: ({ params }) => {
        const deliveryId = parseId(params.deliveryId)
        return answer(
          deliveryId === undefined ? Effect.succeed(refuse(unknown("Delivery"))) : webhooks.delivery(deliveryId)
        )
      }
    })
  })
)

export const delivery = operatorFeature({ api: DeliveryGroup, layer: Layer.empty, handlers: deliveryHandlers })

export const webhook = operatorFeature({ api: WebhookGroup, layer: Layer.empty, handlers: webhookHandlers })
