/** What protects orders: their take profits and stop losses (D7). An attachment has the id of its order. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0033 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE attachments (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    symbol text NOT NULL,
    live boolean NOT NULL,
    created_at bigint NOT NULL)`
  yield* sql`CREATE INDEX attachments_client ON attachments (client_id, id)`
  yield* sql`CREATE INDEX attachments_live ON attachments (client_id) WHERE live`
})
