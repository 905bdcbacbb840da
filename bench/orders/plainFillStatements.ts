/**
 * The statement that books a trade by plain SQL. It writes the same rows as the service: trade, order, position, ledger
 * transactions with two postings each, balance, totals, notification, and under PARTNER custody item, event and audit
 * row of each transaction. Orders increase or reduce a long position, and never turn it.
 */

const putPosition = `ON CONFLICT (client_id, symbol) DO UPDATE SET state = excluded.state, net_qty = excluded.net_qty,
        avg_entry = excluded.avg_entry, net_cost = excluded.net_cost, amount = excluded.amount,
        realized_pnl = excluded.realized_pnl, updated_at = excluded.updated_at`

const putTotals = `ON CONFLICT (client_id) DO UPDATE SET fills = account_totals.fills + 1,
        fills_pnl = account_totals.fills_pnl + excluded.fills_pnl,
        fills_commission = account_totals.fills_commission + excluded.fills_commission`

/** $1 order ids, $2 the first id of the trades (other rows derive theirs from it), $3 price, $4 partner, $5 Unix ms. */
const settled = `given AS (SELECT order_id, n FROM unnest($1::bigint[]) WITH ORDINALITY g (order_id, n)),
  o AS (SELECT g.n, $2::bigint + g.n AS id, o.id AS order_id, o.client_id, o.symbol, o.context, c.uid, c.partner_client_ref,
               o.context ->> 'side' AS side, (o.context ->> 'qty')::numeric AS qty, $3::numeric AS price,
               coalesce(p.net_qty::numeric, 0) AS net, coalesce(p.net_cost::numeric, 0) AS cost,
               coalesce(p.avg_entry::numeric, 0) AS average, coalesce(p.realized_pnl, 0) AS realized
          FROM given g JOIN orders o ON o.id = g.order_id AND o.state = 'ACKED' JOIN clients c ON c.id = o.client_id
          LEFT JOIN positions p ON p.client_id = o.client_id AND p.symbol = o.symbol),
  s AS (SELECT *, CASE side WHEN 'BUY' THEN qty ELSE -qty END AS change,
               ceil(price * qty * 500)::bigint AS commission,
               CASE side WHEN 'SELL' THEN floor((price - average) * qty * 1000000)::bigint END AS pnl
          FROM o),
  m AS (SELECT *, CASE side WHEN 'BUY' THEN cost + qty * price WHEN 'SELL' THEN round(cost * (net + change) / nullif(net, 0), 18) END AS new_cost
          FROM s)`

const posted = `t AS (SELECT m.*, 2 * id + k AS tx_id, CASE k WHEN 0 THEN 'COMMISSION' ELSE 'PNL' END AS type,
               CASE k WHEN 0 THEN 'commission' ELSE 'pnl' END || ':' || order_id || ':' || id AS key,
               CASE k WHEN 0 THEN -commission ELSE pnl END AS amount,
               json_build_object('TradeId', id, 'ClientOrderId', 'O-' || order_id, 'Instrument', symbol) AS refs
          FROM m, (VALUES (0), (1)) AS kinds (k) WHERE k = 0 OR pnl <> 0)`

const custodyRows = `,
  i AS (SELECT *, json_build_object('itemId', tx_id, 'clientId', client_id, 'clientUid', uid, 'partnerClientRef', partner_client_ref,
               'type', type, 'currency', 'USDC', 'amount', (amount / 1000000.0)::numeric(20, 6)::text, 'refs', refs, 'occurredAt', $5::bigint,
               'ledgerTxId', tx_id, 'createdAt', $5::bigint, 'partnerTxRef', NULL, 'settledAt', NULL, 'reportedAt', NULL,
               'note', NULL, 'reports', 0) AS item FROM t),
  items AS (INSERT INTO settlement_items (id, partner_id, client_id, shard, state, version, context, type, currency, amount, tx_id,
                                          occurred_at)
            SELECT tx_id, $4::bigint, client_id, client_id % 1024, 'PENDING', '1', item, type, 'USDC', amount, tx_id, $5::bigint FROM i),
  events AS (INSERT INTO events (partner_id, seq, name, client_id, data, ts)
             SELECT $4::bigint, tx_id, 'settlement.item_created', client_id, item, $5::bigint FROM i),
  audits AS (INSERT INTO audit (id, ts, role, key_label, request_id, partner_id, client_id, object, action, after)
             SELECT tx_id, $5::bigint, 'SYSTEM', 'venue', 'venue', $4::bigint, client_id, 'settlementItem:' || tx_id, 'settlement.item', 'PENDING' FROM i)`

