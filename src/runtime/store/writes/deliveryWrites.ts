/**
 * Writes to deliveries outside of commits: leases and results of the workers, deletion by age, and the end of deliveries of
 * closed partners. Any number of workers on any number of processes share the table: a lease locks rows with SKIP LOCKED and
 * stamps them, and a result is written only while the stamp is unchanged (architecture, Webhooks).
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { webhookLimits } from "../../../machines/shared/Limits.ts"
import type { DeliveryContext, DeliveryStatus } from "../../../machines/webhook/Webhook.ts"
import { decodeRow } from "../../engine/journal/SubjectLoader.ts"
import { versionOf } from "../../engine/machine/step.ts"
import type { Sealing } from "../../engine/sealing/Sealing.ts"
import { int8s, texts } from "../arrays.ts"
import { catalogue } from "../../tables/Catalogue.ts"
import type { TableSpec } from "../../tables/Table.ts"
import type { DeliveryRow } from "../../tables/webhook.ts"

/** A partner with the number of its deliveries that may be leased now. */
export interface Lane {
  readonly partnerId: number
  readonly limit: number
}

export interface LeaseRequest {
  /** The stamp that marks the rows of this lease; a different one for each lease. */
  readonly token: string
  /** Business time, Unix ms: it decides what is due, and the age of other leases. */
  readonly now: number
  readonly lanes: ReadonlyArray<Lane>
  /** Deliveries that the worker already holds: not leased again, at any age of their lease. */
  readonly except: ReadonlyArray<number>
}

/** The new state of a delivery. It is written only if the row still equals `before`. */
export interface DeliveryChange {
  readonly before: DeliveryRow
  readonly state: DeliveryStatus
  readonly context: DeliveryContext
  /**
   * Business time of the next attempt, Unix ms. For a delivery without one, the time at which it ended, from which
   * retention counts (A3-36).
   */
  readonly nextAt: number
}

const spec = catalogue.webhookDeliveries as TableSpec
const leasedColumns = spec.columns.map(({ sqlName }) => `w."${sqlName}"`).join(", ")

/**
 * One index scan for each lane, so that a partner's backlog costs the others nothing. The commit does not wait for the disk
 * (asynchronous for this statement only): a lease that a power cut undoes only causes the delivery to be sent again.
 */
const leaseText = `WITH fast AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
lanes AS (SELECT v.p, v.n FROM unnest($1::int8[], $2::int8[]) AS v(p, n), fast),
due AS (
  SELECT d.id FROM lanes CROSS JOIN LATERAL (
    SELECT id FROM webhook_deliveries
     WHERE partner_id = lanes.p AND state IN ('PENDING', 'RETRYING') AND next_at <= $3
       AND (claimed_at IS NULL OR claimed_at < $4) AND id <> ALL ($5::int8[])
     ORDER BY next_at, id LIMIT lanes.n FOR UPDATE SKIP LOCKED) d)
UPDATE webhook_deliveries w SET claim_token = $6, claimed_at = $3 FROM due WHERE w.id = due.id RETURNING ${leasedColumns}`

/** Leases due deliveries, at most `limit` of each lane. Returns them as leased, the oldest nextAt first. */
export const leaseDeliveries = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  { token, now, lanes, except }: LeaseRequest
): Effect.Effect<ReadonlyArray<DeliveryRow>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<Record<string, unknown>>(leaseText, [
      int8s(lanes.map((lane) => lane.partnerId)),
      int8s(lanes.map((lane) => lane.limit)),
      BigInt(now),
      BigInt(now - webhookLimits.leaseTakeoverMillis),
      int8s(except),
      token
    ]),
    (rows) =>
      rows
        .map((raw) => decodeRow(spec, raw, sealing) as DeliveryRow)
        .toSorted((a, b) => a.nextAt - b.nextAt || a.id - b.id)
  )

