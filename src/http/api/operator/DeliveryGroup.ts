/** One webhook delivery with its payload (operator surface, delivery show; doc 3, Webhook). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Id } from "../../../machines/shared/Ids.ts"
import { WebhookDelivery } from "../../../machines/webhook/Webhook.ts"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Millis, Reference } from "./OperatorFieldSchemas.ts"

export class DeliveryGroup extends HttpApiGroup.make("delivery").add(
  HttpApiEndpoint.get("show", "/webhook/deliveries/:deliveryId", {
    params: { deliveryId: Reference },
    success: Answer(
      Schema.Struct({
        ...WebhookDelivery.fields,
        partnerId: Id,
        /** The current address of the endpoint; null when the partner has none. */
        url: Schema.NullOr(Schema.String),
        /** The body as sent, without the signature. */
        payload: Schema.Json,
        /**
         * The last attempts, oldest first. `error` is the beginning of the response when the response is not 2xx (doc 3,
         * Limits: Failure body).
         */
        tries: Schema.Array(
          Schema.Struct({
            at: Millis,
            status: Schema.NullOr(Schema.Int),
            error: Schema.NullOr(Schema.String)
          })
        )
      })
    )
  }).pipe(openTo(everyone))
) {}
