/** Passes that screen stored clients again, and which of them a screening run belongs to (F26). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"

export const m0022 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(
    `CREATE SEQUENCE IF NOT EXISTS ${idSequenceOf("screeningPass")} AS bigint INCREMENT BY ${idBlockSize("screeningPass")} START 1`
  )
  yield* sql`CREATE TABLE screening_passes (
    id bigint PRIMARY KEY,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    started_at bigint NOT NULL)`
  yield* sql`ALTER TABLE screening_runs ADD COLUMN pass_id bigint`
  yield* sql`CREATE INDEX screening_runs_pass ON screening_runs (pass_id) WHERE pass_id IS NOT NULL`
})
