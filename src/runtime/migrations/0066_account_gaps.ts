/**
 * The last event of an account that was applied after a gap. A restart then knows which lost events can still be applied in
 * order (A2-96). Losses of events before the migration stay with staff, as before.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0066 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE venue_accounts ADD COLUMN gap_to bigint DEFAULT 0 NOT NULL`
  yield* sql`UPDATE venue_accounts SET gap_to = sequence`
})
