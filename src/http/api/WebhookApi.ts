/**
 * The partner's webhook: where events are posted, the test event and the log of deliveries (doc 3, Webhook and Webhook
 * registration and delivery; A3-29..A3-39). What is posted there is described in webhookEvents.ts.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Id } from "../../machines/shared/Ids.ts"
import { pageEnd } from "../../machines/shared/Page.ts"
import { bodyCaps, pageLimits, webhookUrlMaxLength } from "../../machines/shared/Limits.ts"
import { WebhookDelivery } from "../../machines/webhook/Webhook.ts"
import { ok } from "./Envelope.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { pageParams } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict } from "./WireErrors.ts"

const millis = (description: string) => Schema.Int.annotate({ description: `${description}, Unix ms.` })

/** The body of PUT /webhook (A3-32). */
export const WebhookBody = Schema.Struct({
  url: Schema.String.check(Schema.isMaxLength(webhookUrlMaxLength)).annotate({
    description:
      "Absolute https URL on a public host: no user name, password or fragment. Any port. It is kept in its normalised form."
  })
}).annotate({ identifier: "WebhookBody" })

const state = {
  url: Schema.String,
  active: Schema.Boolean,
  createdAt: millis("When a webhook was first registered"),
  updatedAt: millis("When it was last registered or switched off")
}

/** PUT /webhook, data. */
export const WebhookRegistration = Schema.Struct({
  url: state.url,
  secret: Schema.String.annotate({
    description: "whs_ and 43 characters: the key of X-Brokerage-Signature, prefix included. Shown in this answer only."
  }),
  active: state.active,
  createdAt: state.createdAt,
  updatedAt: state.updatedAt
}).annotate({ identifier: "WebhookRegistration" })

/** GET /webhook, data. */
export const WebhookState = Schema.Struct({
  ...state,
  lastDeliveryAt: Schema.NullOr(millis("When a delivery was last acknowledged")),
  pending: Schema.Int.annotate({ description: "Deliveries still to be acknowledged: PENDING and RETRYING." })
}).annotate({ identifier: "WebhookState" })

const writes = { idempotent: false, reliance: false, bodyCap: bodyCaps.webhook } as const

export class WebhookApi extends HttpApiGroup.make("webhook")
  .add(
    HttpApiEndpoint.put("register", "/webhook", {
      payload: WebhookBody,
      success: ok(WebhookRegistration),
      error: BadRequest
    })
      .annotate(RouteRules, writes)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Register or replace the webhook",
          description:
            "Every call makes a new secret, which signs from then on, what is queued already included. A refused url leaves the previous registration as it is. The body may have up to 16 KB."
        })
      ),
    HttpApiEndpoint.get("get", "/webhook", { success: ok(WebhookState) }).annotateMerge(
      OpenApi.annotations({ summary: "The webhook as it is registered", description: "404 when none ever was." })
    ),
    HttpApiEndpoint.delete("remove", "/webhook", {
      success: ok(Schema.Struct({ active: Schema.Literal(false), updatedAt: state.updatedAt })),
      error: BadRequest
    })
      .annotate(RouteRules, { ...writes, bodyless: true })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Switch the webhook off",
          description:
            "Nothing is queued or sent any more; what is queued waits for the next registration. 404 when none ever was registered."
        })
      ),
    HttpApiEndpoint.post("test", "/webhook/test", {
      headers: idempotencyHeaders,
      success: ok(
        Schema.Struct({
          deliveryId: Id,
          event: Schema.Literal("webhook.test"),
          queuedAt: millis("When it was queued")
        })
      ),
      error: [BadRequest, Conflict]
    })
      .annotate(RouteRules, { ...writes, idempotent: true, bodyless: true })
      .annotateMerge(
        OpenApi.annotations({ summary: "Queue a webhook.test delivery", description: "409 while the webhook is off." })
      ),
    HttpApiEndpoint.get("deliveries", "/webhook/deliveries", {
      query: pageParams(pageLimits.deliveries),
      success: ok(
        Schema.Struct({
          deliveries: Schema.Array(WebhookDelivery.annotate({ identifier: "WebhookDelivery" })),
          ...pageEnd
        })
      ),
      error: BadRequest
    }).annotateMerge(OpenApi.annotations({ summary: "The delivery log, newest first" }))
  )
  .annotateMerge(OpenApi.annotations({ title: "Webhook", description: "The partner's endpoint for events." })) {}
