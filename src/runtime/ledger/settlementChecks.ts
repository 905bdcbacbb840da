/**
 * What `ledger verify` proves about settlement items (document 3, Settlement item: "an item exists if and only if its
 * posting exists, and never twice", and the definitions of the settlement summary; F28). A partner's custody model is
 * taken as it is now: items may only be missing under PARTNER custody, and what exists must fit whatever the model is.
 */
import { postingRules } from "./postingRules.ts"

/** Posting type and item type of every posting that makes an item, as rows of a VALUES list. */
const itemTypes = Object.entries(postingRules)
  .flatMap(([entry, { item }]) => (item === null ? [] : [`('${entry}', '${item}')`]))
  .join(", ")

/** What each transaction that may make an item changes of a client's USDC, with the item's type. */
const changes = `changes AS MATERIALIZED (
  SELECT t.tx_id, p.client_id, p.partner_id, k.item_type, sum(p.amount) AS amount
    FROM ledger_transactions t JOIN (VALUES ${itemTypes}) AS k (entry, item_type) ON k.entry = t.type
    JOIN postings p ON p.tx_id = t.tx_id
   WHERE p.client_id IS NOT NULL AND p.currency = 'USDC'
   GROUP BY t.tx_id, p.client_id, p.partner_id, k.item_type HAVING sum(p.amount) <> 0)`

/** Entries of the list in verify.ts. */
export const settlementChecks = [
  {
    name: "every settlement item has exactly its posting: type, client and amount",
    figure: "SELECT count(*) AS n FROM settlement_items",
    breaks: `WITH ${changes}
             SELECT 'item ' || i.id || ' of ' || i.type || ' ' || i.amount || ' has no such posting' AS what
               FROM settlement_items i LEFT JOIN changes c
                 ON c.tx_id = i.tx_id AND c.item_type = i.type AND c.client_id = i.client_id
                    AND c.partner_id = i.partner_id AND c.amount = i.amount AND i.currency = 'USDC'
              WHERE c.tx_id IS NULL LIMIT 1`
  },
  {
    name: "every economic posting under PARTNER custody has its settlement item, once",
    figure:
      "SELECT count(*) AS n FROM settlement_items i JOIN partners f ON f.id = i.partner_id WHERE f.custody_model = 'PARTNER'",
    breaks: `WITH ${changes}, items AS MATERIALIZED (SELECT tx_id, count(*) AS n FROM settlement_items GROUP BY tx_id)
             SELECT 'transaction ' || c.tx_id || ' has ' || coalesce(i.n, 0) || ' settlement items' AS what
               FROM changes c JOIN partners f ON f.id = c.partner_id LEFT JOIN items i ON i.tx_id = c.tx_id
              WHERE f.custody_model = 'PARTNER' AND coalesce(i.n, 0) <> 1 LIMIT 1`
  },
  {
    name: "client cash under PARTNER custody equals the collateral held plus the net of all settlement items",
    figure: "SELECT count(*) AS n FROM partners WHERE custody_model = 'PARTNER'",
    breaks: `WITH cash AS (
               SELECT partner_id, sum(cash + reserved) AS amount FROM balances WHERE currency = 'USDC' GROUP BY partner_id),
             held AS (
               SELECT partner_id, -sum(amount) AS amount FROM postings WHERE account LIKE 'partner_custody:%' GROUP BY partner_id),
             items AS (SELECT partner_id, sum(amount) AS amount FROM settlement_items GROUP BY partner_id)
             SELECT 'partner ' || f.id || ': client cash ' || coalesce(c.amount, 0) || ', collateral ' || coalesce(h.amount, 0)
                    || ', items ' || coalesce(i.amount, 0) AS what
               FROM partners f LEFT JOIN cash c ON c.partner_id = f.id LEFT JOIN held h ON h.partner_id = f.id
               LEFT JOIN items i ON i.partner_id = f.id
              WHERE f.custody_model = 'PARTNER'
                AND coalesce(c.amount, 0) <> coalesce(h.amount, 0) + coalesce(i.amount, 0) LIMIT 1`
  },
  {
    name: "every settlement item is in a state its reports can have led to, with the amount it shows",
    figure: "SELECT count(*) AS n FROM settlement_items WHERE state <> 'SETTLED'",
    breaks: `SELECT 'item ' || id || ' is ' || state || ' after ' || (context ->> 'reports') || ' reports, showing '
                    || (context ->> 'amount') AS what
               FROM settlement_items
              WHERE (CASE state
                       WHEN 'PENDING' THEN context ->> 'reports' = '0' AND context ->> 'reportedAt' IS NULL
                       WHEN 'FAILED' THEN context ->> 'reports' = '1' AND context ->> 'reportedAt' IS NOT NULL
                       WHEN 'SETTLED' THEN context ->> 'reports' IN ('1', '2') AND context ->> 'reportedAt' IS NOT NULL
                                           AND context ->> 'partnerTxRef' IS NOT NULL AND context ->> 'settledAt' IS NOT NULL
                       ELSE false END) IS NOT TRUE
                 OR replace(context ->> 'amount', '.', '')::numeric IS DISTINCT FROM amount
                 OR (context ->> 'ledgerTxId')::numeric IS DISTINCT FROM tx_id LIMIT 1`
  }
] as const
