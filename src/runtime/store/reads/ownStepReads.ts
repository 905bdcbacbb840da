/**
 * Rows that show steps without an audit row: trades of an order, postings of a swap, notifications and requests of a contract
 * (operator surface, machine inspect, atlas). Each query uses an index.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { texts } from "../arrays.ts"

/** Business time, Unix ms: from inclusive, until exclusive. */
export interface StepWindow {
  readonly from: number
  readonly until: number
  readonly limit: number
}

export interface StepTrade {
  readonly tradeId: number
  readonly price: string
  readonly qty: string
  /** The time of the booking. */
  readonly at: number
}

const bounds = ({ from, until, limit }: StepWindow) => [BigInt(from), BigInt(until), BigInt(limit)] as const

/** The newest trades of an order in a window, newest last, and the number of trades in it. */
export const tradesOfOrder = (
  sql: PgClient.PgClient,
  orderId: number,
  window: StepWindow
): Effect.Effect<{ readonly trades: ReadonlyArray<StepTrade>; readonly all: number }, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{
      readonly trade_id: bigint
      readonly price: string
      readonly qty: string
      readonly booked_at: bigint
      readonly n: bigint
    }>(
      `SELECT trade_id, price, qty, booked_at, count(*) OVER () AS n FROM fills
        WHERE order_id = $1 AND booked_at >= $2 AND booked_at < $3 ORDER BY id DESC LIMIT $4`,
      [BigInt(orderId), ...bounds(window)]
    ),
    (rows) => ({
      all: Number(rows[0]?.n ?? 0),
      trades: rows
        .map(({ trade_id, price, qty, booked_at }) => ({
          tradeId: Number(trade_id),
          price,
          qty,
          at: Number(booked_at)
        }))
        .toReversed()
    })
  )

/** The times of the postings under these keys; missing keys are left out. */
export const postedAt = (
  sql: PgClient.PgClient,
  keys: ReadonlyArray<string>
): Effect.Effect<ReadonlyMap<string, number>, SqlError.SqlError> =>
  keys.length === 0
    ? Effect.succeed(new Map())
    : Effect.map(
        sql.unsafe<{ readonly key: string; readonly ts: bigint }>(
          "SELECT key, ts FROM ledger_transactions WHERE key = ANY ($1::text[])",
          [texts(keys)]
        ),
        (rows) => new Map(rows.map(({ key, ts }) => [key, Number(ts)]))
      )

/** The newest notifications of a client that name an object, of some kinds, newest last. */
export const noticesOf = (
  sql: PgClient.PgClient,
  clientId: number,
  { ref, kinds }: { readonly ref: string; readonly kinds: ReadonlyArray<string> },
  window: StepWindow
): Effect.Effect<ReadonlyArray<{ readonly kind: string; readonly at: number }>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly kind: string; readonly ts: bigint }>(
      `SELECT kind, ts FROM notifications
        WHERE client_id = $1 AND ts >= $2 AND ts < $3 AND ref = $5 AND kind = ANY ($6::text[])
        ORDER BY ts DESC, id DESC LIMIT $4`,
      [BigInt(clientId), ...bounds(window), ref, texts(kinds)]
    ),
    (rows) => rows.map(({ kind, ts }) => ({ kind, at: Number(ts) })).toReversed()
  )

/** The newest requests to close a contract, newest last. */
export const requestedCloses = (
  sql: PgClient.PgClient,
  clientId: number,
  contractId: number,
  window: StepWindow
): Effect.Effect<ReadonlyArray<{ readonly rfqId: number; readonly at: number }>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly id: bigint; readonly created_at: bigint }>(
      `SELECT id, created_at FROM rfqs
        WHERE client_id = $1 AND created_at >= $2 AND created_at < $3 AND close_contract_id = $5 ORDER BY id DESC LIMIT $4`,
      [BigInt(clientId), ...bounds(window), BigInt(contractId)]
    ),
    (rows) => rows.map(({ id, created_at }) => ({ rfqId: Number(id), at: Number(created_at) })).toReversed()
  )

/** The creation times of the orders with these ids, business time, Unix ms. */
export const ordersMadeAt = (
  sql: PgClient.PgClient,
  ids: ReadonlyArray<number>
): Effect.Effect<ReadonlyArray<{ readonly orderId: number; readonly at: number }>, SqlError.SqlError> =>
  ids.length === 0
    ? Effect.succeed([])
    : Effect.map(
        sql.unsafe<{ readonly id: bigint; readonly created_at: bigint }>(
          `SELECT id, created_at FROM orders WHERE id IN (${ids.map((_, at) => `$${at + 1}`).join(", ")}) ORDER BY id`,
          ids.map(BigInt)
        ),
        (rows) => rows.map(({ id, created_at }) => ({ orderId: Number(id), at: Number(created_at) }))
      )
