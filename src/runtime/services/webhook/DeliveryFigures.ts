/**
 * The two figures of GET /webhook that are counted over the delivery log. A port, so that the registration runs without a
 * database too (doc 3, Webhook; A3-31, A3-39).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { withinTime } from "../../engine/withinTime.ts"
import { whenAway } from "../../store/whenAway.ts"

export interface WebhookFigures {
  /** Time of the last acknowledged sending, Unix ms; null before the first. */
  readonly lastDeliveryAt: number | null
  /** Deliveries in PENDING and RETRYING. */
  readonly pending: number
}

export class DeliveryFigures extends Context.Service<
  DeliveryFigures,
  { readonly of: (partnerId: number) => Effect.Effect<WebhookFigures, Unavailable> }
>()("brokerage/runtime/services/webhook/DeliveryFigures") {
  static readonly layer = Layer.effect(
    DeliveryFigures,
    Effect.map(PgClient.PgClient, (sql) =>
      DeliveryFigures.of({
        of: (partnerId) =>
          withinTime(
            sql
              .unsafe<{ readonly sent_at: bigint | null; readonly pending: bigint }>(figures, [BigInt(partnerId)])
              .pipe(
                Effect.map(([row]) => ({
                  lastDeliveryAt: row?.sent_at == null ? null : Number(row.sent_at),
                  pending: Number(row?.pending ?? 0)
                })),
                Effect.catch(whenAway)
              ),
            () => new Unavailable({ unknown: false })
          )
      })
    )
  )
}

/** Each half reads one end or range of an index of its own. */
const figures = `SELECT
  (SELECT (context->>'sentAt')::bigint FROM webhook_deliveries
    WHERE partner_id = $1 AND state = 'SENT' ORDER BY (context->>'sentAt')::bigint DESC LIMIT 1) AS sent_at,
  (SELECT count(*) FROM webhook_deliveries WHERE partner_id = $1 AND state IN ('PENDING', 'RETRYING')) AS pending`
