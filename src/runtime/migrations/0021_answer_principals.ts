/**
 * Stored answers belong to a principal, whatever its kind (doc 1, Idempotency; A1-51): what a partner was answered stays
 * its own under the name it has as one. The table holds a day of answers and is written anew once.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0021 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE answers ALTER COLUMN partner_id TYPE text USING 'partner:' || partner_id`
  yield* sql`ALTER TABLE answers RENAME COLUMN partner_id TO principal`
})
