/** Trading halts of ours (A2-11). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"

export const m0025 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(
    `CREATE SEQUENCE IF NOT EXISTS ${idSequenceOf("tradingHalt")} AS bigint INCREMENT BY ${idBlockSize("tradingHalt")} START 1`
  )
  yield* sql`CREATE TABLE trading_halts (
    id bigint PRIMARY KEY,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    scope text NOT NULL,
    started_at bigint NOT NULL)`

  yield* sql`CREATE INDEX trading_halts_active ON trading_halts (id) WHERE state = 'ACTIVE'`
})
