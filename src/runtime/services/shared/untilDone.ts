/** Background work that is retried until it succeeds. */
import { Cause, Effect } from "effect"
import { describeFailure } from "../../engine/journal/sqlFailure.ts"

/** Pause between two attempts while the database is away. */
const tryAgain = "5 seconds"

/**
 * Runs background work until it succeeds, with a pause after each failure. Logs the first failure as a warning and
 * further ones at debug level until a success, so that an unavailable database does not flood the log. `what`: name of
 * the work in the log.
 */
export const makeUntilDone = (what: string): (<E>(work: Effect.Effect<void, E>) => Effect.Effect<void>) => {
  let failing = false
  const untilDone = <E>(work: Effect.Effect<void, E>): Effect.Effect<void> =>
    work.pipe(
      Effect.andThen(Effect.sync(() => void (failing = false))),
      Effect.catchCause((cause) => {
        const line = `${what}, the service tries again: ${describeFailure(Cause.squash(cause))}`
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
