/**
 * The venue: calls in flight, how far its events were taken, by account and in all, what was set aside, and probes
 * (architecture, Engine: venue calls; A2-96, A2-115).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"

export const m0024 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const kind of ["venueQuarantine", "venueProbe"] as const)
    yield* sql.unsafe(
      `CREATE SEQUENCE IF NOT EXISTS ${idSequenceOf(kind)} AS bigint INCREMENT BY ${idBlockSize(kind)} START 1`
    )
  yield* sql`CREATE TABLE venue_calls (
    ref text PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    call text NOT NULL,
    request json NOT NULL,
    at bigint NOT NULL)`
  yield* sql`CREATE INDEX venue_calls_client ON venue_calls (client_id)`
  yield* sql`CREATE TABLE venue_accounts (client_id bigint PRIMARY KEY, sequence bigint NOT NULL)`
  yield* sql`CREATE TABLE venue_cursor (id bigint PRIMARY KEY, number bigint NOT NULL)`
  yield* sql`CREATE TABLE venue_quarantine (
    id bigint PRIMARY KEY,
    at bigint NOT NULL,
    number bigint,
    account text,
    reason text NOT NULL,
    bytes text NOT NULL,
    dropped_at bigint)`
  yield* sql`CREATE TABLE venue_probes (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    started_at bigint NOT NULL)`
  yield* sql`CREATE INDEX venue_probes_client ON venue_probes (client_id)`
})
