/**
 * Each close-out gets a column with the unrepaid part of its write-off. A client's close-outs stay in memory until that part is
 * zero. Older episodes stay as they ended and receive no repayment, because money that stood behind them may already have come
 * back (F10).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0051 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE close_outs ADD COLUMN unrepaid bigint NOT NULL DEFAULT 0 CHECK (unrepaid >= 0)`
  yield* sql`DROP INDEX close_outs_live`
  yield* sql`CREATE INDEX close_outs_live ON close_outs (client_id) WHERE state <> 'DONE' OR unrepaid > 0`
})
