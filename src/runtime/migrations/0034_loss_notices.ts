/** What clients were told last of their positions' losses (A2-89). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0034 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE loss_notices (
    client_id bigint NOT NULL,
    symbol text NOT NULL,
    partner_id bigint NOT NULL,
    day bigint NOT NULL,
    opened_at bigint NOT NULL,
    step bigint NOT NULL CHECK (step > 0),
    PRIMARY KEY (client_id, symbol))`
})
