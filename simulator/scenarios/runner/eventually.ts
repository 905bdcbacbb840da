/** Waiting for a fact: a look is repeated until it finds nothing missing, or the time is over. Wall time. */
import { Effect } from "effect"

/** How long a step waits for a fact unless it says so. */
export const usualLimitMillis = 15_000
const firstPauseMillis = 10
const longestPauseMillis = 250

/** `look` answers what is still missing, or null. What was missing last is the answer. */
export const eventually = <E, R>(
  look: Effect.Effect<string | null, E, R>,
  limitMillis: number
): Effect.Effect<string | null, E, R> =>
  Effect.gen(function* () {
    const end = Date.now() + limitMillis
    for (let pause = firstPauseMillis; ; pause = Math.min(pause * 1.5, longestPauseMillis)) {
      const missing = yield* look
      if (missing === null || Date.now() >= end) return missing
      yield* Effect.sleep(pause)
    }
  })
