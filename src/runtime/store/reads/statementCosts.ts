/** The costs of trading, summed by type and family, and the mark prices of the daily valuations (STS-24, STS-28). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { CostFamily } from "../../../machines/statement/statementCosts.ts"
import type { IdRange } from "./statementReads.ts"

type Reading<A> = Effect.Effect<A, SqlError.SqlError>

/** The sum of postings of one type and family. */
export interface CostSum {
  readonly type: string
  readonly family: CostFamily | null
  /** The sum of the postings' values, micro-USDC, signed from the client's view. */
  readonly usdc: bigint
  readonly rows: number
  /** The number of postings in another currency without a known value; they count as zero. */
  readonly unvalued: number
}

/** SQL of the family of a posting, by the object that its transaction refers to: a swap, a contract, or a market. */
const familyOf = `CASE WHEN t.refs->>'swapId' IS NOT NULL THEN 'STAKING' WHEN t.refs->>'contractId' IS NOT NULL THEN 'BARRIER'
    WHEN t.type = 'FUNDING' OR t.refs->>'Instrument' LIKE '%-PERP' THEN 'PERP'
    WHEN t.refs->>'Instrument' IS NOT NULL THEN 'SPOT' END`

/**
 * The costs in a range of a client's postings, summed by type and family. A posting in another currency counts with its
 * value at the booking (STS-9).
 */
export const costSums = (
  sql: PgClient.PgClient,
  clientId: number,
  { after, to }: IdRange
): Reading<ReadonlyArray<CostSum>> =>
  Effect.map(
    sql.unsafe<{
      readonly type: string
      readonly family: CostFamily | null
      readonly usdc: string
      readonly rows: bigint
      readonly unvalued: bigint
    }>(
      `SELECT t.type, ${familyOf} AS family,
              coalesce(sum(CASE WHEN p.currency = 'USDC' THEN p.amount
                ELSE round((t.refs->>'valueUsdc')::numeric * 1000000) END), 0)::bigint::text AS usdc, count(*) AS rows,
              count(*) FILTER (WHERE p.currency <> 'USDC' AND t.refs->>'valueUsdc' IS NULL) AS unvalued
         FROM postings p JOIN ledger_transactions t USING (tx_id)
        WHERE p.client_id = $1 AND p.posting_id > $2 AND p.posting_id <= $3
          AND t.type IN ('COMMISSION', 'FUNDING', 'PNL', 'BARRIER_SETTLE', 'SWAP_FEE_ADJUST') GROUP BY 1, 2`,
      [BigInt(clientId), BigInt(after), BigInt(to)]
    ),
    (rows) =>
      rows.map((row) => ({ ...row, usdc: BigInt(row.usdc), rows: Number(row.rows), unvalued: Number(row.unvalued) }))
  )

/**
 * The money that moved into or out of the equity in a range of a client's postings, micro-USDC: every posting to USDC cash
 * that is neither a result nor a charge. Principals of swaps count, their rewards and fees do not (STS-24).
 */
export const equityMoves = (sql: PgClient.PgClient, clientId: number, { after, to }: IdRange): Reading<bigint> =>
  Effect.map(
    sql.unsafe<{ readonly usdc: string }>(
      `SELECT coalesce(sum(CASE
                WHEN t.type = 'SWAP_SETTLE' THEN (t.refs->>'principal')::numeric * 1000000
                WHEN t.type = 'SWAP_PRINCIPAL' THEN (t.refs->>'fee')::numeric * 1000000
                ELSE p.amount END), 0)::bigint::text AS usdc
         FROM postings p JOIN ledger_transactions t USING (tx_id)
        WHERE p.client_id = $1 AND p.posting_id > $2 AND p.posting_id <= $3 AND p.currency = 'USDC'
          AND (p.kind = 'cash' OR t.type = 'SWAP_PRINCIPAL')
          AND t.type NOT IN ('COMMISSION', 'FUNDING', 'PNL', 'BARRIER_SETTLE', 'SWAP_FEE_ADJUST', 'NBP_WRITEOFF')`,
      [BigInt(clientId), BigInt(after), BigInt(to)]
    ),
    ([row]) => BigInt(row?.usdc ?? 0)
  )

/** The stored mark prices of the days in a range, by day (Unix ms) and symbol. */
export const marksOfDays = (
  sql: PgClient.PgClient,
  from: number,
  to: number
): Reading<ReadonlyMap<number, ReadonlyMap<string, string>>> =>
  Effect.map(
    sql.unsafe<{ readonly day: bigint; readonly symbol: string; readonly price: string }>(
      "SELECT day, symbol, price FROM daily_marks WHERE day >= $1 AND day <= $2",
      [BigInt(from), BigInt(to)]
    ),
    (rows) => {
      const days = new Map<number, Map<string, string>>()
      for (const { day, symbol, price } of rows) {
        const marks = days.get(Number(day)) ?? new Map<string, string>()
        days.set(Number(day), marks.set(symbol, price))
      }
      return days
    }
  )

/** The number of stored mark prices from the first day of a period to its end: while it is unchanged, so are the prices. */
export const marksKept = (
  sql: PgClient.PgClient,
  { from, to }: { readonly from: number; readonly to: number }
): Reading<number> =>
  Effect.map(
    sql.unsafe<{ readonly n: bigint }>("SELECT count(*) AS n FROM daily_marks WHERE day >= $1 AND day <= $2", [
      BigInt(from),
      BigInt(to)
    ]),
    ([row]) => Number(row?.n ?? 0)
  )
