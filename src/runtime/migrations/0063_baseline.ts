/**
 * The first migration of a new database: the schema that the migrations up to 63 of earlier versions made. A database at 63
 * has it already; the service refuses an older one (`migrate.ts`).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"

export const m0063 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const schema = readFileSync(new URL("./0063_baseline.sql", import.meta.url), "utf8")
  // A prepared statement accepts one command; EXECUTE accepts several.
  yield* sql.unsafe(`DO $run$ BEGIN EXECUTE $schema$${schema}$schema$; END $run$`)
  yield* sql`INSERT INTO writer (id, epoch, batch, owner) VALUES (1, 0, 0, 'nobody')`
})
