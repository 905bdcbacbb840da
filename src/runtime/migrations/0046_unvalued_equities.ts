/** How much of an equity of a midnight had no mark (STS-28). Null on rows from before: who needs it goes through the account again. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0046 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE daily_equities ADD COLUMN unvalued bigint`
})
