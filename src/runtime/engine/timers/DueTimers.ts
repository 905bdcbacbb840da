/**
 * The query for due timers. The service runs it on PostgreSQL (store/dueTimers.ts); the deterministic simulation runs it on the
 * store of JournalMemory (architecture, Proof).
 */
import { Context, type Effect } from "effect"
import type { JournalUnavailable } from "../journal/Journal.ts"
import type { TimerRow } from "../../tables/engine.ts"

export class DueTimers extends Context.Service<
  DueTimers,
  {
    /** Timers due at `now` (Unix ms) or before, by time, subject and name; at most `limit` of them. */
    first(now: number, limit: number): Effect.Effect<ReadonlyArray<TimerRow>, JournalUnavailable>
  }
>()("brokerage/runtime/engine/timers/DueTimers") {}
