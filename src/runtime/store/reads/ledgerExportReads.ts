/**
 * The ledger for export to other accounting programs, page by page (operator surface, ledger export; A2-62). The first page fixes
 * the newest posting of the export. Ids become visible in commit order and postings never change, so all pages and sums cover
 * exactly the same postings, while the service continues to post.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Currency } from "../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"
import { int8s } from "../arrays.ts"
import { longWork } from "../transactions.ts"

export interface ExportScope {
  readonly partnerId: number | null
  /** Unix ms, inclusive; null: from the first posting. */
  readonly from: number | null
  /** Unix ms, exclusive; null: to the newest posting. */
  readonly to: number | null
  /** The newest posting of the export. */
  readonly upTo: number
}

/** One account in one currency: its balance just before `from`, and at the end. */
export interface ExportedAccount {
  readonly account: string
  readonly clientId: number | null
  readonly kind: "cash" | "reserved"
  readonly currency: Currency
  readonly opening: string
  readonly closing: string
}

export interface ExportedTransaction {
  readonly txId: number
  readonly type: string
  readonly key: string
  readonly ts: number
  readonly postings: ReadonlyArray<ExportedPosting>
}

export interface ExportedPosting {
  readonly postingId: number
  readonly account: string
  readonly clientId: number | null
  readonly kind: "cash" | "reserved"
  readonly currency: Currency
  readonly amount: string
}

export interface Page<A> {
  readonly rows: ReadonlyArray<A>
  /** The start of the next page; null on the last page. */
  readonly nextAfter: number | null
}

type Reading<A> = Effect.Effect<A, SqlError.SqlError, PgClient.PgClient>

/** The number of clients of one page of accounts, and of postings that one page of transactions reads. */
export const exportPageSize = 4_000

export const newestPosting: Reading<number> = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const rows = yield* sql.unsafe<{ readonly id: bigint }>("SELECT coalesce(max(posting_id), 0) AS id FROM postings")
  return Number(rows[0]?.id ?? 0)
})

/** The accounts of clients in the order of their ids; the last page includes the house accounts. */
export const accountPage = Effect.fnUntraced(function* (scope: ExportScope, after: number, limit = exportPageSize) {
  const sql = yield* PgClient.PgClient
  const partner = scope.partnerId === null ? "" : " AND partner_id = $3"
  const clients = yield* sql.unsafe<{ readonly id: bigint }>(
    `SELECT DISTINCT client_id AS id FROM balances WHERE client_id > $1${partner} ORDER BY client_id LIMIT $2`,
    [BigInt(after), BigInt(limit), ...(scope.partnerId === null ? [] : [BigInt(scope.partnerId)])]
  )
  const ids = clients.map(({ id }) => id)
  const last = ids.length < limit
  const ofClients = yield* sumsOf(scope, "p.client_id = ANY($1::bigint[])", ids)
  // House accounts have no rows: each balance is the sum of all its postings.
  const rows = last ? [...ofClients, ...(yield* sumsOf(scope, "p.client_id IS NULL", null))] : ofClients
  return { rows, nextAfter: last ? null : Number(ids.at(-1)) } satisfies Page<ExportedAccount>
})

const sumsOf = Effect.fnUntraced(function* (scope: ExportScope, whose: string, ids: ReadonlyArray<bigint> | null) {
  const sql = yield* PgClient.PgClient
  const values: Array<unknown> = ids === null ? [] : [int8s(ids)]
  const place = (value: number) => `$${values.push(BigInt(value))}`
  const opening = scope.from === null ? "0" : `coalesce(sum(p.amount) FILTER (WHERE t.ts < ${place(scope.from)}), 0)`
  const tests = [whose, `p.posting_id <= ${place(scope.upTo)}`]
  if (scope.to !== null) tests.push(`t.ts < ${place(scope.to)}`)
  if (scope.partnerId !== null) tests.push(`p.partner_id = ${place(scope.partnerId)}`)
  const statement = `SELECT p.account, p.client_id, p.kind, p.currency, (${opening})::text AS opening, sum(p.amount)::text AS closing
       FROM postings p ${scope.from === null && scope.to === null ? "" : "JOIN ledger_transactions t USING (tx_id)"}
      WHERE ${tests.join(" AND ")}
      GROUP BY p.account, p.client_id, p.kind, p.currency ORDER BY p.client_id, p.account, p.kind, p.currency`
  // A client or a house account may have millions of postings, so the statement may send no byte for a long time.
  const rows = yield* longWork(sql, (own) => own.unsafe<RawAccount>(statement, values))
  return rows.map((raw): ExportedAccount => ({
    account: raw.account,
    clientId: raw.client_id === null ? null : Number(raw.client_id),
    kind: raw.kind,
    currency: raw.currency,
    opening: formatAmount(BigInt(raw.opening), raw.currency),
    closing: formatAmount(BigInt(raw.closing), raw.currency)
  }))
})

