/**
 * Checks of `ledger verify` on orders (F11, F20; A2-44, A2-98, A2-104): fills and their orders, the postings of each fill, the
 * reserves, and the derived positions and lots. Quantities and prices are decimal texts.
 */
import { workingStates } from "../../../machines/order/Order.ts"
import { currencyCodes, currencyFacts } from "../../../machines/shared/Currency.ts"

/** The minor units of each currency, as rows of a VALUES list. */
const units = `(VALUES ${currencyCodes.map((code) => `('${code}', 1e${currencyFacts[code].scale}::numeric)`).join(", ")})`
/** The currencies of kind ASSET: only these are kept in lots. */
const assets = currencyCodes
  .filter((code) => currencyFacts[code].kind === "ASSET")
  .map((code) => `'${code}'`)
  .join(", ")
const working = workingStates.map((state) => `'${state}'`).join(", ")

/** The asset of a spot market; fills give clients no other currency. */
const base = (symbol: string): string => `split_part(${symbol}, '-', 1)`
/** A key of the ledger names its order second: `spot:ORDER:TRADE`. */
const orderOfKey = "split_part(t.key, ':', 2)"

/**
 * The expected postings of fills: key, type, client, currency and the client's amount. The price of an exchange is its order's.
 */
const due = `due AS MATERIALIZED (
  SELECT 'pnl:' || order_id || ':' || trade_id AS key, 'PNL' AS type, client_id, currency, realized_pnl::numeric AS amount
    FROM fills WHERE family = 'PERP' AND realized_pnl <> 0
   UNION ALL
  SELECT 'commission:' || order_id || ':' || trade_id, 'COMMISSION', client_id, currency, -commission FROM fills WHERE commission <> 0
   UNION ALL
  SELECT 'spot:' || order_id || ':' || trade_id, 'SPOT_SETTLE', client_id, ${base("symbol")},
         (CASE side WHEN 'BUY' THEN 1 ELSE -1 END) * qty::numeric * u.unit
    FROM fills JOIN ${units} AS u (code, unit) ON u.code = ${base("symbol")} WHERE family = 'SPOT')`

/** The actual postings of fills; commissions of contracts have other keys. */
const booked = `booked AS MATERIALIZED (
  SELECT t.key, t.type, p.client_id, p.currency, p.amount
    FROM ledger_transactions t JOIN postings p USING (tx_id)
   WHERE p.client_id IS NOT NULL
     AND (t.type = 'PNL' OR (t.type = 'COMMISSION' AND t.key NOT LIKE 'commission:contract:%' AND t.key NOT LIKE 'commission:swap:%')
          OR (t.type = 'SPOT_SETTLE' AND p.currency = ${base("t.refs ->> 'Instrument'")})))`

/** The part of an order's reserve that is still held: minor units of its currency (F20). */
const held =
  "amount - ((o.context ->> 'consumed')::numeric + (o.context ->> 'released')::numeric) * (SELECT unit FROM units WHERE code = o.currency)"

/** The holds of working orders, by client and currency; a part of the reserve (withdrawalChecks.ts). */
export const heldByOrders = `WITH units AS (SELECT * FROM ${units} AS u (code, unit))
  SELECT client_id, currency, sum(${held}) AS amount FROM orders o WHERE state IN (${working}) AND amount > 0 GROUP BY client_id, currency`

/** The quantity of a fill with its sign: positive for a purchase. */
const signedQty = "(CASE side WHEN 'BUY' THEN 1 ELSE -1 END) * qty::numeric"

