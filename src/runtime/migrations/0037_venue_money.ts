/**
 * What is compared with the venue's money, kept as totals (A2-103): of each balance what was posted against the house account
 * `venue`, of each client what its perpetuals have brought less what they cost.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0037 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE balances ADD COLUMN from_venue bigint NOT NULL DEFAULT 0`
  yield* sql`ALTER TABLE account_totals ADD COLUMN perp_flow bigint NOT NULL DEFAULT 0`
  yield* sql`UPDATE balances b SET from_venue = v.amount
    FROM (SELECT t.client_id, p.currency, -sum(p.amount) AS amount
            FROM postings p JOIN ledger_transactions t USING (tx_id)
           WHERE p.client_id IS NULL AND p.account = 'venue' GROUP BY 1, 2) AS v
   WHERE b.client_id = v.client_id AND b.currency = v.currency`
  yield* sql`UPDATE account_totals a SET perp_flow = f.amount
    FROM (SELECT client_id, sum(CASE side WHEN 'BUY' THEN -notional ELSE notional END) AS amount
            FROM fills WHERE family = 'PERP' AND currency = 'USDC' GROUP BY client_id) AS f
   WHERE a.client_id = f.client_id`
})