const finishText = `UPDATE webhook_deliveries w
   SET state = v.state, version = v.version, context = v.context::json, next_at = v.next_at, claim_token = NULL, claimed_at = NULL
  FROM unnest($1::int8[], $2::text[], $3::text[], $4::int8[], $5::text[], $6::text[], $7::text[], $8::int8[])
       AS v(id, was_token, was_state, was_next_at, state, version, context, next_at)
 WHERE w.id = v.id AND w.claim_token IS NOT DISTINCT FROM v.was_token AND w.state = v.was_state AND w.next_at = v.was_next_at
RETURNING w.id`

/** Writes results of rows that still equal `before`. Returns the ids of the written rows. */
export const finishDeliveries = (
  sql: PgClient.PgClient,
  changes: ReadonlyArray<DeliveryChange>
): Effect.Effect<ReadonlySet<number>, SqlError.SqlError> => {
  // The common order prevents a deadlock of two workers that write the same rows.
  const sorted = changes.toSorted((a, b) => a.before.id - b.before.id)
  const version = versionOf("webhookDelivery")
  return Effect.map(
    sql.unsafe<{ readonly id: bigint }>(finishText, [
      int8s(sorted.map(({ before }) => before.id)),
      texts(sorted.map(({ before }) => before.claimToken)),
      texts(sorted.map(({ before }) => before.state)),
      int8s(sorted.map(({ before }) => before.nextAt)),
      texts(sorted.map(({ state }) => state)),
      texts(sorted.map(() => version)),
      texts(sorted.map(({ context }) => JSON.stringify(context))),
      int8s(sorted.map(({ nextAt }) => nextAt))
    ]),
    (rows) => new Set(rows.map(({ id }) => Number(id)))
  )
}

// A page is a scan of the primary key, whatever its contents. nextAt of a finished delivery is the time at which it was SENT or
// FAILED. Two kinds of rows stay: rows that a redelivery revived, and each partner's last SENT row, the source of
// lastDeliveryAt (A3-39).
const pageText = `WITH page AS (SELECT id, ts FROM webhook_deliveries WHERE id > $1 ORDER BY id LIMIT $3),
gone AS (
  DELETE FROM webhook_deliveries d USING page
   WHERE d.id = page.id AND page.ts < $2 AND d.state IN ('SENT', 'FAILED') AND d.next_at < $2
     AND (d.state = 'FAILED' OR EXISTS (
       SELECT 1 FROM webhook_deliveries l WHERE l.partner_id = d.partner_id AND l.state = 'SENT'
          AND (l.context->>'sentAt')::bigint >= (d.context->>'sentAt')::bigint AND l.id <> d.id)) RETURNING 1)
SELECT max(id) AS last, max(ts) AS youngest, (SELECT count(*) FROM gone) AS gone FROM page`

/**
 * The last row and the youngest row of a scanned page, and the number of rows deleted; null values if the page was empty.
 */
export interface RetainedPage {
  readonly last: bigint | null
  /** The time of the youngest row of the page, Unix ms. */
  readonly youngest: bigint | null
  /** The number of deleted rows. */
  readonly gone: bigint
}

/** Deletes deliveries that ended before `cutoff` (business time, Unix ms) from the next `limit` rows after an id. */
export const deleteEndedPage = (
  sql: PgClient.PgClient,
  after: bigint,
  cutoff: bigint,
  limit: number
): Effect.Effect<RetainedPage, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<RetainedPage>(pageText, [after, cutoff, BigInt(limit)]),
    ([page]) => page ?? { last: null, youngest: null, gone: 0n }
  )

/**
 * Ends at most `limit` waiting deliveries of a closed partner in the form of the trigger `partner_closed`. Returns the number.
 */
export const endDeliveries = (
  sql: PgClient.PgClient,
  partnerId: number,
  limit: number
): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly ended: bigint }>(
      "SELECT end_deliveries(id, (context ->> 'changedAt')::bigint, $2) AS ended FROM partners WHERE id = $1",
      [BigInt(partnerId), BigInt(limit)]
    ),
    ([row]) => Number(row?.ended ?? 0)
  )
