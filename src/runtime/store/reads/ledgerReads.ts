/** Postings and their sums, as partners and operators read them, and the search of booked payouts (F23, A2-60). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Json } from "../../../machines/shared/Json.ts"
import { type Currency, currencyCodes } from "../../../machines/shared/Currency.ts"
import { int8s } from "../arrays.ts"
import { inOrder } from "../paging.ts"
import type { HeldThen } from "../../tables/statementJob.ts"

/** A posting with the columns of its transaction. */
export interface BookedPosting {
  readonly postingId: number
  readonly txId: number
  readonly type: string
  readonly actor: string
  readonly reason: string | null
  readonly ts: number
  /** The amount in minor units of `currency`, signed from the client's view. */
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

/** Selects a client's postings by currency and type; null selects all of them. */
export interface PostingFilter {
  readonly currency: Currency | null
  readonly type: string | null
}

/** A client's postings that match the filter and have ids below `before`, newest first, at most `limit`. */
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
        WHERE ${inOrder("p.client_id", "$1")} AND p.posting_id < $2 AND ($4::text IS NULL OR p.currency = $4)
          AND ($5::text IS NULL OR t.type = $5) ORDER BY p.client_id, p.posting_id DESC LIMIT $3`,
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

/** One leg of a transaction: a posting in a client's account, or in a house account, where `clientId` is null. */
export interface BookedLeg extends BookedPosting {
  readonly account: string
  readonly clientId: number | null
}

/**
 * All legs of the transactions with these keys, oldest first. A key belongs to one transaction, so each has only a few
 * legs.
 */
export const legsUnder = (
  sql: PgClient.PgClient,
  keys: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<BookedLeg>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<RawPosting & { readonly account: string; readonly client_id: bigint | null }>(
      `SELECT p.posting_id, p.tx_id, p.account, p.client_id, t.type, t.actor, t.reason, t.ts, p.amount, p.currency, p.kind, t.refs
         FROM ledger_transactions t JOIN postings p USING (tx_id)
        WHERE t.key = ANY($1::text[]) ORDER BY p.posting_id`,
      [keys]
    ),
    (rows) =>
      rows.map((row) => ({
        ...bookedOf(row),
        account: row.account,
        clientId: row.client_id === null ? null : Number(row.client_id)
      }))
  )

/** A client's holding of one currency in minor units. */
export interface Held {
  readonly currency: Currency
  readonly cash: bigint
  readonly reserved: bigint
}

/** The midnights that are searched for stored holdings, last one first; an account that held nothing has none (STS-28). */
const midnightsRead = 40
const dayMillis = 86_400_000

interface KeptHeld {
  /** The holdings of the newest stored midnight; null if none is stored for the midnights that are searched. */
  readonly held: HeldThen | null
  /** The last posting before that midnight, and the last posting that the sum includes. */
  readonly low: bigint
  readonly high: bigint
}

/**
 * The sum of a client's postings up to a moment: the holdings of the newest stored midnight plus the later postings, about one
 * day's worth however old the account is. Postings never change, so neither does the result. A currency that was never held has
 * no row.
 */
export const heldAt = (
  sql: PgClient.PgClient,
  clientId: number,
  at: number
): Effect.Effect<ReadonlyArray<Held>, SqlError.SqlError> =>
  Effect.gen(function* () {
    const last = at + 1 - ((at + 1) % dayMillis)
    const days = Array.from({ length: midnightsRead }, (_, n) => last - n * dayMillis)
    const [kept] = yield* sql.unsafe<KeptHeld>(
      `WITH kept AS (
         SELECT e.day, e.held FROM unnest($3::int8[]) AS d(day) JOIN daily_equities e ON e.day = d.day AND e.client_id = $1
          WHERE e.held IS NOT NULL ORDER BY e.day DESC LIMIT 1)
       SELECT (SELECT held FROM kept) AS held, coalesce((SELECT last_posting_before($1, day) FROM kept), 0) AS low,
              last_posting_before($1, $2) AS high`,
      [BigInt(clientId), BigInt(at + 1), int8s(days)]
    )
    const { held, low, high } = kept ?? { held: null, low: 0n, high: 0n }
    const since = yield* sql.unsafe<{ readonly currency: Currency; readonly kind: string; readonly amount: bigint }>(
      `SELECT currency, kind, sum(amount)::bigint AS amount FROM postings
        WHERE client_id = $1 AND posting_id > $2 AND posting_id <= $3 GROUP BY currency, kind`,
      [BigInt(clientId), low, high]
    )
    const sums = new Map(Object.entries(held ?? {}).map(([name, amount]) => [name, BigInt(amount)]))
    for (const { currency, kind, amount } of since) {
      const name = `${currency} ${kind}`
      sums.set(name, (sums.get(name) ?? 0n) + amount)
    }
    const of = (currency: Currency, kind: string): bigint => sums.get(`${currency} ${kind}`) ?? 0n
    return currencyCodes
      .map((currency) => ({ currency, cash: of(currency, "cash"), reserved: of(currency, "reserved") }))
      .filter(({ cash, reserved }) => cash !== 0n || reserved !== 0n)
  })

/** A booked payout, with the client's balance of the currency right after it. */
export interface BookedPayout {
  readonly reason: string | null
  readonly ts: bigint
  readonly currency: string
  /** The amount paid out, in minor units; more than zero. */
  readonly minor: bigint
  readonly cash: string
  readonly reserved: string
}

/** The text of the payout query. Parameters: $1 the transaction, $2 the client. */
const payoutText = `
  SELECT t.reason, t.ts, p.currency, -p.amount AS minor, after.cash, after.reserved
    FROM ledger_transactions t
    JOIN postings p ON p.tx_id = t.tx_id AND p.client_id = $2
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount) FILTER (WHERE kind = 'cash'), 0)::text AS cash,
             coalesce(sum(amount) FILTER (WHERE kind = 'reserved'), 0)::text AS reserved
        FROM postings WHERE client_id = $2 AND currency = p.currency AND tx_id <= $1) after
   WHERE t.tx_id = $1`

/** The client's payout in this transaction; undefined if there is none. */
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
  /** The amount paid out, in micro-USDC; more than zero. */
  readonly minor: bigint
}

/** Every payout that was booked as a collateral withdrawal and has not been corrected (decision record 13). */
export const oldPayouts = (sql: PgClient.PgClient): Effect.Effect<ReadonlyArray<OldPayout>, SqlError.SqlError> =>
  sql.unsafe<OldPayout>(`
  SELECT t.tx_id AS payout, t.client_id, t.partner_id, -p.amount AS minor
    FROM ledger_transactions t JOIN postings p ON p.tx_id = t.tx_id AND p.client_id = t.client_id
   WHERE t.key LIKE 'payout:%' AND t.type = 'PARTNER_COLLATERAL_OUT' AND t.key = 'payout:' || t.tx_id
     AND NOT EXISTS (SELECT 1 FROM ledger_transactions c WHERE c.key = 'payout:' || t.tx_id || ':owed')
   ORDER BY t.tx_id`)
