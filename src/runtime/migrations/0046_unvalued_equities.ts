/**
 * What is kept of a midnight besides an equity (STS-28): how much of it had no mark, and what was held, so that the balances of an
 * earlier moment are the newest of these and the postings since (balances?at=). Null on rows from before: who needs it goes through
 * the account again.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0046 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE daily_equities ADD COLUMN unvalued bigint, ADD COLUMN held json`
})
