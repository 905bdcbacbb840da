/** The index that a client's notification feed is read by: in order of time, then of id (EVT-10). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0028 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX notifications_feed ON notifications (client_id, ts, id)`
  // Read by nobody: what it found, the new one finds too.
  yield* sql`DROP INDEX notifications_client`
})
