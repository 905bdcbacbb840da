/** Counts of the delivery log, and its next due times (doc 3, Webhook; A3-31, A3-39). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { WebhookFigures } from "../../../machines/webhook/WebhookWire.ts"

/** Each half reads one end or one range of its own index. */
const figuresText = `SELECT
  (SELECT (context->>'sentAt')::bigint FROM webhook_deliveries
    WHERE partner_id = $1 AND state = 'SENT' ORDER BY (context->>'sentAt')::bigint DESC LIMIT 1) AS sent_at,
  (SELECT count(*) FROM webhook_deliveries WHERE partner_id = $1 AND state IN ('PENDING', 'RETRYING')) AS pending`

export const deliveryFigures = (
  sql: PgClient.PgClient,
  partnerId: number
): Effect.Effect<WebhookFigures, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly sent_at: bigint | null; readonly pending: bigint }>(figuresText, [BigInt(partnerId)]),
    ([row]) => ({
      lastDeliveryAt: row?.sent_at == null ? null : Number(row.sent_at),
      pending: Number(row?.pending ?? 0)
    })
  )

export interface NextTry {
  readonly partnerId: number
  /** Unix ms of business time. */
  readonly nextAt: number
}

/** Reads one end of the index of due deliveries for each partner. */
const nextTriesText = `SELECT p.id AS partner_id, next.next_at FROM partners p CROSS JOIN LATERAL (
    SELECT next_at FROM webhook_deliveries WHERE partner_id = p.id AND state IN ('PENDING', 'RETRYING')
     ORDER BY next_at LIMIT 1) next ORDER BY next.next_at LIMIT $1`

/** The time of each partner's next delivery attempt, earliest first. */
export const nextTries = (
  sql: PgClient.PgClient,
  limit: number
): Effect.Effect<ReadonlyArray<NextTry>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly partner_id: bigint; readonly next_at: bigint }>(nextTriesText, [BigInt(limit)]),
    (rows) => rows.map((row) => ({ partnerId: Number(row.partner_id), nextAt: Number(row.next_at) }))
  )
