/**
 * Checks of `ledger verify` on knock-out contracts: each has exactly one COMMISSION, each ended one has exactly one
 * BARRIER_SETTLE of its row's amount, and no other posting names them (F12, F17; D5).
 */

/** The expected postings of contracts: key, type, client and the client's amount. */
const due = `due AS MATERIALIZED (
  SELECT 'commission:contract:' || id AS key, 'COMMISSION' AS type, client_id, -commission AS amount FROM barrier_contracts
   UNION ALL
  SELECT 'settle:' || id, 'BARRIER_SETTLE', client_id, pnl FROM barrier_contracts WHERE state <> 'OPEN')`

/** The actual postings of contracts; commissions of fills have other keys. */
const booked = `booked AS MATERIALIZED (
  SELECT t.key, t.type, p.client_id, p.amount
    FROM ledger_transactions t JOIN postings p ON p.tx_id = t.tx_id
   WHERE p.client_id IS NOT NULL AND (t.type = 'BARRIER_SETTLE' OR t.key LIKE 'commission:contract:%' OR t.key LIKE 'settle:%'))`

/** The checks of contracts, which the list in ledgerChecks.ts includes. */
export const contractChecks = [
  {
    name: "every contract has one commission posting and, once ended, one settlement posting",
    figure: "SELECT count(*) AS n FROM barrier_contracts",
    breaks: `WITH ${due}, ${booked},
             counted AS (
               SELECT key, amount, sum(n) AS n
                 FROM (SELECT key, type, client_id, amount, 1 AS n FROM due
                       UNION ALL SELECT key, type, client_id, amount, -1 FROM booked) AS both_sides
                GROUP BY key, type, client_id, amount HAVING sum(n) <> 0)
             SELECT key || ' ' || amount || CASE WHEN n > 0 THEN ' is not booked' ELSE ' is booked but not due' END AS what
               FROM counted LIMIT 1`
  },
  {
    name: "every contract shows its booked figures, and has a result exactly if it has ended",
    figure: "SELECT count(*) AS n FROM barrier_contracts WHERE state <> 'OPEN'",
    breaks: `SELECT 'contract ' || id || ' is ' || state AS what FROM barrier_contracts
              WHERE replace(context ->> 'premium', '.', '')::numeric IS DISTINCT FROM amount
                 OR replace(context ->> 'commission', '.', '')::numeric IS DISTINCT FROM commission
                 OR replace(context ->> 'pnl', '.', '')::numeric IS DISTINCT FROM pnl
                 OR (state = 'OPEN') IS DISTINCT FROM (pnl IS NULL)
                 OR (state = 'OPEN') IS DISTINCT FROM (closed_at IS NULL)
                 OR pnl < -amount LIMIT 1`
  },
  {
    name: "every ACCEPTED opening request has exactly one contract",
    figure: "SELECT count(*) AS n FROM rfqs WHERE state = 'ACCEPTED'",
    breaks: `WITH asked AS (
               SELECT id, client_id, (context ->> 'contractId')::bigint AS contract_id FROM rfqs
                WHERE state = 'ACCEPTED' AND close_contract_id IS NULL),
             held AS (SELECT rfq_id AS id, client_id, id AS contract_id FROM barrier_contracts)
             SELECT 'request ' || coalesce(a.id, h.id) || ', contract ' || coalesce(h.contract_id, a.contract_id) AS what
               FROM asked a FULL JOIN held h USING (id, client_id, contract_id)
              WHERE a.id IS NULL OR h.id IS NULL LIMIT 1`
  }
] as const
