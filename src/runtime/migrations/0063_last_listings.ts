/** The last listing of the venue that was believed, for a start at which the venue lists nothing possible (A2-114). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0063 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE last_listings (id bigint PRIMARY KEY, listing json NOT NULL)`
})
