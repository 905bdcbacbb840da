/** Due timers in the memory store, for deterministic simulation: the guarantees of DueTimers without SQL. */
import { Effect, Layer } from "effect"
import { JournalUnavailable } from "../journal/Journal.ts"
import type { MemoryStore } from "../journal/MemoryStore.ts"
import type { TimerRow } from "../../tables/engine.ts"
import { DueTimers } from "./DueTimers.ts"

export interface DueTimersMemoryOptions {
  readonly store: MemoryStore
  /** True while the store is unreachable; called at each read. */
  readonly away?: () => boolean
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

const byTime = (one: TimerRow, other: TimerRow): number =>
  one.dueAt - other.dueAt || compare(one.subject, other.subject) || compare(one.name, other.name)

export const DueTimersMemory = {
  layer: ({ store, away }: DueTimersMemoryOptions): Layer.Layer<DueTimers> =>
    Layer.succeed(
      DueTimers,
      DueTimers.of({
        first: (now, limit) =>
          Effect.suspend(() =>
            away?.() === true
              ? Effect.fail(new JournalUnavailable({ reason: "the store is away" }))
              : Effect.sync(() =>
                  store
                    .rows("timers")
                    .filter(({ dueAt }) => dueAt <= now)
                    .toSorted(byTime)
                    .slice(0, limit)
                )
          )
      })
    )
}
