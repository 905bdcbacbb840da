/**
 * The queue of work that waits for staff, from the tables that hold it (operator surface, queue). Each part reads a whole partial
 * index of exactly the open rows: `OFFSET 0` keeps the planner from scanning a table by id instead, past all decided rows.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { int8s, texts } from "../arrays.ts"

export interface WaitingRow {
  readonly kind: string
  readonly id: string
  readonly since: bigint
  readonly state: string
  readonly partner_id: bigint | null
  readonly client_id: bigint | null
  readonly currency: string | null
  /** Minor units; null for a kind without an amount. */
  readonly amount: bigint | null
  readonly about: string | null
  /** The number of items of the kind. */
  readonly n: bigint
}

/** The maximum count of failed deliveries of one partner. */
export const deliveriesCounted = 1_000

const part = (kind: string, id: string, since: string, rest: string, from: string): string =>
  `(SELECT '${kind}' AS kind, w.*, count(*) OVER () AS n FROM (
      SELECT ${id}::text AS id, ${since} AS since, ${rest} FROM ${from} OFFSET 0) w ORDER BY since, id LIMIT $1)`

const noMoney = "NULL::text AS currency, NULL::bigint AS amount"

/**
 * $1 is the number of items of each kind, oldest first; $2 the time before which a venue call counts as in doubt; $3 to $5 are
 * withdrawals, swaps and calls to leave out.
 */
const waitingText = [
  part(
    "deposit",
    "id",
    "created_at",
    "state, partner_id, client_id, currency, amount, NULL::text AS about",
    "deposit_notices WHERE state = 'PENDING'"
  ),
  part(
    "withdrawal",
    "id",
    "created_at",
    "state, partner_id, client_id, currency, amount, NULL::text",
    "withdrawal_requests WHERE state IN ('REQUESTED', 'APPROVED') AND id <> ALL($3::bigint[])"
  ),
  part(
    "default",
    "id",
    "coalesce(maturity_at, created_at)",
    "state, partner_id, client_id, currency, amount + reward - paid - written_off, symbol",
    "swaps WHERE state = 'DEFAULTED' AND closed_at IS NULL AND id <> ALL($4::bigint[])"
  ),
  part(
    "call",
    "ref",
    "at",
    `'IN_DOUBT'::text, partner_id, client_id, ${noMoney}, call`,
    "venue_calls WHERE at < $2 AND ref <> ALL($5::text[])"
  ),
  part(
    "leg",
    "(context->'standing'->'unplaced'->0->>'orderId')",
    "unplaced_since",
    `'NOT_PLACED'::text, partner_id, client_id, ${noMoney}, left(context->'standing'->'unplaced'->0->>'reason', 200)`,
    "attachments WHERE unplaced_since IS NOT NULL"
  ),
  part(
    "quarantine",
    "id",
    "at",
    `'SET_ASIDE'::text, NULL::bigint AS partner_id, NULL::bigint AS client_id, ${noMoney}, left(reason, 200)`,
    "venue_quarantine WHERE dropped_at IS NULL"
  ),
  part(
    "statement",
    "id",
    "failed_at",
    `state, partner_id, client_id, ${noMoney}, left(reason, 200)`,
    "statement_job_failures WHERE state = 'OPEN'"
  ),
  part(
    "reliance",
    "partner_id",
    "(context->>'changedAt')::bigint",
    `state, partner_id, NULL::bigint AS client_id, ${noMoney}, context->>'reason'`,
    "reliances WHERE state = 'REQUESTED'"
  ),
  // One row for each partner: all failures of one endpoint are one task.
  part(
    "delivery",
    "oldest.id",
    "oldest.ts",
    `'FAILED'::text AS state, p.id AS partner_id, NULL::bigint AS client_id, ${noMoney}, failed.n::text AS about`,
    `partners p CROSS JOIN LATERAL (SELECT id, ts FROM webhook_deliveries
         WHERE partner_id = p.id AND state = 'FAILED' ORDER BY id LIMIT 1) oldest
       CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT FROM webhook_deliveries
         WHERE partner_id = p.id AND state = 'FAILED' LIMIT ${deliveriesCounted}) f) failed`
  )
].join("\nUNION ALL\n")

/** Objects that wait for an approval, and are left out here. */
export interface PendingObjects {
  readonly withdrawals: ReadonlyArray<number>
  readonly swaps: ReadonlyArray<number>
  /** Refs of calls. */
  readonly calls: ReadonlyArray<string>
}

/** The statement that `waitingRows` runs, so that a test can examine its plan. */
export const waitingStatement = (
  limit: number,
  doubtBefore: number,
  { withdrawals, swaps, calls }: PendingObjects
) => ({
  text: waitingText,
  values: [BigInt(limit), BigInt(doubtBefore), int8s(withdrawals), int8s(swaps), texts(calls)]
})

/** The oldest `limit` items of each kind, and the number of items of each kind; kinds come in no order. */
export const waitingRows = (
  sql: PgClient.PgClient,
  limit: number,
  doubtBefore: number,
  pending: PendingObjects
): Effect.Effect<ReadonlyArray<WaitingRow>, SqlError.SqlError> => {
  const { text, values } = waitingStatement(limit, doubtBefore, pending)
  return sql.unsafe<WaitingRow>(text, values)
}
