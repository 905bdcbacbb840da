/**
 * The content of statements, read by keyset under the ids of their cut (STS-19, STS-22): postings, executions and the objects
 * they belong to. No read holds a transaction open: rows under a cut never change, so a page is the same whenever it is read.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { JsonObject } from "../../../machines/shared/Json.ts"
import type { Currency } from "../../../machines/shared/Currency.ts"
import type { Cut } from "../../../machines/statement/StatementModel.ts"

type Reading<A> = Effect.Effect<A, SqlError.SqlError>

/** A range of ids: above `after`, up to `to` inclusive. */
export interface IdRange {
  readonly after: number
  readonly to: number
}

/** The last id of each kind of the client's objects that was booked before a moment (Unix ms). */
export const cutOffBefore = (sql: PgClient.PgClient, clientId: number, moment: number): Reading<Cut> =>
  Effect.map(
    sql.unsafe<{ readonly posting: bigint; readonly fill: bigint; readonly contract: bigint; readonly swap: bigint }>(
      `SELECT last_posting_before($1, $2) AS posting, last_fill_before($1, $2) AS fill,
              last_contract_before($1, $2) AS contract, last_swap_before($1, $2) AS swap`,
      [BigInt(clientId), BigInt(moment)]
    ),
    ([row]) => ({
      postingId: Number(row?.posting ?? 0),
      fillId: Number(row?.fill ?? 0),
      contractId: Number(row?.contract ?? 0),
      swapId: Number(row?.swap ?? 0)
    })
  )

/** The seal that covers a posting; null while no seal does. */
export const sealOfPosting = (
  sql: PgClient.PgClient,
  postingId: number
): Reading<{ readonly number: number; readonly hash: string } | null> =>
  Effect.map(
    sql.unsafe<{ readonly number: bigint; readonly hash: string }>(
      "SELECT number, hash FROM seals WHERE posting_to >= $1 ORDER BY posting_to, number LIMIT 1",
      [BigInt(postingId)]
    ),
    ([row]) => (row === undefined ? null : { number: Number(row.number), hash: row.hash })
  )

/** Limit on the postings that one SQL statement reads. */
const chunkOfPostings = 20_000

/** The end of the next chunk of a client's postings; null if none is left in the range. */
export const postingChunkEnd = (
  sql: PgClient.PgClient,
  clientId: number,
  { after, to }: IdRange
): Reading<number | null> =>
  Effect.map(
    sql.unsafe<{ readonly last: bigint | null }>(
      `SELECT max(posting_id) AS last FROM (SELECT posting_id FROM postings
         WHERE client_id = $1 AND posting_id > $2 AND posting_id <= $3 ORDER BY posting_id LIMIT $4) stretch`,
      [BigInt(clientId), BigInt(after), BigInt(to), BigInt(chunkOfPostings)]
    ),
    ([row]) => (row?.last == null ? null : Number(row.last))
  )

/** The sum of the postings of one currency and kind in a range. */
export interface PostingSum {
  readonly currency: Currency
  readonly kind: "cash" | "reserved"
  /** The signed sum in minor units. */
  readonly amount: bigint
  readonly rows: number
}

/** The sums in a range of a client's postings, one row for each currency and kind. */
export const postingSums = (
  sql: PgClient.PgClient,
  clientId: number,
  { after, to }: IdRange
): Reading<ReadonlyArray<PostingSum>> =>
  Effect.map(
    sql.unsafe<Omit<PostingSum, "amount" | "rows"> & { readonly amount: string; readonly rows: bigint }>(
      `SELECT currency, kind, sum(amount)::text AS amount, count(*) AS rows FROM postings
        WHERE client_id = $1 AND posting_id > $2 AND posting_id <= $3 GROUP BY currency, kind`,
      [BigInt(clientId), BigInt(after), BigInt(to)]
    ),
    (rows) => rows.map((row) => ({ ...row, amount: BigInt(row.amount), rows: Number(row.rows) }))
  )

/** A client's balance of a currency before a moment, and the balance with all postings up to a given posting; minor units. */
export const balancesAtCutOff = (
  sql: PgClient.PgClient,
  clientId: number,
  to: number,
  before: number
): Reading<
  ReadonlyArray<{
    readonly currency: Currency
    readonly kind: "cash" | "reserved"
    readonly opening: bigint
    readonly closing: bigint
  }>
