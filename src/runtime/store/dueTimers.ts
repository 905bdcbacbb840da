/** Due timers as plain SQL, for the port `DueTimers`. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { TimerRow } from "./tables/engine.ts"

/** Timers due at `now` (Unix ms) or before, at most `limit`, by time, subject and name. */
export const selectDueTimers = (
  sql: PgClient.PgClient,
  now: number,
  limit: number
): Effect.Effect<ReadonlyArray<TimerRow>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly subject: string; readonly name: string; readonly due_at: bigint }>(
      "SELECT subject, name, due_at FROM timers WHERE due_at <= $1 ORDER BY due_at, subject, name LIMIT $2",
      [BigInt(now), BigInt(limit)]
    ),
    (rows) => rows.map(({ subject, name, due_at }) => ({ subject, name, dueAt: Number(due_at) }))
  )
