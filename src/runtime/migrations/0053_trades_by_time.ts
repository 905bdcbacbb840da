/**
 * Indexes the trades of a client by their time at the venue. Funding reads the trades at and after a stamp. The migration also
 * sets each position to the latest time of its trades, because that time fell when an older trade was booked last (F14).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0053 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX fills_client_ts ON fills (client_id, ts)`
  yield* sql`UPDATE positions p SET updated_at = latest.ts
    FROM (SELECT client_id, symbol, max(ts) AS ts FROM fills GROUP BY client_id, symbol) latest
    WHERE latest.client_id = p.client_id AND latest.symbol = p.symbol AND latest.ts > p.updated_at`
})
