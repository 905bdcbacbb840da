/**
 * A person is known by several keys, and found by any of them (A1-28): clients are keyed anew in the background, those refused for
 * good first. Whom compliance has refused is found without going through all decisions.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0050 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX clients_person`
  // Without a pending list, which every look-up would have to go through.
  yield* sql`CREATE INDEX clients_person ON clients USING gin (string_to_array(person_key, ' ')) WITH (fastupdate = off)`
  yield* sql`CREATE INDEX clients_to_key ON clients (id) WHERE person_key < 'g'`
  yield* sql`CREATE INDEX decisions_refusals ON decisions (client_id) WHERE decision = 'PERSON_REJECTED'`
})
