/**
 * The stored rows of a whole day without its trading: copies of one client, each with trades booked at a given time,
 * their orders and commissions, as the service would have written them. Balances are not written, so the books are not
 * verified.
 */
type Run = (text: string) => Promise<ReadonlyArray<object>>

/** Ids of the copies. They start above those that the service issues. */
export const firstCopy = 1_000_000_000

export interface NightPlan {
  /** The client that is copied, and one of its orders. */
  readonly clientId: number
  readonly orderId: number
  readonly clients: number
  /** The number of trades of each client. */
  readonly trades: number
  /** The time of the first trade, Unix ms; each further one is a second later. */
  readonly at: number
}

const columnsOf = async (run: Run, table: string, replaced: Readonly<Record<string, string>>) => {
  const rows = (await run(
    `SELECT column_name AS name FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name = '${table}' AND is_generated = 'NEVER' ORDER BY ordinal_position`
  )) as ReadonlyArray<{ readonly name: string }>
  return {
    names: rows.map(({ name }) => name).join(", "),
    values: rows.map(({ name }) => replaced[name] ?? `t.${name}`).join(", ")
  }
}

export const storeNight = async (run: Run, { clientId, orderId, clients, trades, at }: NightPlan): Promise<void> => {
  const copy = `${firstCopy} + g`
  const own = `${firstCopy} + n * ${clients} + g`
  const each = `generate_series(1, ${clients}) AS g`
  const all = `${each}, generate_series(0, ${trades - 1}) AS n`
  const client = await columnsOf(run, "clients", {
    id: copy,
    uid: "t.uid || '-' || g",
    partner_client_ref: "'copy-' || g",
    email: "'copy.' || g || '@mail.example'",
    person_key: "replace(t.person_key, ':', ':' || g || '-')"
  })
  const order = await columnsOf(run, "orders", { id: own, client_id: copy })
  const of = `FROM clients c, ${all} WHERE c.id = ${clientId}`
  await run(
    `INSERT INTO clients (${client.names}) SELECT ${client.values} FROM clients t, ${each} WHERE t.id = ${clientId}`
  )
  await run(`INSERT INTO subjects (subject, token) SELECT 'client:' || (${copy}), 1 FROM ${each}`)
  await run(`INSERT INTO orders (${order.names}) SELECT ${order.values} FROM orders t, ${all} WHERE t.id = ${orderId}`)
  await run(`INSERT INTO fills (id, partner_id, client_id, order_id, trade_id, symbol, family, side, price, qty, closed_qty,
      currency, notional, commission, realized_pnl, order_type, origin, ts, booked_at)
    SELECT ${own}, c.partner_id, ${copy}, ${own}, n, 'BTC-USDC-PERP', 'PERP', 'BUY', '60000.0', '0.0010', NULL, 'USDC',
           60000000, 30000, 0, 'LIMIT', 'CLIENT', ${at} + n * 1000, ${at} + n * 1000 ${of}`)
  await run(`INSERT INTO ledger_transactions (tx_id, key, type, actor, reason, client_id, partner_id, refs, ts)
    SELECT ${own}, 'commission:' || (${own}) || ':' || n, 'COMMISSION', 'SYSTEM', NULL, ${copy}, c.partner_id,
           '{"Instrument":"BTC-USDC-PERP"}', ${at} + n * 1000 ${of}`)
  await run(`INSERT INTO postings (posting_id, tx_id, account, client_id, partner_id, currency, kind, amount)
    SELECT 2 * (${own}) + k, ${own}, CASE k WHEN 0 THEN 'client:' || (${copy}) ELSE 'house' END,
           CASE k WHEN 0 THEN ${copy} END, c.partner_id, 'USDC', 'cash', CASE k WHEN 0 THEN -30000 ELSE 30000 END
      FROM clients c, ${all}, generate_series(0, 1) AS k WHERE c.id = ${clientId}`)
}
