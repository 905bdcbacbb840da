/** The key with which every sealed value was found sealed, so that a start with nothing to do reads no table (At rest). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0012 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE service_stamp ADD COLUMN resealed_key smallint`
})
