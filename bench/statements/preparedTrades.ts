/**
 * Very many trades of many clients without an order for each over HTTP. One order that was filled over HTTP is the
 * pattern: it is copied in the database with its trade and the posting of its commission. Times are spread evenly over
 * a period, and ids ascend with them. Trades of different clients alternate, so one client's rows lie between those of
 * others. The service must be restarted before it reads them. The copies are not sealed, so the books of such a
 * database can't be verified.
 */
import { onDatabase } from "../reference/database.ts"

/** The first id of copies. Copied postings, two per trade, begin above twice this id. */
const firstCopy = 2_000_000_000

export interface TradeCopies {
  readonly clientIds: ReadonlyArray<number>
  /** Trades per client. */
  readonly each: number
  /** Trades are booked at or after the first and before the second time, Unix ms. */
  readonly from: number
  readonly to: number
}

/** $1 pattern client, $2 rows before, $3 clients, $4 each, $5 from, $6 to, $7 and $8 the first and the last of each. */
const given = `h AS MATERIALIZED (
  SELECT c.id AS client_id, c.partner_id, c.uid, g, ${firstCopy} + $2::bigint + (g - 1) * cardinality($3::bigint[]) + c.place AS id,
         $5::bigint + (g - 1) * ($6::bigint - $5::bigint) / $4::bigint AS ts
    FROM (SELECT id, partner_id, uid, row_number() OVER (ORDER BY id) AS place FROM clients WHERE id = ANY($3)) c,
         generate_series($7::bigint, $8::bigint) AS g ORDER BY g, c.place),
  t AS (SELECT * FROM orders WHERE client_id = $1 AND state = 'FILLED' ORDER BY id LIMIT 1),
  f AS (SELECT * FROM fills WHERE client_id = $1 ORDER BY id LIMIT 1)`

const statements = [
  `WITH ${given} INSERT INTO orders (id, partner_id, client_id, state, version, context, symbol, currency, amount, parent_order_id, created_at)
   SELECT h.id, h.partner_id, h.client_id, 'FILLED', t.version,
          (t.context::jsonb || jsonb_build_object('orderId', h.id, 'clientId', h.client_id, 'account', h.uid, 'venueOrderId', h.id,
             'lastTradeId', h.id))::json, t.symbol, 'USDC', 0, NULL, h.ts FROM h, t`,
  `WITH ${given} INSERT INTO fills (id, partner_id, client_id, order_id, trade_id, symbol, family, side, price, qty, closed_qty, currency,
                                    notional, commission, realized_pnl, order_type, origin, ts, booked_at)
   SELECT h.id, h.partner_id, h.client_id, h.id, h.id, f.symbol, f.family, f.side, f.price, f.qty, f.closed_qty, f.currency, f.notional,
          f.commission, 0, f.order_type, f.origin, h.ts, h.ts FROM h, f`,
  `WITH ${given} INSERT INTO ledger_transactions (tx_id, key, type, actor, client_id, partner_id, refs, ts)
   SELECT h.id, 'commission:' || h.id || ':' || h.id, 'COMMISSION', 'system:venue', h.client_id, h.partner_id,
          json_build_object('TradeId', h.id, 'ClientOrderId', 'O-' || h.id, 'Instrument', f.symbol), h.ts FROM h, f`,
  `WITH ${given} INSERT INTO postings (posting_id, tx_id, account, client_id, partner_id, currency, kind, amount)
   SELECT 2 * h.id + leg, h.id, CASE leg WHEN 0 THEN 'client:' || h.client_id ELSE 'commission' END,
          CASE leg WHEN 0 THEN h.client_id END, h.partner_id, 'USDC', 'cash',
          CASE leg WHEN 0 THEN -f.commission ELSE f.commission END FROM h, f, (VALUES (0), (1)) AS legs (leg)`
] as const

/** Rows per statement. */
const chunk = 50_000

/** `patternId`: the client whose filled order is copied. */
export const storeTrades = (databaseUrl: string, patternId: number, copies: TradeCopies): Promise<void> =>
  onDatabase(databaseUrl, async (client) => {
    const { clientIds, each, from, to } = copies
    const { rows } = await client.query<{ readonly n: string }>(
      `SELECT greatest(0, max(id) - ${firstCopy}) AS n FROM orders`
    )
    let stored = Number(rows[0]?.n ?? 0)
    await client.query("BEGIN")
    await client.query("ALTER TABLE postings DISABLE TRIGGER USER")
    const atOnce = Math.max(1, Math.floor(chunk / clientIds.length))
    for (let first = 1; first <= each; first += atOnce) {
      const last = Math.min(each, first + atOnce - 1)
      for (const statement of statements)
        await client.query(statement, [patternId, stored, clientIds, each, from, to, first, last])
    }
    stored += clientIds.length * each
    await client.query("ALTER TABLE postings ENABLE TRIGGER USER")
    // Later bookings get higher ids than the copies.
    for (const [name, last] of [
      ["order", firstCopy + stored + 1],
      ["fill", firstCopy + stored + 1],
      ["transaction", firstCopy + stored + 1],
      ["posting", 2 * (firstCopy + stored + 1)]
    ] as const)
      await client.query("SELECT setval($1, $2)", [`id_${name}`, last])
    await client.query("COMMIT")
    await client.query("VACUUM ANALYZE")
  })
