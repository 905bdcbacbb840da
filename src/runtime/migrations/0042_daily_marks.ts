/** The last mark of each market at 00:00 UTC, kept for ever: statements value the past by it (STS-28). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0042 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE daily_marks (
    day bigint NOT NULL,
    symbol text NOT NULL,
    price text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (day, symbol))`
})
