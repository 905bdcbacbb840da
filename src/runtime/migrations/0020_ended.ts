/**
 * What rules that were corrected have left behind. Packages of persons who were refused for good before version 2 of the
 * package's machine refused both together: they waited in SPOT_CHECK for a decision that nobody could make any more (D1,
 * D2). And deposits of assets without a value, which counted nothing towards the source of wealth and now count as
 * reaching its threshold (F25).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** As the package's machine writes it (`personRefusedNote`). */
const personRefusedNote = "The person was refused for good."
/** What a deposit without a value counts (`unvaluedDeposit`), micro-USDC. */
const unvaluedDeposit = 15_000_000_000n

export const m0020 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const review = JSON.stringify({ reviewNote: personRefusedNote })
  yield* sql`UPDATE kyc_packages k SET state = 'REJECTED', context = (k.context::jsonb || ${review}::jsonb)::json
    FROM clients c WHERE c.id = k.client_id AND c.state = 'KYC_REJECTED' AND k.state <> 'REJECTED'`
  yield* sql`UPDATE balances b SET deposited = b.deposited + d.n * ${unvaluedDeposit}::bigint
    FROM (SELECT p.client_id, p.currency, count(*) AS n
            FROM ledger_transactions t JOIN postings p USING (tx_id)
           WHERE t.type = 'DEPOSIT' AND p.client_id IS NOT NULL AND p.currency IN ('BTC', 'ETH', 'SOL', 'BNB', 'XRP')
           GROUP BY p.client_id, p.currency) d
   WHERE b.client_id = d.client_id AND b.currency = d.currency`
})
