/**
 * The chain of seals over audit, decisions and ledger (engine/seal). The audit's own hashes give way to it: what was
 * written before stays, and the first seal says where the chain begins.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { insertOnly } from "./0001_engine.ts"

export const m0013 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE seals (
    number bigint PRIMARY KEY,
    hash text NOT NULL,
    audit_to bigint NOT NULL,
    decision_to bigint NOT NULL,
    transaction_to bigint NOT NULL,
    posting_to bigint NOT NULL)`
  yield* insertOnly("seals")
  yield* sql`INSERT INTO seals (number, hash, audit_to, decision_to, transaction_to, posting_to)
    SELECT 0, repeat('0', 64), a.top, d.top, t.top, p.top
      FROM (SELECT coalesce(max(id), 0) AS top FROM audit) a, (SELECT coalesce(max(id), 0) AS top FROM decisions) d,
           (SELECT coalesce(max(tx_id), 0) AS top FROM ledger_transactions) t,
           (SELECT coalesce(max(posting_id), 0) AS top FROM postings) p
     WHERE a.top + d.top + t.top + p.top > 0`
  yield* sql`ALTER TABLE audit DROP COLUMN hash`
})
