/** A misfit keeps the market data by which its reports were judged, because a restart loses the marks (A2-115). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0057 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE venue_misfits ADD COLUMN market json NOT NULL DEFAULT '{"bands":[],"isListed":null}'`
  yield* sql`ALTER TABLE venue_misfits ALTER COLUMN market DROP DEFAULT`
})
