/** The venue's time up to which an account's events are taken. Prices of earlier times are judged by present marks (A2-115). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0061 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE venue_accounts ADD COLUMN taken_to bigint NOT NULL DEFAULT 0`
})
