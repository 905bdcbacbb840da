/**
 * Settlement items (F28), one per economic posting of a PARTNER-custody client. Manual corrections booked before this
 * migration get theirs here, without an event: the partner finds them by polling.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"

export const m0006 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(
    `CREATE SEQUENCE IF NOT EXISTS ${idSequenceOf("settlementItem")} AS bigint INCREMENT BY ${idBlockSize("settlementItem")} START 1`
  )
  yield* sql`CREATE TABLE settlement_items (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    shard bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    type text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL CHECK (amount <> 0),
    tx_id bigint NOT NULL,
    occurred_at bigint NOT NULL,
    UNIQUE (tx_id, type))`
  yield* sql`CREATE INDEX settlement_items_partner ON settlement_items (partner_id, id DESC)`
  yield* sql`CREATE INDEX settlement_items_client ON settlement_items (client_id, id DESC)`
  yield* sql`CREATE INDEX settlement_items_open ON settlement_items (partner_id, state, id DESC) WHERE state <> 'SETTLED'`
  yield* sql`CREATE INDEX settlement_items_time ON settlement_items (partner_id, occurred_at)`
  yield* sql.unsafe(`INSERT INTO settlement_items
    SELECT m.id, m.partner_id, m.client_id, m.client_id % 1024, 'PENDING', '1',
           json_build_object('itemId', m.id, 'clientId', m.client_id, 'clientUid', c.uid,
             'partnerClientRef', c.partner_client_ref, 'type', 'MANUAL', 'currency', 'USDC',
             'amount', (CASE WHEN m.amount < 0 THEN '-' ELSE '' END) || (abs(m.amount) / 1000000) || '.'
                       || lpad((abs(m.amount) % 1000000)::text, 6, '0'),
             'refs', m.refs, 'occurredAt', m.ts, 'ledgerTxId', m.tx_id, 'createdAt', m.ts, 'partnerTxRef', NULL,
             'settledAt', NULL, 'reportedAt', NULL, 'note', NULL, 'reports', 0),
           'MANUAL', 'USDC', m.amount, m.tx_id, m.ts
      FROM (SELECT nextval('${idSequenceOf("settlementItem")}') AS id, t.*
              FROM (SELECT t.tx_id, t.ts, (array_agg(t.refs))[1] AS refs, p.partner_id, p.client_id, sum(p.amount)::bigint AS amount
                      FROM ledger_transactions t JOIN postings p USING (tx_id) JOIN partners f ON f.id = p.partner_id
                     WHERE t.type = 'MANUAL' AND p.client_id IS NOT NULL AND p.currency = 'USDC'
                       AND f.custody_model = 'PARTNER'
                     GROUP BY t.tx_id, p.partner_id, p.client_id
                    HAVING sum(p.amount) <> 0
                     ORDER BY t.tx_id) t) m
      JOIN clients c ON c.id = m.client_id`)
})
