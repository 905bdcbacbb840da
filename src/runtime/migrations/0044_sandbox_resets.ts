/** What a sandbox remembers of its resets: how many there were, one that is asked for, and what the last one ended (C4). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0044 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE service_stamp ADD COLUMN resets bigint NOT NULL DEFAULT 0`
  yield* sql`ALTER TABLE service_stamp ADD COLUMN reset_asked text`
  yield* sql`ALTER TABLE service_stamp ADD COLUMN reset_made text`
  yield* sql`ALTER TABLE service_stamp ADD CONSTRAINT service_stamp_reset_check CHECK (sandbox OR (resets = 0 AND reset_asked IS NULL))`
})
