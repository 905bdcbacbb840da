/** Staking swaps (doc 2, Staking; D8). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"

export const m0039 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(
    `CREATE SEQUENCE IF NOT EXISTS ${idSequenceOf("swap")} AS bigint INCREMENT BY ${idBlockSize("swap")} START 1`
  )
  yield* sql`CREATE TABLE swaps (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    symbol text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL CHECK (amount >= 0),
    reward bigint NOT NULL CHECK (reward >= 0),
    fee bigint NOT NULL CHECK (fee >= 0),
    paid bigint NOT NULL CHECK (paid >= 0),
    written_off bigint NOT NULL CHECK (written_off >= 0),
    commission bigint NOT NULL CHECK (commission >= 0),
    contract_id bigint,
    opened_at bigint,
    maturity_at bigint,
    closed_at bigint,
    created_at bigint NOT NULL)`
  yield* sql`CREATE INDEX swaps_client ON swaps (client_id, id)`
  yield* sql`CREATE INDEX swaps_partner ON swaps (partner_id, id)`
  yield* sql`CREATE INDEX swaps_contract ON swaps (client_id, contract_id)`
  yield* sql`CREATE INDEX swaps_live ON swaps (client_id) WHERE (state IN ('ACCEPTING', 'OPEN', 'DEFAULTED') AND closed_at IS NULL)`
  yield* sql`CREATE INDEX swaps_partner_live ON swaps (partner_id) WHERE state IN ('ACCEPTING', 'OPEN', 'DEFAULTED') AND closed_at IS NULL`
})
