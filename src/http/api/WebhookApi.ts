/**
 * The partner's webhook: its address, the test event and the log of deliveries. webhookEvents.ts describes the deliveries (doc
 * 3, Webhook and Webhook registration and delivery; A3-29..A3-39, A3-32).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { bodyCaps, pageLimits, webhookUrlMaxLength } from "../../machines/shared/Limits.ts"
import {
  DeliveryPage,
  QueuedTest,
  WebhookRegistration,
  WebhookRemoval,
  WebhookState
} from "../../machines/webhook/WebhookWire.ts"
import { ok } from "./Envelope.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { pageParams } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict } from "./WireErrors.ts"

/** The body of PUT /webhook. */
export const WebhookBody = Schema.Struct({
  url: Schema.String.check(Schema.isMaxLength(webhookUrlMaxLength)).annotate({
    description:
      "Absolute https URL on a public host: no user name, password or fragment. Any port. It is kept in its normalised form."
  })
}).annotate({ identifier: "WebhookBody" })

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
      success: ok(WebhookRemoval),
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
      success: ok(QueuedTest),
      error: [BadRequest, Conflict]
    })
      .annotate(RouteRules, { ...writes, idempotent: true, bodyless: true })
      .annotateMerge(
        OpenApi.annotations({ summary: "Queue a webhook.test delivery", description: "409 while the webhook is off." })
      ),
    HttpApiEndpoint.get("deliveries", "/webhook/deliveries", {
      query: pageParams(pageLimits.deliveries),
      success: ok(DeliveryPage),
      error: BadRequest
    }).annotateMerge(
      OpenApi.annotations({
        summary: "The delivery log, newest first",
        description:
          "Every webhook that was queued: its event, attempts, the last answer's status or error, and when the next attempt is due. nextBefore is the before of the next page, null on the last one."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Webhook", description: "The partner's endpoint for events." })) {}
