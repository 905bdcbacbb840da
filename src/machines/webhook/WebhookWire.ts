/** The webhook on the wire, declared once for the contract and for the services (doc 3, Webhook; A3-29, A3-31, A3-39). */
import { Schema } from "effect"
import { Id } from "../shared/Ids.ts"
import { pageEnd } from "../shared/Page.ts"
import { WebhookDelivery } from "./Webhook.ts"

const millis = (description: string) => Schema.Int.annotate({ description: `${description}, Unix ms.` })

const endpoint = {
  url: Schema.String,
  active: Schema.Boolean,
  createdAt: millis("When a webhook was first registered"),
  updatedAt: millis("When it was last registered or switched off")
}
export type WebhookEndpoint = Schema.Struct.Type<typeof endpoint>

/** The data of the answer to PUT /webhook. */
export const WebhookRegistration = Schema.Struct({
  url: endpoint.url,
  secret: Schema.String.annotate({
    description: "whs_ and 43 characters: the key of X-Brokerage-Signature, prefix included. Shown in this answer only."
  }),
  active: endpoint.active,
  createdAt: endpoint.createdAt,
  updatedAt: endpoint.updatedAt
}).annotate({ identifier: "WebhookRegistration" })
export type WebhookRegistration = typeof WebhookRegistration.Type

/** Figures that GET /webhook adds to the endpoint, counted over the delivery log. */
const figures = {
  lastDeliveryAt: Schema.NullOr(millis("When a delivery was last acknowledged")),
  pending: Schema.Int.annotate({ description: "Deliveries still to be acknowledged: PENDING and RETRYING." })
}
export type WebhookFigures = Schema.Struct.Type<typeof figures>

/** The data of the answer to GET /webhook. */
export const WebhookState = Schema.Struct({ ...endpoint, ...figures }).annotate({ identifier: "WebhookState" })
export type WebhookState = typeof WebhookState.Type

/** The data of the answer to DELETE /webhook. */
export const WebhookRemoval = Schema.Struct({ active: Schema.Literal(false), updatedAt: endpoint.updatedAt })
export type WebhookRemoval = typeof WebhookRemoval.Type

/** The data of the answer to POST /webhook/test. */
export const QueuedTest = Schema.Struct({
  deliveryId: Id,
  event: Schema.Literal("webhook.test"),
  queuedAt: millis("When it was queued")
})
export type QueuedTest = typeof QueuedTest.Type

/** The data of the answer to GET /webhook/deliveries: newest first. */
export const DeliveryPage = Schema.Struct({
  deliveries: Schema.Array(WebhookDelivery.annotate({ identifier: "WebhookDelivery" })),
  ...pageEnd
})
export type DeliveryPage = typeof DeliveryPage.Type
