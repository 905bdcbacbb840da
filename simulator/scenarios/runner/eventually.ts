/** Polls until a condition holds or its time is over (wall time). */
import { Effect } from "effect"

/** How long a step polls when it names no limit, wall ms. */
export const usualLimitMillis = 15_000
const firstPauseMillis = 10
const longestPauseMillis = 250

/**
 * Polls `check`, which returns the fact that is still missing, or null when the condition holds. Returns null on success,
 * and after `limitMillis` the fact that is missing then.
 */
export const eventually = <E, R>(
  check: Effect.Effect<string | null, E, R>,
  limitMillis: number
): Effect.Effect<string | null, E, R> =>
  Effect.gen(function* () {
    const end = Date.now() + limitMillis
    for (let pause = firstPauseMillis; ; pause = Math.min(pause * 1.5, longestPauseMillis)) {
      const missing = yield* check
      if (missing === null || Date.now() >= end) return missing
      yield* Effect.sleep(pause)
    }
  })
