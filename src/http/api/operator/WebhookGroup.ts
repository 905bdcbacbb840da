/** Webhook endpoints and deliveries for operators: list, inspect, retry (operator surface, Back office; D14; A3-35). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { token } from "../../../machines/shared/Fields.ts"
import { Id } from "../../../machines/shared/Ids.ts"
import { pageLimits } from "../../../machines/shared/Limits.ts"
import { WebhookDelivery } from "../../../machines/webhook/Webhook.ts"
import { WebhookState } from "../../../machines/webhook/WebhookWire.ts"
import { admin, everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, Limit, Reference } from "./OperatorFieldSchemas.ts"
import { deliveryStatuses } from "./operatorTokens.ts"

export class WebhookGroup extends HttpApiGroup.make("webhook").add(
  HttpApiEndpoint.get("show", "/partners/:partner/webhook", {
    params: { partner: Reference },
    success: Answer(Schema.Struct({ partnerId: Id, ...WebhookState.fields }))
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("deliveries", "/partners/:partner/webhook/deliveries", {
    params: { partner: Reference },
    query: {
      status: Schema.optionalKey(token("The status", deliveryStatuses)),
      limit: Limit(pageLimits.deliveries.max),
      before: Cursor("The cursor")
    },
    success: Answer(
      Schema.Struct({
        deliveries: Schema.Array(WebhookDelivery),
        hasMore: Schema.Boolean,
        nextBefore: Schema.NullOr(Schema.Int)
      })
    )
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.post("redeliver", "/webhook/deliveries/:deliveryId/redeliver", {
    params: { deliveryId: Reference },
    success: Answer(WebhookDelivery)
  }).pipe(openTo(admin))
) {}
