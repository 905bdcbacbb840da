/**
 * What is written off and not repaid stands beside each close-out (F10): those of a client are held in memory until it is nothing.
 * Episodes from before stay as they ended: they are repaid by nothing, because money that had stood behind them may have come back.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0051 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE close_outs ADD COLUMN unrepaid bigint NOT NULL DEFAULT 0 CHECK (unrepaid >= 0)`
  yield* sql`DROP INDEX close_outs_live`
  yield* sql`CREATE INDEX close_outs_live ON close_outs (client_id) WHERE state <> 'DONE' OR unrepaid > 0`
})
