/**
 * Checks of `ledger verify` on deposit notices (doc 3, Deposit notice: "ledger key unique per notice so never credited twice"): a
 * CONFIRMED notice has its one posting, and each DEPOSIT posting has its CONFIRMED notice (D9).
 */

/** The checks on deposit notices, for the list in ledgerChecks.ts. */
export const depositChecks = [
  {
    name: "every CONFIRMED deposit notice has exactly one posting, every other notice none",
    figure: "SELECT count(*) AS n FROM deposit_notices",
    breaks: `WITH booked AS MATERIALIZED (
               SELECT t.key, t.tx_id, t.partner_id, p.client_id, p.currency, p.amount
                 FROM ledger_transactions t JOIN postings p USING (tx_id)
                WHERE p.client_id IS NOT NULL AND p.kind = 'cash' AND t.type = 'DEPOSIT'),
             filed AS MATERIALIZED (
               SELECT 'deposit:' || id AS key, (context ->> 'ledgerTxId')::bigint AS tx_id, partner_id, client_id, currency, amount
                 FROM deposit_notices WHERE state = 'CONFIRMED')
             SELECT coalesce(f.key || ' is CONFIRMED without its posting', b.key || ' is posted without its CONFIRMED notice') AS what
               FROM filed f FULL JOIN booked b USING (key, tx_id, partner_id, client_id, currency, amount)
              WHERE f.key IS NULL OR b.key IS NULL LIMIT 1`
  },
  {
    name: "every deposit notice has a state that fits its decision, and shows its stored amount",
    figure: "SELECT count(*) AS n FROM deposit_notices WHERE state = 'PENDING'",
    breaks: `SELECT 'notice ' || id || ' is ' || state || ', showing ' || (context ->> 'amount') || ' '
                    || (context ->> 'currency') AS what
               FROM deposit_notices
              WHERE (CASE state
                       WHEN 'PENDING' THEN decided_at IS NULL AND context ->> 'decidedBy' IS NULL
                       ELSE state IN ('CONFIRMED', 'REJECTED') AND decided_at IS NOT NULL AND context ->> 'decidedBy' IS NOT NULL
                     END) IS NOT TRUE
                 OR (context ->> 'ledgerTxId' IS NOT NULL) <> (state = 'CONFIRMED')
                 OR (context ->> 'decidedAt')::bigint IS DISTINCT FROM decided_at
                 OR context ->> 'currency' IS DISTINCT FROM currency
                 OR replace(context ->> 'amount', '.', '')::numeric IS DISTINCT FROM amount LIMIT 1`
  }
] as const
