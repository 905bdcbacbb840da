/** Requests for quotes and knock-out contracts (doc 2; D4, D5). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"

export const m0029 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const kind of ["rfq", "barrierContract"] as const)
    yield* sql.unsafe(
      `CREATE SEQUENCE IF NOT EXISTS ${idSequenceOf(kind)} AS bigint INCREMENT BY ${idBlockSize(kind)} START 1`
    )
  yield* sql`CREATE TABLE rfqs (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    symbol text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL CHECK (amount >= 0),
    created_at bigint NOT NULL,
    close_contract_id bigint,
    venue_open boolean NOT NULL)`
  yield* sql`CREATE INDEX rfqs_client ON rfqs (client_id, id)`
  yield* sql`CREATE INDEX rfqs_partner ON rfqs (partner_id, id)`
  yield* sql`CREATE INDEX rfqs_resident ON rfqs (client_id) WHERE (state IN ('CREATING', 'OPEN') OR venue_open)`
  yield* sql`CREATE INDEX rfqs_partner_open ON rfqs (partner_id) WHERE state IN ('CREATING', 'OPEN')`

  yield* sql`CREATE TABLE barrier_contracts (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    rfq_id bigint NOT NULL,
    symbol text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL CHECK (amount >= 0),
    commission bigint NOT NULL CHECK (commission >= 0),
    opened_at bigint NOT NULL,
    closed_at bigint,
    pnl bigint)`
  yield* sql`CREATE INDEX barrier_contracts_client ON barrier_contracts (client_id, id)`
  yield* sql`CREATE INDEX barrier_contracts_partner ON barrier_contracts (partner_id, id)`
  yield* sql`CREATE INDEX barrier_contracts_rfq ON barrier_contracts (rfq_id)`
  yield* sql`CREATE INDEX barrier_contracts_open ON barrier_contracts (client_id) WHERE state IN ('OPEN')`
  yield* sql`CREATE INDEX barrier_contracts_partner_open ON barrier_contracts (partner_id) WHERE state = 'OPEN'`
})
