/** The venue's last accepted listing, for a start at which the venue's listing is empty or impossible (A2-114). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0063 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE last_listings (id bigint PRIMARY KEY, listing json NOT NULL)`
})
