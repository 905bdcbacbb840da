/** The clients of a nightly run of statements, and bulk reads of the contents of their statements (STS-29). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { executionTypes } from "../../../machines/postingRules.ts"
import type { Cut } from "../../../machines/statement/StatementModel.ts"
import type { StatementKind } from "../../../machines/statement/statementTokens.ts"
import type { Period } from "../../../machines/statement/statementPeriod.ts"
import { int8s } from "../arrays.ts"
import type { StatementJobRow } from "../../tables/statementJob.ts"
import { fillColumns, type IdRange, type RawFill, statementFill, type StatementFill } from "./statementReads.ts"

type Reading<A> = Effect.Effect<A, SqlError.SqlError>

/**
 * Executions with postings that are no trades, and openings of contracts, whose posting is their commission. The index
 * `ledger_transactions_executions` has the same condition: a migration that adds a type replaces the index.
 */
const otherExecutions = `(type IN (${executionTypes.map((type) => `'${type}'`).join(", ")}) OR key LIKE 'commission:contract:%')`

/** Swaps with a write-off by staff, which has no posting. The index `swaps_written_off` has the same condition. */
const writtenOff = "json_array_length(context -> 'writeOffs') > 0"

/** Checks that the database is reachable: if it is, the failure of a build is the statement's own. */
export const isThere = (sql: PgClient.PgClient): Reading<void> => Effect.asVoid(sql.unsafe("SELECT 1"))

/** The partner of a client; null if the client does not exist. */
export const partnerOfClient = (sql: PgClient.PgClient, clientId: number): Reading<number | null> =>
  Effect.map(
    sql.unsafe<{ readonly partner_id: bigint }>("SELECT partner_id FROM clients WHERE id = $1", [BigInt(clientId)]),
    ([row]) => (row === undefined ? null : Number(row.partner_id))
  )

/** The last rows, of any client, that were booked before a moment. */
export interface Bounds {
  readonly posting: number
  readonly fill: number
}

export const boundsBefore = (sql: PgClient.PgClient, moment: number): Reading<Bounds> =>
  Effect.map(
    sql.unsafe<{ readonly posting: bigint; readonly fill: bigint }>(
      "SELECT last_posting_of_all_before($1) AS posting, last_fill_of_all_before($1) AS fill",
      [BigInt(moment)]
    ),
    ([row]) => ({ posting: Number(row?.posting ?? 0), fill: Number(row?.fill ?? 0) })
  )

/** A client with an execution. */
export interface Executing {
  readonly clientId: number
  /** True if the client had an execution other than a trade. */
  readonly others: boolean
}

/** A corrected clock may have booked a few rows out of order. */
const slackMillis = 60_000

/** Clients after `after` with an execution booked in the period, in the order of their ids. */
export const executingClients = (
  sql: PgClient.PgClient,
  { from, to }: Period,
  after: number,
  limit: number
): Reading<ReadonlyArray<Executing>> =>
  Effect.gen(function* () {
    const start = yield* boundsBefore(sql, from - slackMillis)
    const end = yield* boundsBefore(sql, to + slackMillis)
    const rows = yield* sql.unsafe<{ readonly client_id: bigint; readonly others: boolean }>(
      `SELECT client_id, bool_or(others) AS others FROM (
         SELECT client_id, false AS others FROM fills
          WHERE id > $1 AND id <= $2 AND booked_at >= $3 AND booked_at < $4 AND client_id > $5
         UNION ALL
         SELECT client_id, true FROM ledger_transactions
          WHERE ts >= $3 AND ts < $4 AND ${otherExecutions} AND client_id > $5
         UNION ALL
         SELECT s.client_id, true FROM swaps s, json_array_elements(s.context -> 'writeOffs') w
          WHERE ${writtenOff} AND (w ->> 'at')::bigint >= $3 AND (w ->> 'at')::bigint < $4 AND s.client_id > $5) found
        GROUP BY client_id ORDER BY client_id LIMIT $6`,
      [BigInt(start.fill), BigInt(end.fill), BigInt(from), BigInt(to), BigInt(after), BigInt(limit)]
    )
    return rows.map(({ client_id, others }) => ({ clientId: Number(client_id), others }))
  })

