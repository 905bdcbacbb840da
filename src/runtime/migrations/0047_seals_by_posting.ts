/**
 * The seal of a posting (STS-20) is the first one that reaches it, and commits without a posting seal as far as the one before: very
 * many seals may stand at one posting. In the order of both the first one is found without going through them. The searches of 0043
 * near a bound are joins of their caller by now.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0047 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX seals_posting_number ON seals (posting_to, number)`
  yield* sql`DROP INDEX seals_posting`
  yield* sql`DROP FUNCTION last_posting_near`
  yield* sql`DROP FUNCTION last_fill_near`
})
