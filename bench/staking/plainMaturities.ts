/**
 * Maturities by plain SQL: for each swap one transaction with the rows that the service stores for it (swap, two ledger
 * transactions with four postings, balance, two settlement items with their events, three audit rows, notification,
 * totals, the timer's end), all by one statement, on several connections. The reference does less work than the
 * service: swaps and payments are known in advance, ids derive from the swap's id, there are no lookups, no seals and
 * no daily sums, no venue is read and no delivery is queued.
 */
import { Pool, type PoolClient } from "pg"
import { onDatabase } from "../reference/database.ts"

/** Ends one swap of each of these ids in a transaction of its own. */
interface PlainMaturities {
  readonly databaseUrl: string
  readonly concurrency: number
  readonly swapIds: ReadonlyArray<number>
}

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

/** Opens a swap for each client on the terms of the pattern. Returns their ids in order. */
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

/** `given`: $1 swap, $2 Unix ms, $3 the final context, $4 and $5 items. */
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

const endSwap = async (connection: PoolClient, swapId: number): Promise<void> => {
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

/** Ends each swap once. Returns swaps per second. */
export const endPlainSwaps = async ({ databaseUrl, concurrency, swapIds }: PlainMaturities): Promise<number> => {
  const pool = new Pool({ connectionString: databaseUrl, max: concurrency })
  try {
    let at = 0
    const began = performance.now()
    const work = async (): Promise<void> => {
      const connection = await pool.connect()
      try {
        while (at < swapIds.length) await endSwap(connection, swapIds[at++] as number)
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
