/**
 * The database queries of metrics (operator surface, metrics): only rows since the last snapshot are summed, and counts of queues
 * are bounded, so that the cost does not grow with the books.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { int8s } from "../arrays.ts"

type One<A> = Effect.Effect<A, SqlError.SqlError>
type Rows<A> = One<ReadonlyArray<A>>

/** Where the count of a queue stops, because an exact count of more would cost too much. */
export const countLimit = 100_000

/** The newest posting and settlement item of one snapshot: ids follow commits, so the two belong together. */
export interface NewestIds {
  readonly posting: bigint
  readonly item: bigint
}
export interface PostedSum {
  readonly currency: string
  readonly amount: string
}
/**
 * The custody difference of a partner. `since`: the transaction number of its last change of custody model; 0 if it never
 * changed.
 */
export interface CustodyDifference {
  readonly partner: bigint
  readonly since: bigint
  readonly amount: string
}
export interface LastSeq {
  readonly partner: bigint
  readonly seq: bigint
}

const countOf = ([row]: ReadonlyArray<{ readonly n: bigint }>): bigint => row?.n ?? 0n

const marksText = `SELECT coalesce((SELECT max(posting_id) FROM postings), 0) AS posting,
  coalesce((SELECT max(id) FROM settlement_items), 0) AS item`

export const newestIds = (sql: PgClient.PgClient): One<NewestIds> =>
  Effect.map(sql.unsafe<NewestIds>(marksText), ([row]) => row ?? { posting: 0n, item: 0n })

const sumsText = `SELECT currency, sum(amount)::text AS amount FROM postings
  WHERE posting_id > $1 AND posting_id <= $2 GROUP BY currency`

/** Sums of the postings after `from` up to `to`, by currency. */
export const postedBetween = (sql: PgClient.PgClient, from: NewestIds, to: NewestIds): Rows<PostedSum> =>
  sql.unsafe<PostedSum>(sumsText, [from.posting, to.posting])

/**
 * Clients' money less collateral less unsettled items, for partners under PARTNER custody: zero (doc 3, summary). Postings
 * under an earlier model are left out. A change of the model takes a transaction number of the ledger, so that lower numbers
 * belong to the earlier model.
 */
const differencesText = `WITH held AS MATERIALIZED (
    SELECT f.id, coalesce((SELECT max(c.id) FROM custody_changes c WHERE c.partner_id = f.id), 0) AS since
      FROM partners f WHERE f.custody_model = 'PARTNER'),
  moved AS (
    SELECT p.partner_id, sum(p.amount) AS amount FROM postings p JOIN held h ON h.id = p.partner_id AND p.tx_id > h.since
     WHERE p.posting_id > $1 AND p.posting_id <= $2 AND p.currency = 'USDC'
       AND (p.client_id IS NOT NULL OR p.account LIKE 'partner_custody:%') GROUP BY p.partner_id),
  items AS (
    SELECT i.partner_id, sum(i.amount) AS amount FROM settlement_items i JOIN held h ON h.id = i.partner_id AND i.tx_id > h.since
     WHERE i.id > $3 AND i.id <= $4 GROUP BY i.partner_id)
  SELECT h.id AS partner, h.since, (coalesce(m.amount, 0) - coalesce(i.amount, 0))::text AS amount FROM held h
    LEFT JOIN moved m ON m.partner_id = h.id LEFT JOIN items i ON i.partner_id = h.id`

/** The change of the difference between `from` and `to`; every partner under PARTNER custody has a row. */
export const differencesBetween = (sql: PgClient.PgClient, from: NewestIds, to: NewestIds): Rows<CustodyDifference> =>
  sql.unsafe<CustodyDifference>(differencesText, [from.posting, to.posting, from.item, to.item])

const lastSeqText =
  "SELECT p.id AS partner, coalesce((SELECT max(seq) FROM events e WHERE e.partner_id = p.id), 0) AS seq FROM partners p"

/** The number of each partner's last event. */
export const lastSeqs = (sql: PgClient.PgClient): Rows<LastSeq> => sql.unsafe<LastSeq>(lastSeqText)

/** A range of a partner's event numbers: after `before` up to `seq`. */
export interface SeqStretch extends LastSeq {
  readonly before: bigint
}

const eventsText = `SELECT count(*) AS n FROM unnest($1::int8[], $2::int8[], $3::int8[]) AS w (partner, before, last)
  JOIN events e ON e.partner_id = w.partner AND e.seq > w.before AND e.seq <= w.last`

/** The number of events in these ranges, for all partners in one query. */
export const countEvents = (sql: PgClient.PgClient, stretches: ReadonlyArray<SeqStretch>): One<bigint> =>
  Effect.map(
    sql.unsafe<{ readonly n: bigint }>(eventsText, [
      int8s(stretches.map(({ partner }) => partner)),
      int8s(stretches.map(({ before }) => before)),
      int8s(stretches.map(({ seq }) => seq))
    ]),
    countOf
  )

const unsealedText = `WITH last AS MATERIALIZED (SELECT * FROM seals ORDER BY number DESC LIMIT 1)
  SELECT (SELECT count(*) FROM audit WHERE id > coalesce((SELECT audit_to FROM last), 0))
       + (SELECT count(*) FROM decisions WHERE id > coalesce((SELECT decision_to FROM last), 0))
       + (SELECT count(*) FROM ledger_transactions WHERE tx_id > coalesce((SELECT transaction_to FROM last), 0))
       + (SELECT count(*) FROM postings WHERE posting_id > coalesce((SELECT posting_to FROM last), 0))
       + (SELECT count(*) FROM interfirm_records WHERE id > coalesce((SELECT interfirm_to FROM last), 0))
       + (SELECT count(*) FROM custody_changes WHERE id > coalesce((SELECT custody_to FROM last), 0)) AS n`

/** The number of append-only rows that no seal covers yet. */
export const countUnsealed = (sql: PgClient.PgClient): One<bigint> =>
  Effect.map(sql.unsafe<{ readonly n: bigint }>(unsealedText), countOf)

export interface DeliveryQueue {
  readonly due: bigint
  readonly failed: bigint
}

/** The two halves of the query each read a partial index of exactly the rows that they count. */
const deliveriesText = `SELECT
  (SELECT count(*) FROM (SELECT 1 FROM webhook_deliveries
     WHERE state IN ('PENDING', 'RETRYING') AND next_at <= $1 LIMIT ${countLimit}) d) AS due,
  (SELECT count(*) FROM (SELECT 1 FROM webhook_deliveries WHERE state = 'FAILED' LIMIT ${countLimit}) f) AS failed`

/**
 * Counts of deliveries, bounded by `countLimit`: those that are due at `now` (business time, Unix ms), and those that
 * FAILED.
 */
export const deliveryQueue = (sql: PgClient.PgClient, now: number): One<DeliveryQueue> =>
  Effect.map(sql.unsafe<DeliveryQueue>(deliveriesText, [BigInt(now)]), ([row]) => row ?? { due: 0n, failed: 0n })

export interface PoolState {
  readonly state: string
  readonly n: bigint
}

const poolText = `SELECT coalesce(state, 'unknown') AS state, count(*) AS n FROM pg_stat_activity
  WHERE application_name = 'brokerage' AND datname = current_database() GROUP BY 1`

/** The number of the service's database connections in each state. */
export const poolStates = (sql: PgClient.PgClient): Rows<PoolState> => sql.unsafe<PoolState>(poolText)
