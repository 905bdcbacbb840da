/** The last marks that holdings and deposits are valued by, for a start while the venue is away (F23, F25). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0026 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE last_marks (symbol text PRIMARY KEY, price text NOT NULL, at bigint NOT NULL)`
})