/** Clients after `after` that have ever had money, in the order of their ids. */
export const fundedClients = (sql: PgClient.PgClient, after: number, limit: number): Reading<ReadonlyArray<number>> =>
  Effect.map(
    sql.unsafe<{ readonly client_id: bigint }>(
      `WITH RECURSIVE next AS (
         (SELECT client_id FROM balances WHERE client_id > $1 ORDER BY client_id LIMIT 1)
         UNION ALL
         SELECT (SELECT b.client_id FROM balances b WHERE b.client_id > next.client_id ORDER BY b.client_id LIMIT 1)
           FROM next WHERE next.client_id IS NOT NULL)
       SELECT client_id FROM next WHERE client_id IS NOT NULL LIMIT $2`,
      [BigInt(after), BigInt(limit)]
    ),
    (rows) => rows.map(({ client_id }) => Number(client_id))
  )

/** The clients, among the given ones, that have a statement for a period. */
export const statementClients = (
  sql: PgClient.PgClient,
  clientIds: ReadonlyArray<number>,
  { kind, from, to }: Period & { readonly kind: StatementKind }
): Reading<ReadonlySet<number>> =>
  Effect.map(
    sql.unsafe<{ readonly client_id: bigint }>(
      `SELECT DISTINCT client_id FROM statements
        WHERE client_id = ANY ($1) AND kind = $2 AND period_from = $3 AND period_to = $4`,
      [int8s(clientIds), kind, BigInt(from), BigInt(to)]
    ),
    (rows) => new Set(rows.map(({ client_id }) => Number(client_id)))
  )

/** The last rows of one client before both ends of a period, and the seal of its last posting. */
export interface ClientCuts {
  readonly clientId: number
  readonly start: Cut
  readonly cut: Cut
  readonly ledgerSeal: { readonly number: number; readonly hash: string } | null
}

/**
 * The newest row of the client up to a bound, and the row after it. The bounds come from `b`, so that no plan depends
 * on their values.
 */
const around = (end: "start" | "end"): string => `
  LEFT JOIN LATERAL (SELECT p.posting_id AS id, t.ts FROM postings p JOIN ledger_transactions t USING (tx_id)
    WHERE p.client_id = c.id AND p.posting_id <= b.${end}_posting ORDER BY p.posting_id DESC LIMIT 1) ${end}_p ON true
  LEFT JOIN LATERAL (SELECT t.ts FROM postings p JOIN ledger_transactions t USING (tx_id)
    WHERE p.client_id = c.id AND p.posting_id > b.${end}_posting ORDER BY p.posting_id LIMIT 1) ${end}_pn ON true
  LEFT JOIN LATERAL (SELECT id, booked_at AS ts FROM fills
    WHERE client_id = c.id AND id <= b.${end}_fill ORDER BY id DESC LIMIT 1) ${end}_f ON true
  LEFT JOIN LATERAL (SELECT booked_at AS ts FROM fills
    WHERE client_id = c.id AND id > b.${end}_fill ORDER BY id LIMIT 1) ${end}_fn ON true`

/**
 * The newest row up to the bound is normally the last one before the moment. If rows around the bound were booked out of order,
 * the function `last_..._before` searches it.
 */
const lastBefore = (end: "start" | "end", of: "posting" | "fill"): string => {
  const at = `${end}_${of === "posting" ? "p" : "f"}`
  return `CASE WHEN ${at}.ts >= b.${end}_ts OR ${at}n.ts < b.${end}_ts THEN last_${of}_before(c.id, b.${end}_ts)
            ELSE coalesce(${at}.id, 0) END AS ${end}_${of}`
}

/** Most clients have no contract and no swap, and an existence check is far cheaper than a search. */
const lastOfThose = (end: "start" | "end", of: "contract" | "swap", table: string): string =>
  `CASE WHEN EXISTS (SELECT FROM ${table} WHERE client_id = c.id) THEN last_${of}_before(c.id, b.${end}_ts)
     ELSE 0 END AS ${end}_${of}`

