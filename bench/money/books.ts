/**
 * Checks the books after every slice of the money part: exactly the answered requests are stored, and the books
 * balance. The service is checked by its own `ledger verify`, plain SQL by the same sums.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { verifyBooks } from "../../src/runtime/ledger/verify.ts"
import { onDatabase } from "../reference/database.ts"
import type { WrittenKind } from "./protocol.ts"

export type Done = Record<WrittenKind, number>

const counted: Readonly<Record<WrittenKind, string>> = {
  deposits: "SELECT count(*) AS n FROM deposit_notices WHERE state = 'CONFIRMED'",
  withdrawals: "SELECT count(*) AS n FROM withdrawal_requests WHERE state = 'CANCELLED'",
  bulk: "SELECT count(*) AS n FROM settlement_items WHERE state = 'SETTLED'"
}

const fail = (system: string, sentence: string): never => {
  throw new Error(`The books of ${system} do not balance: ${sentence}`)
}

const checkCounts = (system: string, url: string, done: Done): Promise<void> =>
  onDatabase(url, async (client) => {
    for (const [kind, query] of Object.entries(counted)) {
      const { rows } = await client.query<{ readonly n: string }>(query)
      const answered = done[kind as WrittenKind]
      if (Number(rows[0]?.n) !== answered)
        fail(system, `${rows[0]?.n} ${kind} are stored as done, ${answered} were answered.`)
    }
  })

export const checkServiceMoney = async (url: string, done: Done): Promise<void> => {
  const report = await Effect.runPromise(
    Effect.provide(verifyBooks, PgClient.layer({ url: Redacted.make(url), maxConnections: 2 }), { local: true })
  )
  for (const check of report.checks) if (!check.ok) fail("the service", `${check.name}: ${check.detail}`)
  await checkCounts("the service", url, done)
}

const plainChecks: ReadonlyArray<readonly [string, string]> = [
  ["a transaction does not sum to zero", "SELECT tx_id FROM postings GROUP BY tx_id HAVING sum(amount) <> 0 LIMIT 1"],
  [
    "a client's balance is not the sum of its postings",
    `SELECT b.client_id FROM balances b LEFT JOIN (
       SELECT client_id, sum(amount) FILTER (WHERE kind = 'cash') AS cash, sum(amount) FILTER (WHERE kind = 'reserved') AS reserved
         FROM postings GROUP BY client_id) s USING (client_id)
      WHERE b.cash <> coalesce(s.cash, 0) OR b.reserved <> coalesce(s.reserved, 0) LIMIT 1`
  ],
  [
    "the transit account is not the sum of its postings",
    `SELECT 1 FROM house_balances WHERE account = 'transit'
        AND amount <> (SELECT coalesce(sum(amount), 0) FROM postings WHERE account = 'transit')`
  ]
]

export const checkPlainMoney = async (url: string, done: Done): Promise<void> => {
  await onDatabase(url, async (client) => {
    for (const [sentence, query] of plainChecks) {
      const { rows } = await client.query(query)
      if (rows.length > 0) fail("plain SQL", `${sentence}.`)
    }
  })
  await checkCounts("plain SQL", url, done)
}
