/**
 * Checks of `ledger verify` on settlement items (doc 3, Settlement item: "an item exists if and only if its posting exists, and
 * never twice", and the definitions of the settlement summary; F28). Each posting is checked under the custody model of its
 * time. A change of the model takes a transaction number of the ledger, so that the numbers before it are bookings under the
 * old model.
 */
import { interfirmSpace } from "../references.ts"
import { postingRules, settlementTypes } from "../../../machines/postingRules.ts"
import { referencesHeld } from "./referenceChecks.ts"

/** The types of postings that make items, as rows of a VALUES list. */
const itemTypes = settlementTypes.map((type) => `('${type}')`).join(", ")

/** The types with the only custody model under which they are valid, as rows of a VALUES list. */
const routes = Object.entries(postingRules)
  .flatMap(([type, { custody }]) => (custody === null ? [] : [`('${type}', '${custody}')`]))
  .join(", ")

/** The change of the client's USDC and the item's type, for each transaction that may make an item. */
const changes = `changes AS MATERIALIZED (
  SELECT t.tx_id, p.client_id, p.partner_id, k.item_type, sum(p.amount) AS amount
    FROM ledger_transactions t JOIN (VALUES ${itemTypes}) AS k (item_type) ON k.item_type = t.type
    JOIN postings p ON p.tx_id = t.tx_id
   WHERE p.client_id IS NOT NULL AND p.currency = 'USDC'
   GROUP BY t.tx_id, p.client_id, p.partner_id, k.item_type HAVING sum(p.amount) <> 0)`

/** The custody model of each partner between two transaction numbers, both exclusive. */
const periods = `periods AS MATERIALIZED (
  SELECT partner_id, before AS model, coalesce(lag(id) OVER w, -1) AS after_tx, id AS before_tx
    FROM custody_changes WINDOW w AS (PARTITION BY partner_id ORDER BY id)
   UNION ALL
  SELECT f.id, f.custody_model, coalesce((SELECT max(id) FROM custody_changes c WHERE c.partner_id = f.id), -1), 9223372036854775807
    FROM partners f)`

