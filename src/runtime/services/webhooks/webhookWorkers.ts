/**
 * All background work for webhooks: delivery worker, feed sweep, retention of the log, and the end of deliveries of
 * closed partners.
 */
import { Layer } from "effect"
import { layerClosedDeliveries } from "./ClosedDeliveries.ts"
import { DeliveryRetention } from "./DeliveryRetention.ts"
import { DeliveryStore } from "../../ports/DeliveryStore.ts"
import { DeliveryWorker, type DeliveryWorkerOptions } from "./DeliveryWorker.ts"
import { FeedSource } from "../../ports/FeedSource.ts"
import { FeedSweep } from "./FeedSweep.ts"
import { HttpsWebhookSender, type HttpsWebhookSenderOptions } from "./HttpsWebhookSender.ts"
import { WebhookEndpoints } from "./WebhookEndpoints.ts"

/** `name`: unique among the processes on one database. */
export const layerWebhookWorkers = (options: DeliveryWorkerOptions & HttpsWebhookSenderOptions) =>
  Layer.mergeAll(DeliveryWorker.layer(options), FeedSweep.layer, DeliveryRetention.layer, layerClosedDeliveries).pipe(
    Layer.provide(
      Layer.mergeAll(DeliveryStore.layer, HttpsWebhookSender.layer(options), FeedSource.layer, WebhookEndpoints.layer)
    )
  )
