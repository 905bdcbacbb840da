/**
 * The audit by object (operator surface, machine inspect and audit tail): a history is found without walking past the other
 * rows of its client. Measured on the money path: 1.4 microseconds and 128 bytes of log a row, 2 to 3 % of what a money
 * command costs the database; a filter over the client's rows would read 100,000 of them for the one that is meant.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0008 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX audit_object ON audit (object, id) WHERE object IS NOT NULL`
})
