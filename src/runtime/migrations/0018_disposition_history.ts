/**
 * What compliance found out about entries of the watch list becomes a history, with the identity and the likeness each
 * finding was made on (F26, dispositions). Older findings kept neither, so they settle nothing any more.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { insertOnly } from "./0001_engine.ts"

export const m0018 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE dispositions
    ADD COLUMN number bigint NOT NULL DEFAULT 1,
    ADD COLUMN identity_key text,
    ADD COLUMN outcome text,
    ADD COLUMN score bigint,
    DROP CONSTRAINT dispositions_pkey,
    ADD PRIMARY KEY (client_id, entry_id, number)`
  yield* sql`ALTER TABLE dispositions ALTER COLUMN number DROP DEFAULT`
  yield* insertOnly("dispositions")
})
