/**
 * A person has several keys, and a search matches any of them. A background job writes the keys of stored clients, persons
 * refused for good first. An index finds refused persons without a scan of all decisions (A1-28).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0050 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX clients_person`
  // The index has no pending list, because every search would have to scan it.
  yield* sql`CREATE INDEX clients_person ON clients USING gin (string_to_array(person_key, ' ')) WITH (fastupdate = off)`
  yield* sql`CREATE INDEX clients_to_key ON clients (id) WHERE person_key < 'g'`
  yield* sql`CREATE INDEX decisions_refusals ON decisions (client_id) WHERE decision = 'PERSON_REJECTED'`
})
