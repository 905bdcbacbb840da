/** The venue time up to which an account's events are processed. Present marks judge prices of earlier times (A2-115). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0061 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE venue_accounts ADD COLUMN taken_to bigint NOT NULL DEFAULT 0`
})