const cutColumns = (end: "start" | "end"): string =>
  [
    lastBefore(end, "posting"),
    lastBefore(end, "fill"),
    lastOfThose(end, "contract", "barrier_contracts"),
    lastOfThose(end, "swap", "swaps")
  ].join(", ")

const cutsText = `WITH cuts AS MATERIALIZED (
    SELECT c.id, ${cutColumns("start")}, ${cutColumns("end")} FROM unnest($1::int8[]) AS c(id)
      CROSS JOIN (SELECT $2::int8 AS start_ts, $3::int8 AS end_ts, $4::int8 AS start_posting, $5::int8 AS start_fill,
        $6::int8 AS end_posting, $7::int8 AS end_fill OFFSET 0) b ${around("start")} ${around("end")})
  SELECT cuts.*, s.number, s.hash FROM cuts
    LEFT JOIN LATERAL (SELECT number, hash FROM seals WHERE posting_to >= cuts.end_posting AND cuts.end_posting > 0
      ORDER BY posting_to, number LIMIT 1) s ON true`

/** The cuts of many clients at both ends of a period. */
export const cutsOfClients = (
  sql: PgClient.PgClient,
  clientIds: ReadonlyArray<number>,
  { from, to }: Period,
  { start, end }: { readonly start: Bounds; readonly end: Bounds }
): Reading<ReadonlyArray<ClientCuts>> =>
  Effect.map(
    sql.unsafe<Readonly<Record<string, bigint | null>> & { readonly hash: string | null }>(cutsText, [
      int8s(clientIds),
      ...[from, to, start.posting, start.fill, end.posting, end.fill].map(BigInt)
    ]),
    (rows) =>
      rows.map((row) => ({
        clientId: Number(row["id"]),
        start: cutOf(row, "start"),
        cut: cutOf(row, "end"),
        ledgerSeal: row.hash === null ? null : { number: Number(row["number"]), hash: row.hash }
      }))
  )

const cutOf = (row: Readonly<Record<string, bigint | string | null>>, end: "start" | "end"): Cut => ({
  postingId: Number(row[`${end}_posting`]),
  fillId: Number(row[`${end}_fill`]),
  contractId: Number(row[`${end}_contract`]),
  swapId: Number(row[`${end}_swap`])
})

/** Fills of many clients, each in its own range, at most `most` of each client, in the order of their ids. */
export const fillsOfClients = (
  sql: PgClient.PgClient,
  ranges: ReadonlyArray<IdRange & { readonly clientId: number }>,
  most: number
): Reading<ReadonlyMap<number, ReadonlyArray<StatementFill>>> =>
  Effect.map(
    sql.unsafe<RawFill & { readonly client_id: bigint }>(
      `SELECT f.client_id, ${fillColumns} FROM unnest($1::int8[], $2::int8[], $3::int8[]) AS c(id, after, upto)
         CROSS JOIN LATERAL (SELECT * FROM fills WHERE client_id = c.id AND id > c.after AND id <= c.upto
           ORDER BY id LIMIT $4) f ORDER BY f.client_id, f.id`,
      [
        int8s(ranges.map(({ clientId }) => clientId)),
        int8s(ranges.map(({ after }) => after)),
        int8s(ranges.map(({ to }) => to)),
        BigInt(most)
      ]
    ),
    (rows) => {
      const found = new Map<number, Array<StatementFill>>()
      for (const row of rows) {
        const clientId = Number(row.client_id)
        const fills = found.get(clientId)
        if (fills === undefined) found.set(clientId, [statementFill(row)])
        else fills.push(statementFill(row))
      }
      return found
    }
  )

/**
 * The USDC settlements of many clients' spot trades, minor units, by order and trade, each client in its own range of postings.
 */
