/**
 * The statements of the settlement report and summary: one each, so that all figures of an answer are of one snapshot (doc 3,
 * Settlement report and Settlement summary). Parameters of both: $1 partner, $2 and $3 the window, $4 and $5 its whole days, $6
 * to $9 the partial days at its ends; all ends are inclusive, and a range is empty if from is after to. The report also has $10
 * to $12: everything until its end.
 */
import type { PgClient } from "@effect/sql-pg"
import type { Effect } from "effect"
import type { SqlError } from "effect/sql"

/** The rows of `reportStatement` or `summaryStatement`. */
export const settlementFigures = (
  sql: PgClient.PgClient,
  text: string,
  values: ReadonlyArray<number>
): Effect.Effect<ReadonlyArray<FigureRow>, SqlError.SqlError> => sql.unsafe<FigureRow>(text, values.map(BigInt))

/** One sum. `name`: the item's state or the currency; `plus` and `minus` are whole minor units, both not negative. */
export interface FigureRow {
  readonly figure: string
  readonly name: string
  readonly n: string
  readonly plus: string
  readonly minus: string
}

const edge = (column: string): string => `(${column} BETWEEN $6 AND $7 OR ${column} BETWEEN $8 AND $9)`

/** Items of the window by state: the totals of its whole days and the rows of its partial days. */
const items = `
  SELECT 'items' AS figure, state AS name, sum(n) AS n, sum(plus) AS plus, sum(minus) AS minus FROM (
    SELECT state, items AS n, credits AS plus, debits AS minus FROM settlement_totals
     WHERE partner_id = $1 AND day BETWEEN $4 AND $5
    UNION ALL
    SELECT state, 1, greatest(amount, 0), greatest(-amount, 0) FROM settlement_items
     WHERE partner_id = $1 AND ${edge("occurred_at")}) i GROUP BY state`

/** A record counts in full if its period and the window overlap. */
const recorded = `
  SELECT 'recorded', currency, count(*), coalesce(sum(amount) FILTER (WHERE amount > 0), 0),
         coalesce(-sum(amount) FILTER (WHERE amount < 0), 0)
    FROM interfirm_records WHERE partner_id = $1 AND period_from <= $3 AND period_to >= $2 GROUP BY currency`

/** A signed sum as the plus and minus columns of a row. */
const signed = (amount: string): string => `0, greatest(${amount}, 0), greatest(-(${amount}), 0)`

const present = (figure: string, condition: string): string => `
  SELECT '${figure}', currency, ${signed("sum(amount)")} FROM posting_totals
   WHERE partner_id = $1 AND currency = 'USDC'${condition} GROUP BY currency`

const shown = (rows: string): string => `SELECT figure, name, n::text, plus::text, minus::text FROM (${rows}) f`

export const summaryStatement = shown(
  [
    items,
    recorded,
    present("held", " AND type IN ('PARTNER_COLLATERAL_IN', 'PARTNER_COLLATERAL_OUT')"),
    present("cash", "")
  ].join(" UNION ALL ")
)

const types = { commissions: ["COMMISSION"], pnl: ["PNL", "BARRIER_SETTLE", "SWAP_SETTLE", "FUNDING"] } as const

/**
 * Clients' postings by currency and type: the totals of whole days, and for each partial day the postings of the transactions
 * booked in it. Both times and transaction ids only increase, so a partial day is one range of either table.
 */
const postingsOf = (days: string, parts: ReadonlyArray<string>): string =>
  [
    `SELECT currency, type, amount FROM posting_totals WHERE partner_id = $1 AND ${days}`,
    ...parts.map(
      (part) => `SELECT p.currency, t.type, p.amount FROM ledger_transactions t JOIN postings p ON p.tx_id = t.tx_id
        WHERE t.partner_id = $1 AND t.ts BETWEEN ${part} AND p.client_id IS NOT NULL
          AND p.tx_id BETWEEN (SELECT min(tx_id) FROM ledger_transactions WHERE ts BETWEEN ${part})
                          AND (SELECT max(tx_id) FROM ledger_transactions WHERE ts BETWEEN ${part})`
    )
  ].join(" UNION ALL ")

const postingFigure = (figure: keyof typeof types): string => `
  SELECT '${figure}', currency, ${signed("sum(amount)")}
    FROM (${postingsOf("day BETWEEN $4 AND $5", ["$6 AND $7", "$8 AND $9"])}) w
   WHERE type IN (${types[figure].map((type) => `'${type}'`).join(", ")}) GROUP BY currency`

/** Everything up to the end of the window: $10 is the last whole day, $11 and $12 the partial day after it. */
const closing = `
  SELECT 'closing', currency, ${signed("sum(amount)")}
    FROM (${postingsOf("day <= $10", ["$11 AND $12"])}) w GROUP BY currency`

/** Staff confirm deposits and pay withdrawals one by one, so a window has few of either (A3-41). */
const deposits = `
  SELECT 'deposits', currency, count(*), sum(amount), 0 FROM deposit_notices
   WHERE partner_id = $1 AND state = 'CONFIRMED' AND decided_at BETWEEN $2 AND $3 GROUP BY currency`
const withdrawals = `
  SELECT 'withdrawals', currency, count(*), sum(amount), 0 FROM withdrawal_requests
   WHERE partner_id = $1 AND state = 'PAID' AND paid_at BETWEEN $2 AND $3 GROUP BY currency`

export const reportStatement = shown(
  [items, recorded, postingFigure("commissions"), postingFigure("pnl"), closing, deposits, withdrawals].join(
    " UNION ALL "
  )
)
