/** The end of a jump of the sandbox's clock that is under way, so that a restart completes the jump (C4). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0065 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE service_stamp ADD COLUMN clock_target bigint`
})
