/** Recorded risk states and close-out episodes (D23). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"

export const m0030 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(
    `CREATE SEQUENCE IF NOT EXISTS ${idSequenceOf("closeOut")} AS bigint INCREMENT BY ${idBlockSize("closeOut")} START 1`
  )
  yield* sql`CREATE TABLE risk_monitors (
    client_id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL)`
  yield* sql`CREATE INDEX risk_monitors_watched ON risk_monitors (client_id) WHERE state <> 'NORMAL'`
  yield* sql`CREATE TABLE close_outs (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    started_at bigint NOT NULL,
    ended_at bigint)`
  yield* sql`CREATE INDEX close_outs_client ON close_outs (client_id, id)`
  yield* sql`CREATE INDEX close_outs_live ON close_outs (client_id) WHERE state <> 'DONE'`
})
