/** The clients' notification feeds, as read by the sweep and by partners (doc 3, sweep rules; A3-38, EVT-10). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { notificationLimits } from "../../../machines/shared/Limits.ts"
import { feedEventOf } from "../../../machines/webhook/feedEventOf.ts"
import { int8s, texts } from "../arrays.ts"

/** A notification and the names of its client in a delivery. */
export interface FeedItem {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly clientUid: string
  readonly partnerClientRef: string
  readonly kind: string
  readonly ref: string
  readonly ts: number
}

export interface FeedWindow {
  readonly partnerId: number
  /** Inclusive, Unix ms. */
  readonly from: number
}

// The claim is queried row by row in its index (a scalar subquery): claims are one of the largest tables.
const unforwardedText = `SELECT n.id, n.partner_id, n.client_id, c.uid, c.partner_client_ref, n.kind, n.ref, n.ts
  FROM unnest($1::int8[], $2::int8[]) AS v(p, since) CROSS JOIN LATERAL (
    SELECT * FROM notifications
     WHERE partner_id = v.p AND ts >= v.since AND written_at - ts <= $3 AND kind = ANY ($5::text[])
       AND (SELECT owner FROM claims WHERE name = 'feed:' || notifications.id) IS NULL
     ORDER BY ts, id LIMIT $4) n
  JOIN clients c ON c.id = n.client_id
 ORDER BY n.ts, n.id`

interface RawItem {
  readonly id: bigint
  readonly partner_id: bigint
  readonly client_id: bigint
  readonly uid: string
  readonly partner_client_ref: string
  readonly kind: string
  readonly ref: string
  readonly ts: bigint
}

/** Notifications of each window without a delivery, oldest first, at most `limit` for each partner; late ones are left out. */
export const unforwardedItems = (
  sql: PgClient.PgClient,
  windows: ReadonlyArray<FeedWindow>,
  limit: number
): Effect.Effect<ReadonlyArray<FeedItem>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<RawItem>(unforwardedText, [
      int8s(windows.map(({ partnerId }) => partnerId)),
      int8s(windows.map(({ from }) => from)),
      BigInt(notificationLimits.rereadMillis),
      BigInt(limit),
      texts(Object.keys(feedEventOf))
    ]),
    (rows) =>
      rows.map((row) => ({
        id: Number(row.id),
        partnerId: Number(row.partner_id),
        clientId: Number(row.client_id),
        clientUid: row.uid,
        partnerClientRef: row.partner_client_ref,
        kind: row.kind,
        ref: row.ref,
        ts: Number(row.ts)
      }))
  )

const lastForwardedText = `SELECT body::json->'data'->>'ts' AS ts FROM webhook_deliveries
 WHERE partner_id = $1 AND event = ANY ($2::text[]) ORDER BY id DESC LIMIT 1`

/** The time of the last forwarded notification, Unix ms; null if the log has none. */
export const lastForwardedAt = (
  sql: PgClient.PgClient,
  partnerId: number
): Effect.Effect<number | null, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly ts: string | null }>(lastForwardedText, [
      BigInt(partnerId),
      texts(Object.values(feedEventOf))
    ]),
    ([row]) => (row?.ts == null ? null : Number(row.ts))
  )

/** A position in a client's feed: by time, then by id. */
export interface FeedPlace {
  /** Unix ms. */
  readonly ts: number
  readonly id: number
}

export interface FeedEntry extends FeedPlace {
  readonly kind: string
  readonly ref: string
}

const feedText = `SELECT id, kind, ref, ts FROM notifications
 WHERE client_id = $1 AND (ts, id) > ($2, $3) ORDER BY ts, id LIMIT $4`

/** A client's notifications after a position, oldest first, at most `limit`. */
export const clientFeed = (
  sql: PgClient.PgClient,
  clientId: number,
  behind: FeedPlace,
  limit: number
): Effect.Effect<ReadonlyArray<FeedEntry>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<Pick<RawItem, "id" | "kind" | "ref" | "ts">>(feedText, [
      BigInt(clientId),
      BigInt(behind.ts),
      BigInt(behind.id),
      BigInt(limit)
    ]),
    (rows) => rows.map(({ id, kind, ref, ts }) => ({ id: Number(id), kind, ref, ts: Number(ts) }))
  )

/** True if a notification of the client has this position. */
export const isOfFeed = (
  sql: PgClient.PgClient,
  clientId: number,
  { ts, id }: FeedPlace
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe("SELECT 1 FROM notifications WHERE id = $1 AND client_id = $2 AND ts = $3", [
      BigInt(id),
      BigInt(clientId),
      BigInt(ts)
    ]),
    (rows) => rows.length > 0
  )
