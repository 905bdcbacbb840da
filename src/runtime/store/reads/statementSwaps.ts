/** Staking swaps for statements: by their ids, their write-offs, and the amounts and costs of takes (STS-24, STS-25, STS-27). */
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

/** A stored row keeps its older machine version until its next change, so each is upcast here. */
const byId = (rows: ReadonlyArray<RawSwap>): ReadonlyMap<number, SwapContext> =>
  new Map(rows.map(({ id, context }) => [Number(id), withWriteOffs(context)]))

export const swapsByIds = (
  sql: PgClient.PgClient,
  ids: ReadonlyArray<number>
): Reading<ReadonlyMap<number, SwapContext>> =>
  Effect.map(sql.unsafe<RawSwap>("SELECT id, context FROM swaps WHERE id = ANY ($1)", [int8s(ids)]), byId)

/** The client's swaps with write-offs by staff, up to an id. */
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

/** The times at which the ends of swaps were booked here, independent of the venue's times. */
export const swapEnds = (sql: PgClient.PgClient, ids: ReadonlyArray<number>): Reading<ReadonlyMap<number, number>> =>
  Effect.map(
    sql.unsafe<{ readonly object: string; readonly ts: bigint }>(
      "SELECT object, ts FROM audit WHERE object = ANY ($1::text[]) AND action = 'swap.end'",
      [texts(ids.map((id) => `swap:${id}`))]
    ),
    (rows) => new Map(rows.map(({ object, ts }) => [Number(object.slice("swap:".length)), Number(ts)]))
  )

/** The amounts and costs of takes in a range of a client's postings, micro-USDC at the mark prices of their booking (STS-9). */
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
