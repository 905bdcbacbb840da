/**
 * Deliveries and their causes as stored in the database, read without the service, so that the state after a crash is
 * visible while no service runs (doc 3, Webhook registration and delivery; D14).
 */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Redacted, Schedule, Schema } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { webhookLimits } from "../../src/machines/shared/Limits.ts"

const Delivery = Schema.Struct({
  id: Schema.Int,
  event: Schema.String,
  state: Schema.String,
  body: Schema.String,
  attempts: Schema.Int,
  lastStatus: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(Schema.String)
})
export type StoredDelivery = typeof Delivery.Type

/** A row of the event log. */
const StoredEvent = Schema.Struct({
  name: Schema.String,
  clientId: Schema.NullOr(Schema.Int),
  data: Schema.String,
  ts: Schema.Int
})
export type StoredEvent = typeof StoredEvent.Type

/** An entry of a client's feed. `deliveryId`: null while it is not forwarded. */
const StoredNotice = Schema.Struct({ kind: Schema.String, ref: Schema.String, deliveryId: Schema.NullOr(Schema.Int) })
export type StoredNotice = typeof StoredNotice.Type

const Backlog = Schema.Struct({
  /** PENDING and RETRYING. */
  open: Schema.Int,
  /** Open deliveries that are due now: without a lease, or with an expired one. */
  due: Schema.Int,
  /** Open deliveries with a lease of a worker, alive or not. */
  claimed: Schema.Int,
  /** Feed entries without their delivery. */
  unforwarded: Schema.Int
})
export type Backlog = typeof Backlog.Type

export interface DeliveryBooks {
  readonly partnerOf: (url: string) => Effect.Effect<number>
  readonly backlog: (partnerId: number) => Effect.Effect<Backlog>
  readonly deliveries: (partnerId: number) => Effect.Effect<ReadonlyArray<StoredDelivery>>
  readonly events: (partnerId: number) => Effect.Effect<ReadonlyArray<StoredEvent>>
  readonly feed: (partnerId: number) => Effect.Effect<ReadonlyArray<StoredNotice>>
}

const feedRows = `SELECT kind, ref,
  (SELECT owner FROM claims WHERE name = 'feed:' || notifications.id)::float8 AS "deliveryId"
  FROM notifications WHERE partner_id = $1`

const backlogText = `WITH clock AS (
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8 + clock_offset AS now FROM service_stamp),
held AS (
  SELECT next_at, claimed_at, (SELECT now FROM clock) AS now FROM webhook_deliveries
   WHERE partner_id = $1 AND state IN ('PENDING', 'RETRYING'))
SELECT count(*)::float8 AS open,
  count(*) FILTER (WHERE next_at <= now
    AND (claimed_at IS NULL OR claimed_at < now - ${webhookLimits.leaseTakeoverMillis}))::float8 AS due,
  count(claimed_at)::float8 AS claimed,
  (SELECT count(*) FROM (${feedRows}) f WHERE "deliveryId" IS NULL)::float8 AS unforwarded
  FROM held`

/**
 * The books of the embedded server in a data directory. Each read opens a connection of its own, and waits while the
 * server is unavailable.
 */
export const makeDeliveryBooks = (dataDir: string): DeliveryBooks => {
  const read = (name: string) => readFileSync(join(dataDir, "postgres", name), "utf8").trim()
  const rows = <S extends Schema.Codec<unknown, unknown>>(row: S, text: string, value: unknown) =>
    Effect.suspend(() =>
      PgConnection.make({
        url: Redacted.make(`postgres://brokerage:${read("password")}@127.0.0.1:${read("port")}/brokerage`)
      })
    ).pipe(
      Effect.flatMap((session) => session.query(text, [value])),
      Effect.scoped,
      Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 100 }),
      Effect.orDie,
      Effect.map((found) => Schema.decodeUnknownSync(Schema.Array(row))(found.rows))
    )
  const Id = Schema.Struct({ id: Schema.Int })
  return {
    partnerOf: (url) =>
      Effect.flatMap(rows(Id, `SELECT partner_id::float8 AS id FROM webhook_endpoints WHERE url = $1`, url), ([row]) =>
        row === undefined ? Effect.die(new Error("no endpoint has this url")) : Effect.succeed(row.id)
      ),
    backlog: (partnerId) => Effect.map(rows(Backlog, backlogText, BigInt(partnerId)), ([row]) => row as Backlog),
    deliveries: (partnerId) =>
      rows(
        Delivery,
        `SELECT id::float8, event, state, body, (context->>'attempts')::float8 AS attempts,
           (context->>'lastStatus')::float8 AS "lastStatus", context->>'error' AS error
           FROM webhook_deliveries WHERE partner_id = $1 ORDER BY id`,
        BigInt(partnerId)
      ),
    events: (partnerId) =>
      rows(
        StoredEvent,
        `SELECT name, client_id::float8 AS "clientId", data::text, ts::float8 FROM events WHERE partner_id = $1 ORDER BY seq`,
        BigInt(partnerId)
      ),
    feed: (partnerId) => rows(StoredNotice, feedRows, BigInt(partnerId))
  }
}
