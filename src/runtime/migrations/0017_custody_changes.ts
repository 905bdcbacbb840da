/**
 * Changes of partners' custody models, so that the books can be judged by the model each posting was made under
 * (doc 3, Changing the custody model). And the unique facts that approvals have been used, which version 1 of this
 * service did not keep: whatever was granted before counts as used (operator surface, Four eyes).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { insertOnly } from "./0001_engine.ts"

export const m0017 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE custody_changes (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    before text NOT NULL CHECK (before IN ('BROKER', 'PARTNER')),
    after text NOT NULL CHECK (after IN ('BROKER', 'PARTNER')),
    collateral_asset text NOT NULL,
    reason text NOT NULL,
    changed_by text NOT NULL,
    changed_at bigint NOT NULL,
    CHECK (before <> after))`
  yield* sql`CREATE INDEX custody_changes_partner ON custody_changes (partner_id, id)`
  yield* insertOnly("custody_changes")
  yield* sql`INSERT INTO claims (name, owner)
    SELECT 'approval:' || id, id FROM approvals WHERE state = 'GRANTED' ON CONFLICT DO NOTHING`
})
