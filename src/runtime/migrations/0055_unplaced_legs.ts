/** Marks the protections with a leg that the venue refused, so that the queue finds them (D7). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0055 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE attachments ADD COLUMN unplaced_since bigint`
  yield* sql`CREATE INDEX attachments_unplaced ON attachments (id) WHERE unplaced_since IS NOT NULL`
})
