/** Objects that the venue reports in a way that does not fit the service's requests (A2-115). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"

export const m0052 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const kind = "venueMisfit"
  yield* sql.unsafe(
    `CREATE SEQUENCE IF NOT EXISTS ${idSequenceOf(kind)} AS bigint INCREMENT BY ${idBlockSize(kind)} START 1`
  )
  yield* sql`CREATE TABLE venue_misfits (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    ref text NOT NULL,
    reason text NOT NULL,
    worth bigint NOT NULL CHECK (worth <> 0),
    reads bigint NOT NULL,
    at bigint NOT NULL,
    break_id bigint,
    live boolean NOT NULL)`
  yield* sql`CREATE INDEX venue_misfits_live ON venue_misfits (client_id) WHERE live`
})
