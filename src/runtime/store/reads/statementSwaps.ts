/** Staking swaps as statements tell them: by their ids, what was given up of them, what takes lent and cost (STS-24, STS-25, STS-27). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { SwapContext } from "../../../machines/swap/Swap.ts"
import { int8s, texts } from "../arrays.ts"
import { withWriteOffs } from "../../tables/swap.ts"
import type { IdRange } from "./statementReads.ts"

type Reading<A> = Effect.Effect<A, SqlError.SqlError>

interface RawSwap {
  readonly id: bigint
  readonly context: SwapContext
}

/** A row takes the form of its machine's newest version with its next change only. */
const byId = (rows: ReadonlyArray<RawSwap>): ReadonlyMap<number, SwapContext> =>
  new Map(rows.map(({ id, context }) => [Number(id), withWriteOffs(context)]))

export const swapsByIds = (
  sql: PgClient.PgClient,
  ids: ReadonlyArray<number>
): Reading<ReadonlyMap<number, SwapContext>> =>
  Effect.map(sql.unsafe<RawSwap>("SELECT id, context FROM swaps WHERE id = ANY ($1)", [int8s(ids)]), byId)

/** The client's swaps that staff wrote something off of, up to an id. */
export const swapsWrittenOff = (
  sql: PgClient.PgClient,
  clientId: number,
  lastId: number
): Reading<ReadonlyMap<number, SwapContext>> =>
  Effect.map(
    sql.unsafe<RawSwap>(
      `SELECT id, context FROM swaps
        WHERE client_id = $1 AND id <= $2 AND state IN ('DEFAULTED', 'CURED', 'FINAL_SETTLEMENT')
          AND coalesce(json_array_length(context -> 'writeOffs'), 1) > 0`,
      [BigInt(clientId), BigInt(lastId)]
    ),
    byId
  )

/** When swaps ended here, by the time of its booking, whatever the venue's was. */
export const swapEnds = (sql: PgClient.PgClient, ids: ReadonlyArray<number>): Reading<ReadonlyMap<number, number>> =>
  Effect.map(
    sql.unsafe<{ readonly object: string; readonly ts: bigint }>(
      "SELECT object, ts FROM audit WHERE object = ANY ($1::text[]) AND action = 'swap.end'",
      [texts(ids.map((id) => `swap:${id}`))]
    ),
    (rows) => new Map(rows.map(({ object, ts }) => [Number(object.slice("swap:".length)), Number(ts)]))
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
                CASE WHEN p.currency = 'USDC' THEN 1 ELSE coalesce((t.refs->>'mark')::numeric, 0) END AS mark
           FROM postings p JOIN ledger_transactions t USING (tx_id)
          WHERE p.client_id = $1 AND p.posting_id > $2 AND p.posting_id <= $3 AND t.type = 'SWAP_PRINCIPAL')
       SELECT coalesce(sum(floor(notional * mark * 1000000)), 0)::bigint::text AS notional,
              coalesce(sum(ceil(fee * mark * 1000000)), 0)::bigint::text AS fees FROM taken`,
      [BigInt(clientId), BigInt(after), BigInt(to)]
    ),
    ([row]) => ({ notional: BigInt(row?.notional ?? 0), fees: BigInt(row?.fees ?? 0) })
  )
