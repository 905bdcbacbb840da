/** Staking swaps as statements tell them: by their ids, and what their fees were worth (STS-24, STS-25). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { SwapContext } from "../../../machines/swap/Swap.ts"
import { int8s } from "../arrays.ts"
import type { IdRange } from "./statementReads.ts"

type Reading<A> = Effect.Effect<A, SqlError.SqlError>

export const swapsByIds = (
  sql: PgClient.PgClient,
  ids: ReadonlyArray<number>
): Reading<ReadonlyMap<number, SwapContext>> =>
  Effect.map(
    sql.unsafe<{ readonly id: bigint; readonly context: SwapContext }>(
      "SELECT id, context FROM swaps WHERE id = ANY ($1)",
      [int8s(ids)]
    ),
    (rows) => new Map(rows.map(({ id, context }) => [Number(id), context]))
  )

/** What takes of a stretch of a client's postings lent and cost, micro-USDC at the marks of their booking (STS-9). */
export const takeSums = (
  sql: PgClient.PgClient,
  clientId: number,
  { after, to }: IdRange
): Reading<{ readonly notional: bigint; readonly fees: bigint }> =>
  Effect.map(
    sql.unsafe<{ readonly notional: string; readonly fees: string }>(
      `WITH taken AS (
         SELECT (t.refs->>'notional')::numeric AS notional, (t.refs->>'fee')::numeric AS fee,
                CASE WHEN p.currency = 'USDC' THEN 1
                     ELSE coalesce(-(t.refs->>'valueUsdc')::numeric, 0) /
                       nullif((t.refs->>'notional')::numeric + (t.refs->>'fee')::numeric, 0) END AS price
           FROM postings p JOIN ledger_transactions t USING (tx_id)
          WHERE p.client_id = $1 AND p.posting_id > $2 AND p.posting_id <= $3 AND t.type = 'SWAP_PRINCIPAL')
       SELECT coalesce(sum(floor(notional * price * 1000000)), 0)::bigint::text AS notional,
              coalesce(sum(ceil(fee * price * 1000000)), 0)::bigint::text AS fees FROM taken`,
      [BigInt(clientId), BigInt(after), BigInt(to)]
    ),
    ([row]) => ({ notional: BigInt(row?.notional ?? 0), fees: BigInt(row?.fees ?? 0) })
  )
