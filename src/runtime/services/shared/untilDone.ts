/** Work in the background that has to succeed, however often it fails. */
import { Cause, Effect } from "effect"
import { describeFailure } from "../../engine/journal/sqlFailure.ts"

/** Between two tries while the database is away. */
const tryAgain = "5 seconds"

/**
 * Runs work in the background until it succeeds, however it fails, with a pause after each failure. Logged once until it succeeds
 * again: a database that is away is no place for a line every few seconds. `what` failed, as the log says it.
 */
export const makeUntilDone = (what: string): (<E>(work: Effect.Effect<void, E>) => Effect.Effect<void>) => {
  let failing = false
  const untilDone = <E>(work: Effect.Effect<void, E>): Effect.Effect<void> =>
    work.pipe(
      Effect.andThen(Effect.sync(() => void (failing = false))),
      Effect.catchCause((cause) => {
        const line = `${what}, it is tried again: ${describeFailure(Cause.squash(cause))}`
        const logged = failing ? Effect.logDebug(line) : Effect.logWarning(line)
        failing = true
        return Effect.andThen(
          logged,
          Effect.andThen(
            Effect.sleep(tryAgain),
            Effect.suspend(() => untilDone(work))
          )
        )
      })
    )
  return untilDone
}
