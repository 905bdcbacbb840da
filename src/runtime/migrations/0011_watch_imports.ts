/**
 * Imports of published watch lists, and which import last named an entry (F26). Entries are looked up by source and name
 * while an import runs, and by source and import when it takes off what it did not name; both only among live ones.
 * Runs keep the version of every list. Ids of entries come in large blocks now: an import takes a thousand at once.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"

export const m0011 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(
    `CREATE SEQUENCE IF NOT EXISTS ${idSequenceOf("watchImport")} AS bigint INCREMENT BY ${idBlockSize("watchImport")} START 1`
  )
  yield* sql.unsafe(`ALTER SEQUENCE ${idSequenceOf("watchEntry")} INCREMENT BY ${idBlockSize("watchEntry")}`)
  yield* sql`CREATE TABLE watch_imports (
    id bigint PRIMARY KEY,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    source text NOT NULL,
    source_version text NOT NULL,
    started_at bigint NOT NULL)`
  yield* sql`ALTER TABLE watch_entries ADD COLUMN import_id bigint`
  yield* sql`CREATE INDEX watch_entries_name ON watch_entries (source, name) WHERE removed_at IS NULL`
  yield* sql`CREATE INDEX watch_entries_import ON watch_entries (source, import_id) WHERE removed_at IS NULL`
  yield* sql`ALTER TABLE screening_runs ADD COLUMN list_versions json NOT NULL DEFAULT '{}'`
})
