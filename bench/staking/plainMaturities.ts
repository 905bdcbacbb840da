/**
 * Maturities by plain SQL: a transaction for each swap with the rows that the service makes durable for it (swap, two ledger
 * transactions with four postings, balance, two settlement items with their events, three audit rows, notification, totals, the
 * timer's end), statement by statement or all of them by one, on so many connections. Kinder than the service is to itself: swaps
 * and payments are known beforehand, ids follow from the swap's, nothing is looked up or sealed, no sums by day are kept, no venue is
 * heard and no delivery is queued.
 */
import { Pool, type PoolClient } from "pg"
import { onDatabase } from "../reference/database.ts"
import type { PlainMaturities } from "./protocol.ts"

const notional = 10_000_000n
const reward = 32_876n
const commission = 3_287n
const paid = notional + reward

const swapColumns = `(id, partner_id, client_id, state, version, context, symbol, currency, amount, reward, fee, paid, written_off,
                      commission, contract_id, opened_at, maturity_at, created_at)`
const itemColumns =
  "(id, partner_id, client_id, shard, state, version, context, type, currency, amount, tx_id, occurred_at)"
const auditColumns = "(id, ts, role, key_label, request_id, partner_id, client_id, object, action, after)"
const transactionColumns = "(tx_id, key, type, actor, client_id, partner_id, refs, ts)"
const postingColumns = "(posting_id, tx_id, account, client_id, partner_id, currency, kind, amount)"
const totalsColumns = `(client_id, partner_id, fills, fills_pnl, spot_pnl, barrier_pnl, fills_commission, barrier_commission,
                        contracts, staking_pnl, staking_commission, swap_takes, wins)`
const putTotals = `ON CONFLICT (client_id) DO UPDATE SET staking_pnl = account_totals.staking_pnl + excluded.staking_pnl,
  staking_commission = account_totals.staking_commission + excluded.staking_commission, wins = account_totals.wins + 1`

/** A swap of each client, open, of the pattern's terms; their ids are answered in order. */
export const openPlainSwaps = (databaseUrl: string, clientIds: ReadonlyArray<number>): Promise<ReadonlyArray<number>> =>
  onDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<{ readonly id: string }>(
      `WITH s AS (INSERT INTO swaps ${swapColumns}
         SELECT (SELECT coalesce(max(id), 0) FROM swaps) + row_number() OVER (), partner_id, id, 'OPEN', '1',
                json_build_object('swapId', id, 'clientId', id, 'account', uid, 'offerId', 1, 'symbol', 'USDC-SWAP',
                  'name', 'USDC staking', 'asset', 'USDC', 'qty', '10.00', 'notional', '10.000000', 'rateBps', 400, 'tenorDays', 30,
                  'reward', '0.032876', 'estimatedFee', '0.000000', 'hold', '10.000000', 'commissionRewardBps', 1000,
                  'createdAt', 1, 'contractId', id, 'tradeId', id, 'openedTs', 1, 'maturityTs', 2, 'defaultedTs', null,
                  'closedTs', null, 'fee', '0.000000', 'corrections', '[]'::json, 'payments', '[]'::json, 'doubts', '[]'::json,
                  'paid', '0', 'writtenOff', '0', 'recovered', '0', 'commission', '0', 'charges', 0, 'settleReason', null,
                  'rejectReason', null, 'ts', 1),
                'USDC-SWAP', 'USDC', ${notional}, ${reward}, 0, 0, 0, 0, id, 1, 2, 1
           FROM clients WHERE id = ANY($1) RETURNING id, client_id),
         t AS (INSERT INTO timers (subject, name, due_at) SELECT 'client:' || client_id, 'swap.overdue:' || id, 1 FROM s)
       SELECT id FROM s ORDER BY id`,
      [clientIds]
    )
    await client.query("VACUUM ANALYZE swaps")
    return rows.map(({ id }) => Number(id))
  })