/** The checks of orders, which the list in ledgerChecks.ts includes. */
export const orderChecks = [
  {
    name: "every fill has its postings exactly once, and no other posting is booked as a fill",
    figure: "SELECT count(*) AS n FROM fills",
    breaks: `WITH ${due}, ${booked},
             counted AS (
               SELECT key, amount, sum(n) AS n
                 FROM (SELECT key, type, client_id, currency, amount, 1 AS n FROM due
                       UNION ALL SELECT key, type, client_id, currency, amount, -1 FROM booked) AS both_sides
                GROUP BY key, type, client_id, currency, amount HAVING sum(n) <> 0)
             SELECT key || ' ' || trim_scale(amount) || CASE WHEN n > 0 THEN ' is not booked' ELSE ' is booked but not due' END AS what
               FROM counted LIMIT 1`
  },
  {
    // Each amount is rounded on the running totals, so that all fills of an order add up to one fill of their sum (F20).
    name: "every spot order's payments and commission equal the totals of its fills",
    figure: "SELECT count(DISTINCT order_id) AS n FROM fills WHERE family = 'SPOT'",
    breaks: `WITH traded AS (
               SELECT order_id, client_id, side, currency, sum(price::numeric * qty::numeric) AS total, sum(commission) AS commission
                 FROM fills WHERE family = 'SPOT' GROUP BY order_id, client_id, side, currency),
             paid AS (
               SELECT ${orderOfKey} AS order_id, p.client_id, p.currency, sum(p.amount) AS amount
                 FROM ledger_transactions t JOIN postings p USING (tx_id)
                WHERE t.type = 'SPOT_SETTLE' AND p.client_id IS NOT NULL AND p.currency <> ${base("t.refs ->> 'Instrument'")}
                GROUP BY 1, 2, 3),
             due AS (
               SELECT f.order_id::text AS order_id, f.client_id, f.currency, f.side, f.commission,
                      CASE f.side WHEN 'BUY' THEN -ceil(f.total * u.unit) ELSE floor(f.total * u.unit) END AS amount,
                      ceil(f.total * u.unit * (o.context ->> 'commissionBps')::numeric / 10000) AS charge
                 FROM traded f JOIN orders o ON o.id = f.order_id JOIN ${units} AS u (code, unit) ON u.code = f.currency)
             SELECT 'order ' || coalesce(d.order_id, p.order_id) || ': ' || coalesce(p.amount, 0) || ' is booked, its fills come to '
                    || coalesce(d.amount, 0) || ', commission ' || coalesce(d.commission, 0) AS what
               FROM due d FULL JOIN paid p USING (order_id, client_id, currency)
              WHERE d.amount IS DISTINCT FROM p.amount
                 OR d.commission IS DISTINCT FROM (CASE d.side WHEN 'BUY' THEN d.charge ELSE least(d.charge, d.amount) END) LIMIT 1`
  },
  {
    name: "every order's filled quantity equals the sum of its fills and is at most its quantity",
    figure: "SELECT count(*) AS n FROM orders",
    breaks: `WITH filled AS (
               SELECT order_id AS id, client_id, symbol, side, sum(qty::numeric) AS qty, max(trade_id) AS last
                 FROM fills GROUP BY order_id, client_id, symbol, side),
             asked AS (
               SELECT id, client_id, symbol, context ->> 'side' AS side, state, (context ->> 'qty')::numeric AS qty,
                      (context ->> 'filledQty')::numeric AS filled, (context ->> 'lastTradeId')::bigint AS last FROM orders)
             SELECT 'order ' || coalesce(a.id, f.id) || ' is ' || coalesce(a.state, 'missing') || ' with ' || coalesce(a.filled, 0)
                    || ' filled, its fills are ' || coalesce(f.qty, 0) AS what
               FROM asked a FULL JOIN filled f USING (id, client_id, symbol, side)
              WHERE a.filled IS DISTINCT FROM coalesce(f.qty, 0) OR a.last IS DISTINCT FROM coalesce(f.last, 0) OR a.filled > a.qty
                 OR (a.state = 'FILLED' AND a.filled <> a.qty) OR (a.state = 'REJECTED' AND a.filled <> 0) LIMIT 1`
  },
  {
    name: "every fill's notional is price times quantity, and only a closing fill has a result",
    figure: "SELECT count(*) AS n FROM fills WHERE closed_qty IS NOT NULL",
    breaks: `SELECT 'fill ' || id || ' of order ' || order_id AS what FROM fills JOIN ${units} AS u (code, unit) ON u.code = currency
              WHERE abs(notional - price::numeric * qty::numeric * u.unit) >= 1 OR qty::numeric <= 0 OR commission < 0
                 OR coalesce(closed_qty::numeric, 0) NOT BETWEEN 0 AND qty::numeric
                 OR (realized_pnl <> 0 AND (CASE family WHEN 'PERP' THEN closed_qty IS NULL ELSE side = 'BUY' END)) LIMIT 1`
  },
  {
    // A working order holds the reserved amount that is not yet paid or released; an ended order holds zero.
    name: "every order's hold equals its reserved postings, and an ended order holds nothing",
    figure: `SELECT count(*) AS n FROM orders WHERE amount > 0 AND state IN (${working})`,
    breaks: `WITH units AS (SELECT * FROM ${units} AS u (code, unit)),
             reserved AS (
               SELECT ${orderOfKey} AS id, p.client_id, p.currency, sum(p.amount) AS amount
                 FROM ledger_transactions t JOIN postings p USING (tx_id)
                WHERE t.type IN ('SPOT_RESERVE', 'SPOT_RELEASE') AND p.kind = 'reserved' GROUP BY 1, 2, 3),
             holding AS (
               SELECT o.id::text AS id, o.client_id, o.currency, o.state, ${held} AS amount,
                      o.state IN (${working}) AS works, o.context ->> 'family' = 'SPOT' AND o.amount = 0 AS bare
                 FROM orders o)
             SELECT 'order ' || coalesce(h.id, r.id) || ' is ' || coalesce(h.state, 'missing') || ' and holds '
                    || trim_scale(coalesce(h.amount, 0)) || ', reserved for it are ' || coalesce(r.amount, 0) AS what
               FROM holding h FULL JOIN reserved r USING (id, client_id, currency)
              WHERE coalesce(h.amount, 0) <> coalesce(r.amount, 0) OR h.amount < 0 OR (NOT h.works AND h.amount <> 0)
                 OR (h.works AND h.bare) LIMIT 1`
  },
  {
    name: "every position equals the sum of its fills: net, opened and closed quantity, realized result",
    figure: "SELECT count(*) AS n FROM positions WHERE state = 'OPEN'",
    breaks: `WITH sums AS (
               SELECT client_id, symbol, bool_and(family = 'SPOT') AS spot, sum(${signedQty}) AS qty, sum(realized_pnl) AS realized,
                      sum(qty::numeric - 2 * coalesce(closed_qty::numeric, 0)) AS left
                 FROM fills GROUP BY client_id, symbol),
             held AS (
               SELECT client_id, symbol, state, net_qty::numeric AS qty, net_cost::numeric AS cost, amount, realized_pnl FROM positions)
             SELECT 'position ' || symbol || ' of client ' || client_id || ' is ' || coalesce(h.qty, 0) || ' ' || coalesce(h.state, '')
                    || ', its fills come to ' || coalesce(s.qty, 0) AS what
               FROM held h FULL JOIN sums s USING (client_id, symbol)
              WHERE coalesce(h.qty, 0) <> coalesce(s.qty, 0) OR (h.state IS NULL AND s.qty IS NOT NULL)
                 OR (h.state = 'SPOT') <> coalesce(s.spot, h.state = 'SPOT')
                 OR (h.state <> 'SPOT' AND (
                      (h.state = 'OPEN') <> (h.qty <> 0) OR h.realized_pnl <> coalesce(s.realized, 0)
                      OR abs(h.qty) <> coalesce(s.left, 0) OR sign(h.cost) <> sign(h.qty) OR abs(h.amount - abs(h.cost) * 1e6) >= 1)) LIMIT 1`
  },
  {
    name: "every attached leg is reduce-only, in its parent's market, for at most the filled quantity of the parent",
    figure: "SELECT count(*) AS n FROM orders WHERE parent_order_id IS NOT NULL",
    breaks: `WITH legs AS (
               SELECT id, parent_order_id, client_id, symbol, context ->> 'side' AS side, context ->> 'reduceOnly' AS reduces,
                      greatest((context ->> 'qty')::numeric, (context #>> '{amending,qty}')::numeric) AS qty
                 FROM orders WHERE parent_order_id IS NOT NULL)
             SELECT 'order ' || l.id || ' is for ' || l.qty || ' of order ' || l.parent_order_id || ', filled quantity '
                    || coalesce(p.context ->> 'filledQty', 'unknown') AS what
               FROM legs l LEFT JOIN orders p ON p.id = l.parent_order_id AND p.client_id = l.client_id AND p.symbol = l.symbol
              WHERE l.qty > coalesce((p.context ->> 'filledQty')::numeric, 0) OR l.reduces IS DISTINCT FROM 'true'
                 OR l.side = p.context ->> 'side' LIMIT 1`
  },
  {
    // Money that was received before lots were kept, or outside trades, has no lot: its asset is left out (A2-104).
    name: "remaining lots equal every client's holding of each asset that it only traded",
    figure: "SELECT count(*) AS n FROM spot_lots WHERE qty > 0",
    breaks: `WITH traded AS (
               SELECT p.client_id, p.currency AS asset FROM postings p JOIN ledger_transactions t USING (tx_id)
                WHERE p.client_id IS NOT NULL AND p.currency IN (${assets}) GROUP BY p.client_id, p.currency
               HAVING bool_and(t.type IN ('SPOT_RESERVE', 'SPOT_RELEASE', 'SPOT_SETTLE'))),
             left_over AS (SELECT client_id, asset, sum(qty) AS qty FROM spot_lots WHERE qty > 0 GROUP BY client_id, asset)
             SELECT 'client ' || k.client_id || ' ' || k.asset || ': lots ' || coalesce(l.qty, 0) || ', cash and reserved '
                    || coalesce(b.cash + b.reserved, 0) AS what
               FROM traded k LEFT JOIN left_over l USING (client_id, asset)
               LEFT JOIN balances b ON b.client_id = k.client_id AND b.currency = k.asset
              WHERE coalesce(l.qty, 0) <> coalesce(b.cash + b.reserved, 0)
              LIMIT 1`
  }
] as const
