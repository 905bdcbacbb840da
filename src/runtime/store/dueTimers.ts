/** The query for due timers on PostgreSQL. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { JournalUnavailable } from "../engine/journal/Journal.ts"
import { DueTimers } from "../engine/timers/DueTimers.ts"
import type { TimerRow } from "../tables/engine.ts"

/** Timers due at `now` (Unix ms) or before, at most `limit`, by time, subject and name. */
const selectDueTimers = (
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

/** The port `DueTimers` on PostgreSQL, over the connections of the pool. */
export const dueTimersLayer: Layer.Layer<DueTimers, never, PgClient.PgClient> = Layer.effect(
  DueTimers,
  Effect.map(PgClient.PgClient, (sql) =>
    DueTimers.of({
      first: (now, limit) =>
        Effect.mapError(selectDueTimers(sql, now, limit), (error) => new JournalUnavailable({ reason: error.message }))
    })
  )
)