export const settledOfClients = (
  sql: PgClient.PgClient,
  ranges: ReadonlyArray<IdRange & { readonly clientId: number }>
): Reading<ReadonlyMap<string, bigint>> =>
  Effect.map(
    sql.unsafe<{ readonly trade: string; readonly amount: bigint }>(
      `SELECT substring(t.key FROM 6) AS trade, abs(p.amount) AS amount
         FROM unnest($1::int8[], $2::int8[], $3::int8[]) AS c(id, after, upto)
         CROSS JOIN LATERAL (SELECT tx_id, amount FROM postings
           WHERE client_id = c.id AND posting_id > c.after AND posting_id <= c.upto AND currency = 'USDC') p
         JOIN ledger_transactions t USING (tx_id) WHERE t.type = 'SPOT_SETTLE'`,
      [
        int8s(ranges.map(({ clientId }) => clientId)),
        int8s(ranges.map(({ after }) => after)),
        int8s(ranges.map(({ to }) => to))
      ]
    ),
    (rows) => new Map(rows.map(({ trade, amount }) => [trade, BigInt(amount)]))
  )

/**
 * The clients that a period concerns: a booking in it, or a balance or an open object throughout it. `posting` and the other ids
 * are those of the cut at its end.
 */
export const concernedClients = (
  sql: PgClient.PgClient,
  cuts: ReadonlyArray<ClientCuts>,
  from: number
): Reading<ReadonlySet<number>> =>
  Effect.map(
    sql.unsafe<{ readonly id: bigint }>(
      `SELECT c.id FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[]) AS c(id, posting, contract, swap)
        WHERE EXISTS (SELECT 1 FROM (
                SELECT currency, 'cash' AS kind, cash AS amount FROM balances WHERE client_id = c.id
                UNION ALL SELECT currency, 'reserved', reserved FROM balances WHERE client_id = c.id
                UNION ALL SELECT currency, kind, -amount FROM postings WHERE client_id = c.id AND posting_id > c.posting) held
              GROUP BY currency, kind HAVING sum(amount) <> 0)
           OR EXISTS (SELECT 1 FROM barrier_contracts WHERE client_id = c.id AND id <= c.contract
                AND (closed_at IS NULL OR closed_at >= $5))
           OR EXISTS (SELECT 1 FROM swaps WHERE client_id = c.id AND id <= c.swap
                AND (closed_at IS NULL OR closed_at >= $5))`,
      [
        int8s(cuts.map(({ clientId }) => clientId)),
        int8s(cuts.map(({ cut }) => cut.postingId)),
        int8s(cuts.map(({ cut }) => cut.contractId)),
        int8s(cuts.map(({ cut }) => cut.swapId)),
        BigInt(from)
      ]
    ),
    (rows) => new Set(rows.map(({ id }) => Number(id)))
  )

/** The number of failed clients of each job that will be retried. */
export const openFailures = (
  sql: PgClient.PgClient,
  jobIds: ReadonlyArray<number>
): Reading<ReadonlyMap<number, number>> =>
  Effect.map(
    sql.unsafe<{ readonly job_id: bigint; readonly n: bigint }>(
      "SELECT job_id, count(*) AS n FROM statement_job_failures WHERE state = 'OPEN' AND job_id = ANY ($1) GROUP BY job_id",
      [int8s(jobIds)]
    ),
    (rows) => new Map(rows.map(({ job_id, n }) => [Number(job_id), Number(n)]))
  )

/**
 * The number of clients that a running job still has to process: for a nightly job those with executions, for other jobs those
 * that have had money.
 */
export const clientsLeft = (
  sql: PgClient.PgClient,
  job: Pick<StatementJobRow, "name" | "periodFrom" | "periodTo" | "cursor">
): Reading<number> =>
  job.name === "TRANSACTIONS"
    ? Effect.map(
        executingClients(sql, { from: job.periodFrom, to: job.periodTo }, job.cursor, mostCounted),
        (clients) => clients.length
      )
    : Effect.map(
        sql.unsafe<{ readonly n: bigint }>("SELECT count(DISTINCT client_id) AS n FROM balances WHERE client_id > $1", [
          BigInt(job.cursor)
        ]),
        ([row]) => Number(row?.n ?? 0)
      )
const mostCounted = 1_000_000