/** Entries of the list in ledgerChecks.ts. */
export const settlementChecks = [
  {
    name: "every settlement item has a posting with its type, client and amount",
    figure: "SELECT count(*) AS n FROM settlement_items",
    breaks: `WITH ${changes}
             SELECT 'item ' || i.id || ' of ' || i.type || ' ' || i.amount || ' has no such posting' AS what
               FROM settlement_items i LEFT JOIN changes c
                 ON c.tx_id = i.tx_id AND c.item_type = i.type AND c.client_id = i.client_id
                    AND c.partner_id = i.partner_id AND c.amount = i.amount AND i.currency = 'USDC'
              WHERE c.tx_id IS NULL LIMIT 1`
  },
  {
    name: "every economic posting under PARTNER custody has exactly one settlement item",
    figure: "SELECT count(*) AS n FROM settlement_items",
    breaks: `WITH ${changes}, ${periods}, items AS MATERIALIZED (SELECT tx_id, count(*) AS n FROM settlement_items GROUP BY tx_id)
             SELECT 'transaction ' || c.tx_id || ' has ' || coalesce(i.n, 0) || ' settlement items under ' || f.model || ' custody' AS what
               FROM changes c JOIN periods f ON f.partner_id = c.partner_id AND c.tx_id > f.after_tx AND c.tx_id < f.before_tx
               LEFT JOIN items i ON i.tx_id = c.tx_id
              WHERE coalesce(i.n, 0) <> (CASE f.model WHEN 'PARTNER' THEN 1 ELSE 0 END) LIMIT 1`
  },
  {
    name: "every transaction type fits the custody model at its booking",
    figure: "SELECT count(*) AS n FROM custody_changes",
    // Partners hold only USDC: other currencies are paid out as withdrawals under either model.
    breaks: `WITH ${periods}, routes (type, model) AS (VALUES ${routes}),
             strays AS MATERIALIZED (
               SELECT t.tx_id, t.type, t.key, f.model FROM ledger_transactions t JOIN routes r ON r.type = t.type
                 JOIN periods f ON f.partner_id = t.partner_id AND t.tx_id > f.after_tx AND t.tx_id < f.before_tx
                WHERE r.model <> f.model)
             SELECT 'transaction ' || s.tx_id || ' is ' || s.type || ' under ' || s.model || ' custody' AS what
               FROM strays s
              WHERE (s.model = 'PARTNER' AND s.type IN ('WITHDRAWAL_RESERVE', 'WITHDRAWAL') AND s.key LIKE 'payout:%'
                     AND (SELECT min(p.currency) FROM postings p WHERE p.tx_id = s.tx_id AND p.client_id IS NOT NULL) <> 'USDC')
                    IS NOT TRUE LIMIT 1`
  },
  {
    name: "every partner's custody changes form a chain that ends at its current model",
    figure: "SELECT count(*) AS n FROM custody_changes",
    breaks: `SELECT 'change ' || c.id || ' of partner ' || c.partner_id || ' to ' || c.after || ' is followed by ' || c.next AS what
               FROM (SELECT id, partner_id, after,
                            coalesce(lead(before) OVER (PARTITION BY partner_id ORDER BY id),
                                     (SELECT custody_model FROM partners f WHERE f.id = partner_id)) AS next
                       FROM custody_changes) AS c
              WHERE c.next IS DISTINCT FROM c.after LIMIT 1`
  },
  {
    // A partner can change its model only when nothing is open. Its postings under earlier models sum to zero, so they may be
    // included.
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
              WHERE (CASE f.custody_model WHEN 'PARTNER' THEN coalesce(c.amount, 0) ELSE 0 END)
                    <> coalesce(h.amount, 0) + coalesce(i.amount, 0) LIMIT 1`
  },
  {
    name: "every settlement item has a state that fits its reports, and shows its stored amount",
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
  },
  {
    name: "the totals of settlement items per day and state equal the items",
    figure: "SELECT count(*) AS n FROM settlement_totals",
    breaks: `WITH items AS (
               SELECT partner_id, state, occurred_at / 86400000 AS day, count(*) AS n,
                      coalesce(sum(amount) FILTER (WHERE amount > 0), 0) AS credits,
                      coalesce(-sum(amount) FILTER (WHERE amount < 0), 0) AS debits
                 FROM settlement_items GROUP BY 1, 2, 3)
             SELECT 'partner ' || partner_id || ' day ' || day || ' ' || state || ': totals ' || coalesce(t.items, 0) || ' items '
                    || coalesce(t.credits, 0) || ' - ' || coalesce(t.debits, 0) || ', items ' || coalesce(i.n, 0) || ' '
                    || coalesce(i.credits, 0) || ' - ' || coalesce(i.debits, 0) AS what
               FROM settlement_totals t FULL JOIN items i USING (partner_id, state, day)
              WHERE (coalesce(t.items, 0), coalesce(t.credits, 0), coalesce(t.debits, 0))
                    <> (coalesce(i.n, 0), coalesce(i.credits, 0), coalesce(i.debits, 0)) LIMIT 1`
  },
  {
    name: "the totals of clients' postings per day, currency and type equal the postings",
    figure: "SELECT count(*) AS n FROM posting_totals",
    breaks: `WITH sums AS (
               SELECT p.partner_id, p.currency, l.type, l.ts / 86400000 AS day, sum(p.amount) AS amount
                 FROM postings p JOIN ledger_transactions l USING (tx_id) WHERE p.client_id IS NOT NULL GROUP BY 1, 2, 3, 4)
             SELECT 'partner ' || partner_id || ' day ' || day || ' ' || type || ' ' || currency || ': total '
                    || coalesce(t.amount, 0) || ', postings ' || coalesce(s.amount, 0) AS what
               FROM posting_totals t FULL JOIN sums s USING (partner_id, currency, type, day)
              WHERE coalesce(t.amount, 0) <> coalesce(s.amount, 0) LIMIT 1`
  },
  referencesHeld("every interfirm record holds its reference, and every such reference names its record", [
    interfirmSpace
  ])
] as const
