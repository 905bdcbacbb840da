/**
 * Checks of `ledger verify` on collateral: each report has its postings and the reverse, and the collateral of a partner in the
 * books equals the sum of its clients' bookings (doc 3, Collateral report rules). figureChecks.ts checks the references of all
 * money writes.
 */

/** Entries of the list in ledgerChecks.ts. */
export const collateralChecks = [
  {
    name: "every BOOKED collateral report has exactly one posting, every REFUSED report none",
    figure: "SELECT count(*) AS n FROM collateral_reports",
    breaks: `WITH booked AS MATERIALIZED (
               SELECT t.key, p.client_id, p.amount FROM ledger_transactions t JOIN postings p USING (tx_id)
                WHERE p.client_id IS NOT NULL AND t.key LIKE 'collateral:%'),
             filed AS MATERIALIZED (
               SELECT 'collateral:' || id AS key, id, client_id, state, replace(context ->> 'amount', '.', '')::bigint
                      * (CASE context ->> 'direction' WHEN 'DEPOSIT' THEN 1 ELSE -1 END) AS amount FROM collateral_reports)
             SELECT 'report ' || f.id || ' is ' || f.state || ' with ' || count(b.key) || ' client postings' AS what
               FROM filed f LEFT JOIN booked b ON b.key = f.key AND b.client_id = f.client_id AND b.amount = f.amount
              GROUP BY f.id, f.state
             HAVING count(b.key) <> (CASE f.state WHEN 'BOOKED' THEN 1 ELSE 0 END) LIMIT 1`
  },
  {
    name: "every collateral posting belongs to a BOOKED report or a payout",
    figure:
      "SELECT count(*) AS n FROM ledger_transactions WHERE type IN ('PARTNER_COLLATERAL_IN', 'PARTNER_COLLATERAL_OUT')",
    breaks: `SELECT 'transaction ' || t.tx_id || ' is ' || t.type || ' without a report' AS what
               FROM ledger_transactions t
               LEFT JOIN collateral_reports r
                 ON 'collateral:' || r.id = t.key AND r.state = 'BOOKED' AND (r.context ->> 'ledgerTxId')::bigint = t.tx_id
              WHERE t.type IN ('PARTNER_COLLATERAL_IN', 'PARTNER_COLLATERAL_OUT') AND r.id IS NULL
                AND (t.type = 'PARTNER_COLLATERAL_OUT' AND t.key ~ '^payout:[0-9]+(:reversed)?$') IS NOT TRUE LIMIT 1`
  },
  {
    name: "every collateral report belongs to its client's partner",
    figure: "SELECT count(*) AS n FROM collateral_reports",
    breaks: `SELECT 'report ' || r.id || ' of client ' || r.client_id || ' belongs to partner ' || r.partner_id AS what
               FROM collateral_reports r LEFT JOIN clients c ON c.id = r.client_id
              WHERE r.partner_id IS DISTINCT FROM c.partner_id
                 OR (r.context ->> 'partnerId')::bigint IS DISTINCT FROM r.partner_id
                 OR (r.context ->> 'clientId')::bigint IS DISTINCT FROM r.client_id LIMIT 1`
  },
  {
    name: "partner_custody equals the negative of the collateral booked for the partner's clients",
    figure: "SELECT count(DISTINCT account) AS n FROM postings WHERE account LIKE 'partner_custody:%'",
    breaks: `WITH held AS (
               SELECT partner_id, -sum(amount) AS house FROM postings WHERE account LIKE 'partner_custody:%' GROUP BY partner_id),
             booked AS (
               SELECT p.partner_id, sum(p.amount) AS clients FROM postings p JOIN ledger_transactions t USING (tx_id)
                WHERE p.client_id IS NOT NULL AND t.type IN ('PARTNER_COLLATERAL_IN', 'PARTNER_COLLATERAL_OUT') GROUP BY p.partner_id)
             SELECT 'partner ' || partner_id || ' holds ' || coalesce(house, 0) || ', postings of its clients ' || coalesce(clients, 0) AS what
               FROM held FULL JOIN booked USING (partner_id) WHERE coalesce(house, 0) <> coalesce(clients, 0) LIMIT 1`
  }
] as const
