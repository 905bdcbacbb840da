/** Everything that runs in the background for webhooks on Postgres: delivery worker, feed sweep, retention of the log, the end of closed partners' deliveries. */
import { Layer } from "effect"
import { layerClosedDeliveries } from "./ClosedDeliveries.ts"
import { DeliveryRetention } from "./DeliveryRetention.ts"
import { DeliveryStorePg } from "./DeliveryStorePg.ts"
import { DeliveryWorker, type DeliveryWorkerOptions } from "./DeliveryWorker.ts"
import { FeedSourcePg } from "./FeedSource.ts"
import { FeedSweep } from "./FeedSweep.ts"
import { HttpsWebhookSender, type HttpsWebhookSenderOptions } from "./HttpsWebhookSender.ts"
import { WebhookEndpoints } from "./WebhookEndpoints.ts"

/** `name`: unique among the processes on one database. */
export const layerWebhookWorkers = (options: DeliveryWorkerOptions & HttpsWebhookSenderOptions) =>
  Layer.mergeAll(DeliveryWorker.layer(options), FeedSweep.layer, DeliveryRetention.layer, layerClosedDeliveries).pipe(
    Layer.provide(
      Layer.mergeAll(
        DeliveryStorePg.layer,
        HttpsWebhookSender.layer(options),
        FeedSourcePg.layer,
        WebhookEndpoints.layer
      )
    )
  )
