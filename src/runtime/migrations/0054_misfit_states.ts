/** A machine moves each misfit. Its state replaces the columns that the service wrote by hand (A2-115). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0054 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE venue_misfits ADD COLUMN state text, ADD COLUMN version text, ADD COLUMN context json`
  yield* sql`UPDATE venue_misfits SET version = '1',
    state = CASE WHEN NOT live THEN 'ENDED' WHEN break_id IS NULL THEN 'READING' ELSE 'STANDING' END,
    context = json_build_object('misfitId', id, 'ref', ref, 'reason', reason, 'at', at, 'reads', reads)`
  yield* sql`DROP INDEX venue_misfits_live`
  yield* sql`ALTER TABLE venue_misfits ALTER COLUMN state SET NOT NULL, ALTER COLUMN version SET NOT NULL,
    ALTER COLUMN context SET NOT NULL, DROP COLUMN live, DROP COLUMN reads, DROP COLUMN reason`
  yield* sql`CREATE INDEX venue_misfits_open ON venue_misfits (client_id) WHERE state IN ('READING', 'STANDING')`
})
