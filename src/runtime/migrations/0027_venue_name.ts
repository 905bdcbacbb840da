/** The name of a database at its venue: several may be at one. What was at a venue before goes on there without a name. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0027 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE service_stamp ADD COLUMN venue_name text
    CONSTRAINT service_stamp_venue_name_check CHECK (venue_name ~ '^([A-Z2-9]{6})?$')`
  yield* sql`UPDATE service_stamp SET venue_name = ''
    WHERE EXISTS (SELECT FROM venue_calls) OR EXISTS (SELECT FROM venue_accounts) OR EXISTS (SELECT FROM venue_probes)`
})