/** Books one trade for each order of the list. All orders belong to different clients. Returns the number of trades. */
export const bookStatement = (custody: "BROKER" | "PARTNER"): string => `WITH ${settled},
  ${posted},
  filled AS (UPDATE orders o SET state = 'FILLED', context = (o.context::jsonb || jsonb_build_object(
               'filledQty', m.qty::text, 'lastTradeId', m.id, 'updatedAt', $5::bigint))::json
               FROM m WHERE o.id = m.order_id RETURNING o.id),
  trades AS (INSERT INTO fills (id, partner_id, client_id, order_id, trade_id, symbol, family, side, price, qty, closed_qty,
                                currency, notional, commission, realized_pnl, order_type, origin, ts, booked_at)
             SELECT id, $4::bigint, client_id, order_id, id, symbol, 'PERP', side, price::text, qty::text,
                    CASE side WHEN 'SELL' THEN qty::text END, 'USDC', floor(price * qty * 1000000)::bigint, commission,
                    coalesce(pnl, 0), 'LIMIT', 'CLIENT', $5::bigint, $5::bigint FROM m),
  held AS (INSERT INTO positions (id, partner_id, client_id, symbol, state, net_qty, avg_entry, net_cost, currency, amount,
                                  realized_pnl, opened_at, updated_at)
           SELECT id, $4::bigint, client_id, symbol, CASE net + change WHEN 0 THEN 'FLAT' ELSE 'OPEN' END, (net + change)::text,
                  CASE net + change WHEN 0 THEN '0' ELSE round(new_cost / (net + change), 18)::text END, new_cost::text, 'USDC',
                  floor(abs(new_cost) * 1000000)::bigint, realized + coalesce(pnl, 0), $5::bigint, $5::bigint FROM m
           ${putPosition}),
  transactions AS (INSERT INTO ledger_transactions (tx_id, key, type, actor, client_id, partner_id, refs, ts)
                   SELECT tx_id, key, type, 'system:venue', client_id, $4::bigint, refs, $5::bigint FROM t),
  legs AS (INSERT INTO postings (posting_id, tx_id, account, client_id, partner_id, currency, kind, amount)
           SELECT 2 * tx_id, tx_id, 'client:' || client_id, client_id, $4::bigint, 'USDC', 'cash', amount FROM t
           UNION ALL
           SELECT 2 * tx_id + 1, tx_id, CASE type WHEN 'PNL' THEN 'venue' ELSE 'commission' END, NULL, $4::bigint, 'USDC', 'cash', -amount FROM t),
  money AS (UPDATE balances b SET cash = cash - m.commission + coalesce(m.pnl, 0) FROM m
             WHERE b.client_id = m.client_id AND b.currency = 'USDC'),
  totals AS (INSERT INTO account_totals (client_id, partner_id, fills, fills_pnl, spot_pnl, barrier_pnl, fills_commission,
                                         barrier_commission, contracts)
             SELECT client_id, $4::bigint, 1, coalesce(pnl, 0), 0, 0, commission, 0, 0 FROM m ${putTotals}),
  told AS (INSERT INTO notifications (id, partner_id, client_id, kind, ref, ts, written_at)
           SELECT id, $4::bigint, client_id, 'ORDER_FILLED', order_id::text, $5::bigint, $5::bigint FROM m)${custody === "PARTNER" ? custodyRows : ""}
  SELECT count(*) AS booked FROM filled`
