/**
 * Deposit notices of BROKER custody (doc 3, Deposit notice; D9). Currency, amount and time of decision stand beside
 * the machine, because the settlement report sums CONFIRMED notices by when they were decided (A3-41).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"

export const m0014 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(
    `CREATE SEQUENCE IF NOT EXISTS ${idSequenceOf("deposit")} AS bigint INCREMENT BY ${idBlockSize("deposit")} START 1`
  )
  yield* sql`CREATE TABLE deposit_notices (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    shard bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    created_at bigint NOT NULL,
    decided_at bigint)`
  yield* sql`CREATE INDEX deposit_notices_client ON deposit_notices (client_id, id DESC)`
  yield* sql`CREATE INDEX deposit_notices_partner ON deposit_notices (partner_id, id DESC)`
  yield* sql`CREATE INDEX deposit_notices_pending ON deposit_notices (partner_id, client_id) WHERE state = 'PENDING'`
  yield* sql`CREATE INDEX deposit_notices_resident ON deposit_notices (client_id) WHERE state = 'PENDING'`
  yield* sql`CREATE INDEX deposit_notices_decided ON deposit_notices (partner_id, decided_at) WHERE state = 'CONFIRMED'`
})
