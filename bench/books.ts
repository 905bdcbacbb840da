/**
 * Checks the books after every slice. A rate counts only if all acknowledged requests are stored and the books balance.
 * The service is checked by `ledger verify` over a second connection, a reference by the same sums.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { verifyBooks } from "../src/runtime/ledger/verify.ts"
import { onDatabase } from "./reference/database.ts"

const countBooked = (url: string): Promise<number> =>
  onDatabase(url, async (client) => {
    const { rows } = await client.query<{ readonly n: string }>(
      "SELECT count(*) AS n FROM collateral_reports WHERE state = 'BOOKED'"
    )
    return Number(rows[0]?.n)
  })

const fail = (system: string, sentence: string): never => {
  throw new Error(`The books of ${system} do not balance: ${sentence}`)
}

/** Throws if `ledger verify` finds a break, or if the booked reports are not exactly the `acknowledged` ones. */
export const checkServiceBooks = async (url: string, acknowledged: number): Promise<void> => {
  const report = await Effect.runPromise(
    Effect.provide(verifyBooks, PgClient.layer({ url: Redacted.make(url), maxConnections: 2 }), { local: true })
  )
  for (const check of report.checks) if (!check.ok) fail("the service", `${check.name}: ${check.detail}`)
  const booked = await countBooked(url)
  if (booked !== acknowledged) fail("the service", `${booked} reports are booked, ${acknowledged} were acknowledged.`)
}

const referenceChecks: ReadonlyArray<readonly [string, string]> = [
  [
    "a transaction does not sum to zero",
    "SELECT tx_id FROM postings GROUP BY tx_id HAVING sum(amount) <> 0 OR count(*) <> 2 LIMIT 1"
  ],
  [
    "a client's balance is not the sum of its postings",
    `SELECT b.client_id FROM balances b
       LEFT JOIN (SELECT client_id, sum(amount) AS cash FROM postings WHERE client_id IS NOT NULL GROUP BY client_id) s USING (client_id)
      WHERE b.cash <> coalesce(s.cash, 0) OR b.deposited <> b.cash LIMIT 1`
  ],
  [
    "the house balance is not the sum of its postings",
    `SELECT h.account FROM house_balances h
       LEFT JOIN (SELECT account, sum(amount) AS total FROM postings WHERE client_id IS NULL GROUP BY account) s USING (account)
      WHERE h.amount <> coalesce(s.total, 0) LIMIT 1`
  ],
  [
    "reports, transactions, events, audit rows, claims and answers differ in number",
    `SELECT 1 FROM (SELECT (SELECT count(*) FROM collateral_reports) AS n) r
      WHERE n <> (SELECT count(*) FROM ledger_transactions) OR n <> (SELECT count(*) FROM events)
         OR n <> (SELECT count(*) FROM audit) OR n <> (SELECT count(*) FROM claims) OR n <> (SELECT count(*) FROM answers)`
  ]
]

/** The same check for a reference database: sums, balances, the house row, and one row of each kind per report. */
export const checkReferenceBooks = async (system: string, url: string, acknowledged: number): Promise<void> => {
  await onDatabase(url, async (client) => {
    for (const [sentence, query] of referenceChecks) {
      const { rows } = await client.query(query)
      if (rows.length > 0) fail(system, `${sentence}.`)
    }
  })
  const booked = await countBooked(url)
  if (booked !== acknowledged) fail(system, `${booked} reports are booked, ${acknowledged} were acknowledged.`)
}
