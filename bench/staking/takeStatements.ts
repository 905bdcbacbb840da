/** The statements of the references of takes: one per row, or one for all rows of a commit. */
const auditColumns = "(id, ts, role, key_label, request_id, partner_id, client_id, object, action, after)"
const swapColumns = `(id, partner_id, client_id, state, version, context, symbol, currency, amount, reward, fee, paid, written_off,
                      commission, created_at)`
const transactionColumns = "(tx_id, key, type, actor, client_id, partner_id, refs, ts)"
const postingColumns = "(posting_id, tx_id, account, client_id, partner_id, currency, kind, amount)"
const callColumns = "(ref, partner_id, client_id, call, request, at)"
const itemColumns = `(id, partner_id, client_id, shard, state, version, context, type, currency, amount, tx_id, occurred_at)`
const totalsColumns = `(client_id, partner_id, fills, fills_pnl, spot_pnl, barrier_pnl, fills_commission, barrier_commission,
                        contracts, swap_takes)`
const putTotals = "ON CONFLICT (client_id) DO UPDATE SET swap_takes = account_totals.swap_takes + 1"

export const takeStatements = {
  answer: "SELECT status, body FROM answers WHERE principal = 'partner:' || $1::text AND key = $2",
  client: `SELECT c.uid, c.state, c.level, c.partner_client_ref, b.cash FROM clients c
             JOIN balances b ON b.client_id = c.id AND b.currency = 'USDC' WHERE c.id = $1 AND c.partner_id = $2 FOR UPDATE`,
  positions: "SELECT coalesce(sum(amount), 0) AS held FROM positions WHERE client_id = $1 AND state = 'OPEN'",
  orders: "SELECT coalesce(sum(amount), 0) AS held FROM orders WHERE client_id = $1 AND works",
  look: `SELECT c.uid, c.state, c.level, c.partner_client_ref, b.cash,
                (SELECT coalesce(sum(amount), 0) FROM orders WHERE client_id = $1 AND works)
              + (SELECT coalesce(sum(amount), 0) FROM positions WHERE client_id = $1 AND state = 'OPEN') AS held,
                (SELECT count(*) FROM answers WHERE principal = 'partner:' || $2::bigint AND key = $3) AS answered
           FROM clients c JOIN balances b ON b.client_id = c.id AND b.currency = 'USDC'
          WHERE c.id = $1 AND c.partner_id = $2 FOR UPDATE`,
  swap: `INSERT INTO swaps ${swapColumns}
         VALUES ($1, $2, $3, 'ACCEPTING', '1', $4, 'USDC-SWAP', 'USDC', $5, $6, 0, 0, 0, 0, $7)`,
  transaction: `INSERT INTO ledger_transactions ${transactionColumns} VALUES ($1, $2, $3, 'system:venue', $4, $5, $6, $7)`,
  posting: `INSERT INTO postings ${postingColumns} VALUES ($1, $2, $3, $4, $5, 'USDC', $6, $7)`,
  reserve: `UPDATE balances SET cash = cash - $2::bigint, reserved = reserved + $2::bigint
             WHERE client_id = $1 AND currency = 'USDC'`,
  call: `INSERT INTO venue_calls ${callColumns} VALUES ($1, $2, $3, 'takeOffer', $4, $5)`,
  audit: `INSERT INTO audit ${auditColumns} VALUES ($1, $2, 'PARTNER', 'bench', $3, $4, $5, $6, $7, $8)`,
  read: "SELECT state, context FROM swaps WHERE id = $1 AND client_id = $2 FOR UPDATE",
  open: `UPDATE swaps SET state = 'OPEN', context = $2, contract_id = $3, opened_at = $4, maturity_at = $5 WHERE id = $1`,
  lend: `UPDATE balances SET reserved = reserved - $2::bigint, from_venue = from_venue - $2::bigint
          WHERE client_id = $1 AND currency = 'USDC'`,
  item: `INSERT INTO settlement_items ${itemColumns}
         VALUES ($1, $2, $3, $3::bigint % 1024, 'PENDING', '1', $4, 'SWAP_PRINCIPAL', 'USDC', $5, $1, $6)`,
  event: `INSERT INTO events (partner_id, seq, name, client_id, data, ts)
          VALUES ($1, $2, 'settlement.item_created', $3, $4, $5)`,
  totals: `INSERT INTO account_totals ${totalsColumns} VALUES ($1, $2, 0, 0, 0, 0, 0, 0, 0, 1) ${putTotals}`,
  timer:
    "INSERT INTO timers (subject, name, due_at) VALUES ('client:' || $1::bigint, 'swap.overdue:' || $2::bigint, $3)",
  called: "DELETE FROM venue_calls WHERE ref = $1",
  storeAnswer: `INSERT INTO answers (principal, key, fingerprint, status, body, answered_at)
                VALUES ('partner:' || $1::text, $2, $3, 200, $4, $5)`,
  /** $1 swap, $2 partner, $3 client, $4 context, $5 notional, $6 reward, $7 at, $8 transaction, $9 and $10 postings, $11 refs, $12 ref, $13 call, $14 audit, $15 request. */
  taking: `WITH s AS (INSERT INTO swaps ${swapColumns}
                      VALUES ($1, $2, $3, 'ACCEPTING', '1', $4, 'USDC-SWAP', 'USDC', $5, $6, 0, 0, 0, 0, $7)),
       t AS (INSERT INTO ledger_transactions ${transactionColumns}
             VALUES ($8, 'swapReserve:' || $1::bigint, 'SWAP_RESERVE', 'partner:bench', $3, $2, $11, $7)),
       p AS (INSERT INTO postings ${postingColumns}
             VALUES ($9, $8, 'client:' || $3::bigint, $3, $2, 'USDC', 'cash', -$5::bigint),
                    ($10, $8, 'client:' || $3::bigint, $3, $2, 'USDC', 'reserved', $5::bigint)),
       b AS (UPDATE balances SET cash = cash - $5::bigint, reserved = reserved + $5::bigint
              WHERE client_id = $3::bigint AND currency = 'USDC'),
       v AS (INSERT INTO venue_calls ${callColumns} VALUES ($12, $2, $3, 'takeOffer', $13, $7))
    INSERT INTO audit ${auditColumns}
    VALUES ($14, $7, 'PARTNER', 'bench', $15, $2, $3, 'swap:' || $1::bigint, 'swap.take', 'ACCEPTING')`,
  /** $1 swap, $2 context, $3 contract, $4 opened, $5 maturity, $6 client, $7 partner, $8 now, $9 notional, $10 transaction, $11 and $12 postings, $13 refs, $14 item, $15 event, $16 and $17 audit, $18 due, $19 ref, $20 key, $21 fingerprint, $22 body. */
  taken: `WITH s AS (UPDATE swaps SET state = 'OPEN', context = $2, contract_id = $3, opened_at = $4, maturity_at = $5 WHERE id = $1::bigint),
       t AS (INSERT INTO ledger_transactions ${transactionColumns}
             VALUES ($10, 'swapPrincipal:' || $1::bigint, 'SWAP_PRINCIPAL', 'system:venue', $6, $7, $13, $8)),
       p AS (INSERT INTO postings ${postingColumns}
             VALUES ($11, $10, 'client:' || $6::bigint, $6, $7, 'USDC', 'reserved', -$9::bigint),
                    ($12, $10, 'venue', NULL, $7, 'USDC', 'cash', $9::bigint)),
       b AS (UPDATE balances SET reserved = reserved - $9::bigint, from_venue = from_venue - $9::bigint
              WHERE client_id = $6::bigint AND currency = 'USDC'),
       i AS (INSERT INTO settlement_items ${itemColumns}
             VALUES ($10, $7, $6, $6::bigint % 1024, 'PENDING', '1', $14, 'SWAP_PRINCIPAL', 'USDC', -$9::bigint, $10, $8)),
       e AS (INSERT INTO events (partner_id, seq, name, client_id, data, ts)
             VALUES ($7, $15, 'settlement.item_created', $6, $14, $8)),
       a AS (INSERT INTO audit ${auditColumns}
             VALUES ($16, $8, 'SYSTEM', 'venue', 'venue', $7, $6, 'settlementItem:' || $10::bigint, 'settlement.item', 'PENDING'),
                    ($17, $8, 'SYSTEM', 'venue', 'venue', $7, $6, 'swap:' || $1::bigint, 'swap.open', 'OPEN')),
       n AS (INSERT INTO account_totals ${totalsColumns} VALUES ($6, $7, 0, 0, 0, 0, 0, 0, 0, 1) ${putTotals}),
       d AS (INSERT INTO timers (subject, name, due_at) VALUES ('client:' || $6::bigint, 'swap.overdue:' || $1::bigint, $18)),
       v AS (DELETE FROM venue_calls WHERE ref = $19)
    INSERT INTO answers (principal, key, fingerprint, status, body, answered_at)
    VALUES ('partner:' || $7::bigint, $20, $21, 200, $22, $8)`
} as const

export type TakeStatement = keyof typeof takeStatements
