/** Funding (F14): what of a client's balance it is, and its stamps that are open. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"

export const m0038 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE balances ADD COLUMN funding bigint NOT NULL DEFAULT 0`
  const kind = "openFunding"
  yield* sql.unsafe(
    `CREATE SEQUENCE IF NOT EXISTS ${idSequenceOf(kind)} AS bigint INCREMENT BY ${idBlockSize(kind)} START 1`
  )
  yield* sql`CREATE TABLE open_fundings (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    symbol text NOT NULL,
    settled_at bigint NOT NULL,
    mark text,
    rate text,
    qty text NOT NULL,
    venue_qty text NOT NULL,
    posted boolean NOT NULL,
    live boolean NOT NULL,
    created_at bigint NOT NULL,
    UNIQUE (client_id, symbol, settled_at))`
  yield* sql`CREATE INDEX open_fundings_live ON open_fundings (client_id) WHERE live`
})