/**
 * Transactions in the order of their postings; the postings of one transaction stay together. A page reads a fixed number of
 * postings of the whole ledger, of which the filter may leave few or none, so that the cost of a page is bounded.
 */
export const transactionPage = Effect.fnUntraced(function* (scope: ExportScope, after: number, limit = exportPageSize) {
  const sql = yield* PgClient.PgClient
  const last = yield* pageEnd(scope, after, limit)
  const values: Array<unknown> = []
  const place = (value: number) => `$${values.push(BigInt(value))}`
  const tests = [`p.posting_id > ${place(after)}`, `p.posting_id <= ${place(last ?? scope.upTo)}`]
  if (scope.from !== null) tests.push(`t.ts >= ${place(scope.from)}`)
  if (scope.to !== null) tests.push(`t.ts < ${place(scope.to)}`)
  if (scope.partnerId !== null) tests.push(`p.partner_id = ${place(scope.partnerId)}`)
  const raws = yield* sql.unsafe<RawPosting>(
    `SELECT p.posting_id, p.tx_id, t.type, t.key, t.ts, p.account, p.client_id, p.kind, p.currency, p.amount
       FROM postings p JOIN ledger_transactions t USING (tx_id)
      WHERE ${tests.join(" AND ")} ORDER BY p.posting_id`,
    values
  )
  return { rows: transactionsOf(raws), nextAfter: last } satisfies Page<ExportedTransaction>
})

/** The last posting of a page; null if no posting follows. A transaction that would be split goes to the next page. */
const pageEnd = Effect.fnUntraced(function* (scope: ExportScope, after: number, limit: number) {
  const sql = yield* PgClient.PgClient
  const rows = yield* sql.unsafe<{ readonly posting_id: bigint; readonly tx_id: bigint }>(
    "SELECT posting_id, tx_id FROM postings WHERE posting_id > $1 AND posting_id <= $2 ORDER BY posting_id LIMIT $3",
    [BigInt(after), BigInt(scope.upTo), BigInt(limit + 1)]
  )
  if (rows.length <= limit) return null
  const whole = rows.findLast((row) => row.tx_id !== rows.at(-1)?.tx_id)
  if (whole === undefined) return yield* Effect.die(new Error("a transaction has more postings than a page"))
  return Number(whole.posting_id)
})

const transactionsOf = (raws: ReadonlyArray<RawPosting>): ReadonlyArray<ExportedTransaction> => {
  const transactions: Array<ExportedTransaction & { readonly postings: Array<ExportedPosting> }> = []
  for (const raw of raws) {
    const txId = Number(raw.tx_id)
    if (transactions.at(-1)?.txId !== txId) {
      transactions.push({ txId, type: raw.type, key: raw.key, ts: Number(raw.ts), postings: [] })
    }
    transactions.at(-1)?.postings.push({
      postingId: Number(raw.posting_id),
      account: raw.account,
      clientId: raw.client_id === null ? null : Number(raw.client_id),
      kind: raw.kind,
      currency: raw.currency,
      amount: formatAmount(raw.amount, raw.currency)
    })
  }
  return transactions
}

interface RawAccount {
  readonly account: string
  readonly client_id: bigint | null
  readonly kind: "cash" | "reserved"
  readonly currency: Currency
  readonly opening: string
  readonly closing: string
}

interface RawPosting extends Omit<RawAccount, "opening" | "closing"> {
  readonly posting_id: bigint
  readonly tx_id: bigint
  readonly type: string
  readonly key: string
  readonly ts: bigint
  readonly amount: bigint
}
