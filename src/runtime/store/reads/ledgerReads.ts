/** Postings, and what they add up to: as partners and operators read them, and as payouts are found again (F23, A2-60). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Json } from "../../../machines/Effects.ts"
import type { Currency } from "../../../machines/shared/Currency.ts"

/** A posting with what its transaction says. */
export interface BookedPosting {
  readonly postingId: number
  readonly txId: number
  readonly type: string
  readonly actor: string
  readonly reason: string | null
  readonly ts: number
  /** Minor units. */
  readonly amount: bigint
  readonly currency: Currency
  readonly kind: "cash" | "reserved"
  readonly refs: Json
}

type RawPosting = Omit<BookedPosting, "postingId" | "txId" | "ts"> & {
  readonly posting_id: bigint
  readonly tx_id: bigint
  readonly ts: bigint
}

/** Which of a client's postings; null: of every currency, of every type. */
export interface PostingFilter {
  readonly currency: Currency | null
  readonly type: string | null
}

/** A client's postings, newest first, ids below `before`; at most `limit` of them. */
export const clientPostings = (
  sql: PgClient.PgClient,
  clientId: number,
  before: number | undefined,
  limit: number,
  { currency, type }: PostingFilter = { currency: null, type: null }
): Effect.Effect<ReadonlyArray<BookedPosting>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<RawPosting>(
      `SELECT p.posting_id, p.tx_id, t.type, t.actor, t.reason, t.ts, p.amount, p.currency, p.kind, t.refs
         FROM postings p JOIN ledger_transactions t USING (tx_id)
        WHERE p.client_id = $1 AND p.posting_id < $2 AND ($4::text IS NULL OR p.currency = $4)
          AND ($5::text IS NULL OR t.type = $5) ORDER BY p.posting_id DESC LIMIT $3`,
      [BigInt(clientId), BigInt(before ?? Number.MAX_SAFE_INTEGER), BigInt(limit), currency, type]
    ),
    (rows) => rows.map(bookedOf)
  )

const bookedOf = (row: RawPosting): BookedPosting => ({
  postingId: Number(row.posting_id),
  txId: Number(row.tx_id),
  type: row.type,
  actor: row.actor,
  reason: row.reason,
  ts: Number(row.ts),
  amount: row.amount,
  currency: row.currency,
  kind: row.kind,
  refs: row.refs
})

/** A client's postings of the transactions with these keys, oldest first: a key is unique, so there are a few of each. */
export const postingsUnder = (
  sql: PgClient.PgClient,
  clientId: number,
  keys: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<BookedPosting>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<RawPosting>(
      `SELECT p.posting_id, p.tx_id, t.type, t.actor, t.reason, t.ts, p.amount, p.currency, p.kind, t.refs
         FROM ledger_transactions t JOIN postings p USING (tx_id)
        WHERE t.key = ANY($1::text[]) AND p.client_id = $2 ORDER BY p.posting_id`,
      [keys, BigInt(clientId)]
    ),
    (rows) => rows.map(bookedOf)
  )

/** Minor units of one currency. */
export interface Held {
  readonly currency: Currency
  readonly cash: bigint
  readonly reserved: bigint
}

/** What a client's postings up to a moment add up to: postings never change, so neither does the answer. */
export const heldAt = (
  sql: PgClient.PgClient,
  clientId: number,
  at: number
): Effect.Effect<ReadonlyArray<Held>, SqlError.SqlError> =>
  sql.unsafe<Held>(
    `SELECT p.currency, (coalesce(sum(p.amount) FILTER (WHERE p.kind = 'cash'), 0))::bigint AS cash,
            (coalesce(sum(p.amount) FILTER (WHERE p.kind = 'reserved'), 0))::bigint AS reserved
       FROM postings p JOIN ledger_transactions t USING (tx_id)
      WHERE p.client_id = $1 AND t.ts <= $2 GROUP BY p.currency`,
    [BigInt(clientId), BigInt(at)]
  )

/** A payout as it is booked, with the client's balance of the currency right after it. */
export interface BookedPayout {
  readonly reason: string | null
  readonly ts: bigint
  readonly currency: string
  /** Minor units, more than zero. */
  readonly minor: bigint
  readonly cash: string
  readonly reserved: string
}

/** $1 the transaction, $2 the client. */
const payoutText = `
  SELECT t.reason, t.ts, p.currency, -p.amount AS minor, after.cash, after.reserved
    FROM ledger_transactions t
    JOIN postings p ON p.tx_id = t.tx_id AND p.client_id = $2
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount) FILTER (WHERE kind = 'cash'), 0)::text AS cash,
             coalesce(sum(amount) FILTER (WHERE kind = 'reserved'), 0)::text AS reserved
        FROM postings WHERE client_id = $2 AND currency = p.currency AND tx_id <= $1) after
   WHERE t.tx_id = $1`

/** The payout that this transaction of the client's is; undefined when there is none. */
export const bookedPayout = (
  sql: PgClient.PgClient,
  clientId: number,
  ledgerTxId: number
): Effect.Effect<BookedPayout | undefined, SqlError.SqlError> =>
  Effect.map(sql.unsafe<BookedPayout>(payoutText, [BigInt(ledgerTxId), BigInt(clientId)]), ([row]) => row)

export interface OldPayout {
  readonly payout: bigint
  readonly client_id: bigint
  readonly partner_id: bigint
  /** Micro-USDC, more than zero. */
  readonly minor: bigint
}

/** Every payout that was booked as a collateral withdrawal and has not been put right (decision record 13). */
export const oldPayouts = (sql: PgClient.PgClient): Effect.Effect<ReadonlyArray<OldPayout>, SqlError.SqlError> =>
  sql.unsafe<OldPayout>(`
  SELECT t.tx_id AS payout, t.client_id, t.partner_id, -p.amount AS minor
    FROM ledger_transactions t JOIN postings p ON p.tx_id = t.tx_id AND p.client_id = t.client_id
   WHERE t.key LIKE 'payout:%' AND t.type = 'PARTNER_COLLATERAL_OUT' AND t.key = 'payout:' || t.tx_id
     AND NOT EXISTS (SELECT 1 FROM ledger_transactions c WHERE c.key = 'payout:' || t.tx_id || ':owed')
   ORDER BY t.tx_id`)