/** `given`: $1 swap, $2 Unix ms, $3 the context as it ends, $4 and $5 items. */
const given = `given AS (SELECT id, client_id, partner_id, 2 * id AS tx_id, $2::bigint AS ts FROM swaps WHERE id = $1::bigint AND state = 'OPEN')`
const one = `WITH ${given},
  k AS (SELECT * FROM given, (VALUES (0, 'SWAP_SETTLE', 'swapSettle:', 'venue', ${paid}, $4::json),
                                     (1, 'COMMISSION', 'commission:swap:', 'commission', -${commission}, $5::json))
                             AS kinds (n, type, key, house, amount, item)),
  s AS (UPDATE swaps SET state = 'MATURED', context = $3::json, paid = ${paid}, commission = ${commission}, closed_at = $2
         WHERE id = (SELECT id FROM given) RETURNING id),
  t AS (INSERT INTO ledger_transactions ${transactionColumns}
        SELECT tx_id + n, key || id, type, 'system:venue', client_id, partner_id, item -> 'refs', ts FROM k),
  p AS (INSERT INTO postings ${postingColumns}
        SELECT 2 * (tx_id + n), tx_id + n, 'client:' || client_id, client_id, partner_id, 'USDC', 'cash', amount FROM k
         UNION ALL SELECT 2 * (tx_id + n) + 1, tx_id + n, house, NULL, partner_id, 'USDC', 'cash', -amount FROM k),
  b AS (UPDATE balances SET cash = cash + ${paid - commission}, from_venue = from_venue + ${paid} FROM given
         WHERE balances.client_id = given.client_id AND currency = 'USDC'),
  i AS (INSERT INTO settlement_items ${itemColumns}
        SELECT tx_id + n, partner_id, client_id, client_id % 1024, 'PENDING', '1', item, type, 'USDC', amount, tx_id + n, ts FROM k),
  e AS (INSERT INTO events (partner_id, seq, name, client_id, data, ts)
        SELECT partner_id, tx_id + n, 'settlement.item_created', client_id, item, ts FROM k),
  a AS (INSERT INTO audit ${auditColumns}
        SELECT 3 * id + n, ts, 'SYSTEM', 'venue', 'venue', partner_id, client_id, 'settlementItem:' || (tx_id + n), 'settlement.item', 'PENDING' FROM k
         UNION ALL SELECT 3 * id + 2, ts, 'SYSTEM', 'venue', 'venue', partner_id, client_id, 'swap:' || id, 'swap.end', 'MATURED' FROM given),
  n AS (INSERT INTO notifications (id, partner_id, client_id, kind, ref, ts, written_at)
        SELECT id, partner_id, client_id, 'SWAP_SETTLED', id::text, ts, ts FROM given),
  o AS (INSERT INTO account_totals ${totalsColumns}
        SELECT client_id, partner_id, 0, 0, 0, 0, 0, 0, 0, ${reward}, ${commission}, 1, 1 FROM given ${putTotals}),
  d AS (DELETE FROM timers USING given WHERE subject = 'client:' || given.client_id AND name = 'swap.overdue:' || given.id)
  SELECT count(*) AS ended FROM s`

const steps = {
  swap: "SELECT partner_id, client_id, context FROM swaps WHERE id = $1 AND state = 'OPEN' FOR UPDATE",
  end: `UPDATE swaps SET state = 'MATURED', context = $2, paid = ${paid}, commission = ${commission}, closed_at = $3 WHERE id = $1`,
  transaction: `INSERT INTO ledger_transactions ${transactionColumns} VALUES ($1, $2, $3, 'system:venue', $4, $5, $6, $7)`,
  posting: `INSERT INTO postings ${postingColumns} VALUES ($1, $2, $3, $4, $5, 'USDC', 'cash', $6)`,
  balance: `UPDATE balances SET cash = cash + ${paid - commission}, from_venue = from_venue + ${paid}
             WHERE client_id = $1 AND currency = 'USDC'`,
  item: `INSERT INTO settlement_items ${itemColumns}
         VALUES ($1, $2, $3, $3::bigint % 1024, 'PENDING', '1', $4, $5, 'USDC', $6, $1, $7)`,
  event: `INSERT INTO events (partner_id, seq, name, client_id, data, ts)
          VALUES ($1, $2, 'settlement.item_created', $3, $4, $5)`,
  audit: `INSERT INTO audit ${auditColumns} VALUES ($1, $2, 'SYSTEM', 'venue', 'venue', $3, $4, $5, $6, $7)`,
  notification: `INSERT INTO notifications (id, partner_id, client_id, kind, ref, ts, written_at)
                 VALUES ($1, $2, $3, 'SWAP_SETTLED', $1::bigint::text, $4, $4)`,
  totals: `INSERT INTO account_totals ${totalsColumns} VALUES ($1, $2, 0, 0, 0, 0, 0, 0, 0, ${reward}, ${commission}, 1, 1) ${putTotals}`,
  timer: "DELETE FROM timers WHERE subject = 'client:' || $1::bigint AND name = 'swap.overdue:' || $2::bigint"
} as const

