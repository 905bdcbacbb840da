/**
 * Withdrawal requests of BROKER custody and reconciliation breaks (doc 3, Withdrawal request; D10; A3-11). The
 * destination is sealed; currency, amount and time of payment stand beside the machine, because the settlement report
 * sums PAID requests by when they were paid (A3-41).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"

export const m0015 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const kind of ["withdrawal", "reconBreak"] as const) {
    yield* sql.unsafe(
      `CREATE SEQUENCE IF NOT EXISTS ${idSequenceOf(kind)} AS bigint INCREMENT BY ${idBlockSize(kind)} START 1`
    )
  }
  yield* sql`CREATE TABLE withdrawal_requests (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    shard bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    destination bytea,
    created_at bigint NOT NULL,
    paid_at bigint)`
  yield* sql`CREATE INDEX withdrawal_requests_client ON withdrawal_requests (client_id, id DESC)`
  yield* sql`CREATE INDEX withdrawal_requests_partner ON withdrawal_requests (partner_id, id DESC)`
  yield* sql`CREATE INDEX withdrawal_requests_open ON withdrawal_requests (partner_id) WHERE state IN ('REQUESTED', 'APPROVED')`
  yield* sql`CREATE INDEX withdrawal_requests_resident ON withdrawal_requests (client_id) WHERE state IN ('REQUESTED', 'APPROVED')`
  yield* sql`CREATE INDEX withdrawal_requests_paid ON withdrawal_requests (partner_id, paid_at) WHERE state = 'PAID'`
  yield* sql`CREATE TABLE recon_breaks (
    id bigint PRIMARY KEY,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    scope text NOT NULL CHECK (scope IN ('ALL', 'PARTNER', 'CLIENT')),
    partner_id bigint,
    client_id bigint,
    currency text NOT NULL,
    amount bigint NOT NULL CHECK (amount <> 0),
    opened_at bigint NOT NULL,
    closed_at bigint)`
  yield* sql`CREATE INDEX recon_breaks_open ON recon_breaks (id) WHERE state = 'OPEN'`
})
