/**
 * Checks of `ledger verify` on funding (F14). The key of a posting names client, market and stamp, and a correction also names
 * the client's trade, so that each is booked once. All clients of a market are paid at one rate for a stamp. Each amount
 * follows from its quantity.
 */

/** The funding postings with the facts from their refs; quantities are signed. */
const booked = `booked AS MATERIALIZED (
  SELECT t.key, t.client_id, t.refs ->> 'symbol' AS symbol, t.refs ->> 'settledAt' AS stamp, p.amount,
         (t.refs ->> 'fundingPerUnit')::numeric AS unit,
         (CASE t.refs ->> 'side' WHEN 'LONG' THEN 1 WHEN 'SHORT' THEN -1 END) * (t.refs ->> 'qty')::numeric AS qty
    FROM ledger_transactions t JOIN postings p ON p.tx_id = t.tx_id AND p.client_id IS NOT NULL
   WHERE t.type = 'FUNDING')`
const plain = "'funding:' || symbol || ':' || stamp || ':' || client_id"

/** The checks on funding, for the list in ledgerChecks.ts. */
export const fundingChecks = [
  {
    name: "funding is posted once per client, market and stamp, and once per late trade",
    figure: "SELECT count(*) AS n FROM ledger_transactions WHERE type = 'FUNDING'",
    breaks: `WITH ${booked}, named AS (
               SELECT b.*, count(*) OVER (PARTITION BY key) AS times, key = ${plain} AS is_plain, substr(key, length(${plain}) + 2) AS trade FROM booked b)
             SELECT key || ' is posted for client ' || client_id AS what FROM named n
              WHERE (is_plain OR (starts_with(key, ${plain} || ':') AND EXISTS (
                      SELECT 1 FROM fills f WHERE f.client_id = n.client_id AND f.symbol = n.symbol AND f.family = 'PERP'
                         AND f.order_id || ':' || f.trade_id = n.trade))) IS NOT TRUE
                 OR times > 1 LIMIT 1`
  },
  {
    // The payment of one unit has eight decimal places, and each posting is rounded to a micro-USDC.
    name: "every funding posting equals quantity times rate, with one rate per market and stamp",
    figure:
      "SELECT count(DISTINCT (refs ->> 'symbol', refs ->> 'settledAt')) AS n FROM ledger_transactions WHERE type = 'FUNDING'",
    breaks: `WITH ${booked}
             SELECT what FROM (
               SELECT key || ' is ' || amount || ', ' || qty || ' at ' || unit || ' pays ' || -qty * unit * 1000000 AS what
                 FROM booked WHERE (abs(amount + qty * unit * 1000000) <= 1 + abs(qty) * 0.005) IS NOT TRUE
                UNION ALL
               SELECT symbol || ' at ' || stamp || ' pays ' || min(unit) || ' and ' || max(unit)
                 FROM booked GROUP BY symbol, stamp HAVING min(unit) <> max(unit)) AS f LIMIT 1`
  },
  {
    name: "every client's funding equals the sum of its funding postings",
    figure: "SELECT count(*) AS n FROM balances WHERE funding <> 0",
    breaks: `WITH ${booked}, sums AS (SELECT client_id, sum(amount) AS amount FROM booked GROUP BY client_id)
             SELECT 'client ' || client_id || ': funding ' || coalesce(b.funding, 0) || ', postings ' || coalesce(s.amount, 0) AS what
               FROM (SELECT client_id, sum(funding) AS funding FROM balances GROUP BY client_id) b FULL JOIN sums s USING (client_id)
              WHERE coalesce(b.funding, 0) <> coalesce(s.amount, 0) LIMIT 1`
  }
] as const
