/**
 * Funding by plain SQL: for each holder one transaction with the rows that the service stores for it (ledger
 * transaction, two postings, balance, settlement item, event and audit row), all by one statement, on several
 * connections. The reference does less work than the service: holders, positions and payments are known in advance, ids
 * come from memory, there are no lookups and no seals, no venue is read and no delivery is queued.
 */
import { Pool, type PoolClient } from "pg"
import { onDatabase } from "../reference/database.ts"

export interface PlainStamp {
  readonly databaseUrl: string
  readonly concurrency: number
  readonly clientIds: ReadonlyArray<number>
  readonly symbol: string
  readonly settledAt: number
  /** Micro-USDC per holder. */
  readonly amount: bigint
}

/** $1 transaction, $2 key, $3 client, $4 partner, $5 refs, $6 Unix ms, $7 amount, $8 item. */
const one = `WITH given AS (SELECT $1::bigint AS tx_id, $3::bigint AS client_id, $4::bigint AS partner_id, $6::bigint AS ts, $7::bigint AS amount),
  t AS (INSERT INTO ledger_transactions (tx_id, key, type, actor, client_id, partner_id, refs, ts)
        SELECT tx_id, $2, 'FUNDING', 'system:venue', client_id, partner_id, $5::json, ts FROM given),
  p AS (INSERT INTO postings (posting_id, tx_id, account, client_id, partner_id, currency, kind, amount)
        SELECT 2 * tx_id, tx_id, 'client:' || client_id, client_id, partner_id, 'USDC', 'cash', amount FROM given
         UNION ALL SELECT 2 * tx_id + 1, tx_id, 'venue', NULL, partner_id, 'USDC', 'cash', -amount FROM given),
  b AS (UPDATE balances SET cash = cash + amount, from_venue = from_venue + amount FROM given
         WHERE balances.client_id = given.client_id AND currency = 'USDC'),
  i AS (INSERT INTO settlement_items (id, partner_id, client_id, shard, state, version, context, type, currency, amount, tx_id, occurred_at)
        SELECT tx_id, partner_id, client_id, client_id % 1024, 'PENDING', '1', $8::json, 'FUNDING', 'USDC', amount, tx_id, ts FROM given),
  e AS (INSERT INTO events (partner_id, seq, name, client_id, data, ts)
        SELECT partner_id, tx_id, 'settlement.item_created', client_id, $8::json, ts FROM given)
  INSERT INTO audit (id, ts, role, key_label, request_id, partner_id, client_id, object, action, after)
  SELECT tx_id, ts, 'SYSTEM', 'venue', 'venue', partner_id, client_id, 'settlementItem:' || tx_id, 'settlement.item', 'PENDING' FROM given`

interface Desk extends PlainStamp {
  readonly partnerId: number
  next: number
}

const book = async (connection: PoolClient, desk: Desk, clientId: number): Promise<void> => {
  const { partnerId, symbol, settledAt, amount } = desk
  const txId = desk.next++
  const now = Date.now()
  const key = `funding:${symbol}:${settledAt}:${clientId}`
  const refs = JSON.stringify({ Instrument: symbol, settledAt, mark: "60000.0", rate: "0.00010000", netQty: "0.2000" })
  const context = JSON.stringify({
    itemId: txId,
    clientId,
    type: "FUNDING",
    currency: "USDC",
    amount: (Number(amount) / 1e6).toFixed(6),
    refs: JSON.parse(refs) as object,
    occurredAt: now,
    ledgerTxId: txId,
    createdAt: now,
    partnerTxRef: null,
    settledAt: null,
    reportedAt: null,
    note: null,
    reports: 0
  })
  const values = [txId, key, clientId, partnerId, refs, now, amount, context]
  await connection.query({ name: "one", text: one, values })
}

/** Books a stamp once for each client. Returns holders per second. */
export const bookPlainFunding = async (stamp: PlainStamp): Promise<number> => {
  const { databaseUrl, concurrency, clientIds, settledAt, symbol } = stamp
  const { partnerId, next } = await onDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<{ readonly partner_id: string; readonly next: string }>(
      `SELECT partner_id, (SELECT 1 + coalesce(max(tx_id), 0) FROM ledger_transactions) AS next FROM clients WHERE id = $1`,
      [clientIds[0]]
    )
    return { partnerId: Number(rows[0]?.partner_id), next: Number(rows[0]?.next) }
  })
  const desk: Desk = { ...stamp, partnerId, next }
  const pool = new Pool({ connectionString: databaseUrl, max: concurrency })
  try {
    let at = 0
    const began = performance.now()
    const work = async (): Promise<void> => {
      const connection = await pool.connect()
      try {
        while (at < clientIds.length) await book(connection, desk, clientIds[at++] as number)
      } finally {
        connection.release()
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    const rate = (clientIds.length * 1_000) / (performance.now() - began)
    await checkPlain(databaseUrl, `funding:${symbol}:${settledAt}:%`, clientIds.length)
    return rate
  } finally {
    await pool.end()
  }
}

const checkPlain = (databaseUrl: string, keys: string, wanted: number): Promise<void> =>
  onDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<{ readonly booked: string; readonly apart: string }>(
      `SELECT (SELECT count(*) FROM ledger_transactions WHERE key LIKE $1) AS booked,
              (SELECT count(*) FROM balances b LEFT JOIN (SELECT client_id, sum(amount) AS cash FROM postings GROUP BY client_id) s
                 USING (client_id) WHERE b.cash <> coalesce(s.cash, 0)) AS apart`,
      [keys]
    )
    const { booked, apart } = rows[0] ?? { booked: "0", apart: "0" }
    if (Number(booked) !== wanted || apart !== "0")
      throw new Error(`plain SQL has booked ${booked} of ${wanted} holders, ${apart} balances are not their postings`)
  })