> =>
  Effect.map(
    sql.unsafe<{
      readonly currency: Currency
      readonly kind: "cash" | "reserved"
      readonly opening: string
      readonly closing: string
    }>(
      `SELECT p.currency, p.kind, coalesce(sum(p.amount) FILTER (WHERE t.ts < $3), 0)::text AS opening, sum(p.amount)::text AS closing
         FROM postings p JOIN ledger_transactions t USING (tx_id)
        WHERE p.client_id = $1 AND p.posting_id <= $2 GROUP BY p.currency, p.kind`,
      [BigInt(clientId), BigInt(to), BigInt(before)]
    ),
    (rows) => rows.map((row) => ({ ...row, opening: BigInt(row.opening), closing: BigInt(row.closing) }))
  )

/** A posting of a client with the facts of its transaction. */
export interface StatementPosting {
  readonly postingId: number
  readonly txId: number
  readonly key: string
  readonly type: string
  readonly ts: number
  readonly amount: bigint
  readonly currency: Currency
  readonly kind: "cash" | "reserved"
  readonly refs: JsonObject
}

interface RawPosting {
  readonly posting_id: bigint
  readonly tx_id: bigint
  readonly key: string
  readonly type: string
  readonly ts: bigint
  readonly amount: bigint
  readonly currency: Currency
  readonly kind: "cash" | "reserved"
  readonly refs: JsonObject
}

const statementPosting = (row: RawPosting): StatementPosting => ({
  postingId: Number(row.posting_id),
  txId: Number(row.tx_id),
  key: row.key,
  type: row.type,
  ts: Number(row.ts),
  amount: row.amount,
  currency: row.currency,
  kind: row.kind,
  refs: row.refs
})

const postingColumns = "p.posting_id, p.tx_id, t.key, t.type, t.ts, p.amount, p.currency, p.kind, t.refs"

/** A posting, and the venue's time of its trade; null if it belongs to no trade. */
export interface TimedPosting extends StatementPosting {
  readonly tradeTs: number | null
}

/** SQL of the venue's time of the trade that a transaction's key names; null for other keys. */
const tradeTs = `CASE WHEN t.key ~ '^(pnl|commission|spot|release):[0-9]+:[0-9]+$'
  THEN (SELECT f.ts FROM fills f WHERE f.order_id = split_part(t.key, ':', 2)::int8 AND f.trade_id = split_part(t.key, ':', 3)::int8) END`

/** A client's postings of one currency in the order of their ids, at most `limit`. */
export const postingsOf = (
  sql: PgClient.PgClient,
  clientId: number,
  currency: Currency,
  { after, to }: IdRange,
  limit: number
): Reading<ReadonlyArray<TimedPosting>> =>
  Effect.map(
    sql.unsafe<RawPosting & { readonly trade_ts: bigint | null }>(
      `SELECT ${postingColumns}, ${tradeTs} AS trade_ts FROM postings p JOIN ledger_transactions t USING (tx_id)
        WHERE p.client_id = $1 AND p.posting_id > $2 AND p.posting_id <= $3 AND p.currency = $4
        ORDER BY p.posting_id LIMIT $5`,
      [BigInt(clientId), BigInt(after), BigInt(to), currency, BigInt(limit)]
    ),
    (rows) =>
      rows.map((row) => ({ ...statementPosting(row), tradeTs: row.trade_ts === null ? null : Number(row.trade_ts) }))
  )

/** All postings of these types in a range of a client's postings, in the order of their ids. */
export const postingsOfTypes = (
  sql: PgClient.PgClient,
  clientId: number,
  types: unknown,
  { after, to }: IdRange
): Reading<ReadonlyArray<StatementPosting>> =>
  Effect.map(
    sql.unsafe<RawPosting>(
      `SELECT ${postingColumns} FROM postings p JOIN ledger_transactions t USING (tx_id)
        WHERE p.client_id = $1 AND p.posting_id > $2 AND p.posting_id <= $3 AND t.type = ANY ($4::text[])
        ORDER BY p.posting_id`,
      [BigInt(clientId), BigInt(after), BigInt(to), types]
    ),
    (rows) => rows.map(statementPosting)
  )

