/**
 * Which durable timers are due, as a port: the service reads Postgres; the deterministic simulation reads the store of
 * JournalMemory instead (architecture, Proof).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { JournalUnavailable } from "../engine/journal/Journal.ts"
import { selectDueTimers } from "../store/dueTimers.ts"
import type { TimerRow } from "../store/tables/engine.ts"

export class DueTimers extends Context.Service<
  DueTimers,
  {
    /** Timers due at `now` (Unix ms) or before, by time, subject and name; at most `limit` of them. */
    first(now: number, limit: number): Effect.Effect<ReadonlyArray<TimerRow>, JournalUnavailable>
  }
>()("brokerage/runtime/ports/DueTimers") {
  static readonly layer: Layer.Layer<DueTimers, never, PgClient.PgClient> = Layer.effect(
    DueTimers,
    Effect.map(PgClient.PgClient, (sql) =>
      DueTimers.of({
        first: (now, limit) =>
          Effect.mapError(
            selectDueTimers(sql, now, limit),
            (error) => new JournalUnavailable({ reason: error.message })
          )
      })
    )
  )
}
