/**
 * The two figures of GET /webhook that count the delivery log. A port, so that the registration runs without a database too (doc
 * 3, Webhook; A3-31, A3-39).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { WebhookFigures } from "../../machines/webhook/WebhookWire.ts"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import { withinTime } from "../engine/withinTime.ts"
import { deliveryFigures } from "../store/reads/deliveryReads.ts"
import { whenAway } from "../store/whenAway.ts"

export class DeliveryFigures extends Context.Service<
  DeliveryFigures,
  { readonly of: (partnerId: number) => Effect.Effect<WebhookFigures, Unavailable> }
>()("brokerage/runtime/ports/DeliveryFigures") {
  static readonly layer = Layer.effect(
    DeliveryFigures,
    Effect.map(PgClient.PgClient, (sql) =>
      DeliveryFigures.of({
        of: (partnerId) =>
          withinTime(Effect.catch(deliveryFigures(sql, partnerId), whenAway), () => new Unavailable({ unknown: false }))
      })
    )
  )
}