/** A fill in the form of statements; `orderType` and `origin` are those of its order. */
export interface StatementFill {
  readonly id: number
  readonly orderId: number
  readonly tradeId: number
  readonly symbol: string
  readonly family: "PERP" | "SPOT"
  readonly side: "BUY" | "SELL"
  readonly price: string
  readonly qty: string
  readonly closedQty: string | null
  readonly currency: Currency
  readonly notional: bigint
  readonly commission: bigint
  readonly realizedPnl: bigint
  /** The time at which the venue executed the trade, Unix ms. */
  readonly ts: number
  readonly bookedAt: number
  readonly orderType: string
  readonly origin: string
}

export interface RawFill extends Omit<
  StatementFill,
  "id" | "orderId" | "tradeId" | "closedQty" | "realizedPnl" | "orderType" | "ts" | "bookedAt"
> {
  readonly id: bigint
  readonly order_id: bigint
  readonly trade_id: bigint
  readonly closed_qty: string | null
  readonly realized_pnl: bigint
  readonly order_type: string
  readonly ts: bigint
  readonly booked_at: bigint
}

/** The columns of a fill for `statementFill`, from the table alias `f`. */
export const fillColumns = `f.id, f.order_id, f.trade_id, f.symbol, f.family, f.side, f.price, f.qty, f.closed_qty, f.currency,
  f.notional, f.commission, f.realized_pnl, f.order_type, f.origin, f.ts, f.booked_at`

/** Copies field by field: a generic copy costs several times as much. */
export const statementFill = (row: RawFill): StatementFill => ({
  id: Number(row.id),
  orderId: Number(row.order_id),
  tradeId: Number(row.trade_id),
  symbol: row.symbol,
  family: row.family,
  side: row.side,
  price: row.price,
  qty: row.qty,
  closedQty: row.closed_qty,
  currency: row.currency,
  notional: row.notional,
  commission: row.commission,
  realizedPnl: row.realized_pnl,
  orderType: row.order_type,
  origin: row.origin,
  ts: Number(row.ts),
  bookedAt: Number(row.booked_at)
})

/** A client's fills in the order of their ids, at most `limit`; of one family if given. */
export const fillsOf = (
  sql: PgClient.PgClient,
  clientId: number,
  { after, to }: IdRange,
  limit: number,
  family: "PERP" | "SPOT" | null = null
): Reading<ReadonlyArray<StatementFill>> =>
  Effect.map(
    sql.unsafe<RawFill>(
      `SELECT ${fillColumns}
         FROM fills f
        WHERE f.client_id = $1 AND f.id > $2 AND f.id <= $3 AND ($5::text IS NULL OR f.family = $5)
        ORDER BY f.id LIMIT $4`,
      [BigInt(clientId), BigInt(after), BigInt(to), BigInt(limit), family]
    ),
    (rows) => rows.map(statementFill)
  )

/** The number of fills in a range, and the sums of the amounts they moved, by family and currency. */
export const fillSums = (
  sql: PgClient.PgClient,
  clientId: number,
  { after, to }: IdRange
): Reading<
  ReadonlyArray<{
    readonly family: "PERP" | "SPOT"
    readonly currency: Currency
    readonly notional: bigint
    readonly rows: number
  }>
> =>
  Effect.map(
    sql.unsafe<{
      readonly family: "PERP" | "SPOT"
      readonly currency: Currency
      readonly notional: string
      readonly rows: bigint
    }>(
      `SELECT family, currency, sum(notional)::text AS notional, count(*) AS rows FROM fills
        WHERE client_id = $1 AND id > $2 AND id <= $3 GROUP BY family, currency`,
      [BigInt(clientId), BigInt(after), BigInt(to)]
    ),
    (rows) => rows.map((row) => ({ ...row, notional: BigInt(row.notional), rows: Number(row.rows) }))
  )

/** The custody model of a partner at a past moment. `now`: its present model, which counts if no change followed. */
export const custodyAt = (sql: PgClient.PgClient, partnerId: number, now: string, moment: number): Reading<string> =>
  Effect.map(
    sql.unsafe<{ readonly before: string }>(
      "SELECT before FROM custody_changes WHERE partner_id = $1 AND changed_at >= $2 ORDER BY id LIMIT 1",
      [BigInt(partnerId), BigInt(moment)]
    ),
    ([row]) => row?.before ?? now
  )
