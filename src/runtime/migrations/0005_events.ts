/** The event log (gap-free per partner), webhook endpoints and deliveries, and the clients' notification feeds. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { insertOnly } from "./0001_engine.ts"

export const m0005 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE events (
    partner_id bigint NOT NULL,
    seq bigint NOT NULL,
    name text NOT NULL,
    client_id bigint,
    data json NOT NULL,
    ts bigint NOT NULL,
    PRIMARY KEY (partner_id, seq))`
  yield* insertOnly("events")
  yield* sql`CREATE TABLE webhook_endpoints (
    partner_id bigint PRIMARY KEY,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    url text NOT NULL,
    secret bytea NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL)`
  yield* sql`CREATE TABLE webhook_deliveries (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint,
    event text NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    body text NOT NULL,
    ts bigint NOT NULL,
    next_at bigint NOT NULL)`
  yield* sql`CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_at) WHERE state IN ('PENDING', 'RETRYING')`
  yield* sql`CREATE INDEX webhook_deliveries_partner ON webhook_deliveries (partner_id, id DESC)`
  yield* sql`CREATE TABLE notifications (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    kind text NOT NULL,
    ref text NOT NULL,
    ts bigint NOT NULL,
    written_at bigint NOT NULL)`
  yield* sql`CREATE INDEX notifications_client ON notifications (client_id, id)`
  yield* sql`CREATE INDEX notifications_partner ON notifications (partner_id, ts)`
})