const itemOf = (swapId: number, txId: number, type: string, amount: string): string =>
  JSON.stringify({
    itemId: txId,
    type,
    currency: "USDC",
    amount,
    refs: {
      contractId: swapId,
      swapId,
      symbol: "USDC-SWAP",
      asset: "USDC",
      principal: "10.000000",
      reward: "0.032876"
    },
    ledgerTxId: txId,
    partnerTxRef: null,
    settledAt: null,
    reportedAt: null,
    note: null,
    reports: 0
  })

const ended = {
  paid: "10.032876",
  commission: "0.003287",
  charges: 1,
  settleReason: "matured",
  payments: [{ id: 1, amount: "10.032876", at: 2 }],
  closedTs: 2
}

const endByStatement = async (connection: PoolClient, swapId: number): Promise<void> => {
  const items = [
    itemOf(swapId, 2 * swapId, "SWAP_SETTLE", "10.032876"),
    itemOf(swapId, 2 * swapId + 1, "COMMISSION", "-0.003287")
  ]
  const context = JSON.stringify({ swapId, asset: "USDC", notional: "10.000000", reward: "0.032876", ...ended })
  const { rows } = await connection.query<{ readonly ended: string }>({
    name: "one",
    text: one,
    values: [swapId, Date.now(), context, ...items]
  })
  if (rows[0]?.ended !== "1") throw new Error(`swap ${swapId} was not open`)
}

const endInSteps = async (connection: PoolClient, swapId: number): Promise<void> => {
  const run = (name: keyof typeof steps, values: ReadonlyArray<unknown>) =>
    connection.query({ name, text: steps[name], values: [...values] })
  const now = Date.now()
  await connection.query("BEGIN")
  const [swap] = (await run("swap", [swapId])).rows as ReadonlyArray<
    Record<"partner_id" | "client_id" | "context", never>
  >
  if (swap === undefined) throw new Error(`swap ${swapId} was not open`)
  const { partner_id: partnerId, client_id: clientId, context } = swap
  await run("end", [swapId, JSON.stringify({ ...(context as object), ...ended }), now])
  const entries = [
    ["SWAP_SETTLE", "swapSettle:", "venue", paid, "10.032876"],
    ["COMMISSION", "commission:swap:", "commission", -commission, "-0.003287"]
  ] as const
  for (const [n, [type, key, house, amount, text]] of entries.entries()) {
    const txId = 2 * swapId + n
    const item = itemOf(swapId, txId, type, text)
    await run("transaction", [txId, `${key}${swapId}`, type, clientId, partnerId, item, now])
    await run("posting", [2 * txId, txId, `client:${String(clientId)}`, clientId, partnerId, amount])
    await run("posting", [2 * txId + 1, txId, house, null, partnerId, -amount])
    await run("item", [txId, partnerId, clientId, item, type, amount, now])
    await run("event", [partnerId, txId, clientId, item, now])
    await run("audit", [
      3 * swapId + n,
      now,
      partnerId,
      clientId,
      `settlementItem:${txId}`,
      "settlement.item",
      "PENDING"
    ])
  }
  await run("balance", [clientId])
  await run("audit", [3 * swapId + 2, now, partnerId, clientId, `swap:${swapId}`, "swap.end", "MATURED"])
  await run("notification", [swapId, partnerId, clientId, now])
  await run("totals", [clientId, partnerId])
  await run("timer", [clientId, swapId])
  await connection.query("COMMIT")
}

/** Ends each of them once; swaps a second. */
export const endPlainSwaps = async ({ databaseUrl, way, concurrency, swapIds }: PlainMaturities): Promise<number> => {
  const pool = new Pool({ connectionString: databaseUrl, max: concurrency })
  try {
    let at = 0
    const began = performance.now()
    const end = way === "one" ? endByStatement : endInSteps
    const work = async (): Promise<void> => {
      const connection = await pool.connect()
      try {
        while (at < swapIds.length) await end(connection, swapIds[at++] as number)
      } finally {
        connection.release()
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    const rate = (swapIds.length * 1_000) / (performance.now() - began)
    await checkPlain(databaseUrl)
    return rate
  } finally {
    await pool.end()
  }
}

const checkPlain = (databaseUrl: string): Promise<void> =>
  onDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<{ readonly wrong: string }>(
      `SELECT count(*) FILTER (WHERE state <> 'MATURED')
            + abs(2 * count(*) - (SELECT count(*) FROM settlement_items))
            + (SELECT count(*) FROM balances b LEFT JOIN (SELECT client_id, sum(amount) AS cash FROM postings GROUP BY client_id) p
                 USING (client_id) WHERE b.cash <> coalesce(p.cash, 0)) AS wrong FROM swaps`
    )
    if (rows[0]?.wrong !== "0") throw new Error(`plain SQL has ended ${String(rows[0]?.wrong)} swaps wrongly`)
  })
