/** Writes the last state of the market at intervals, for the next process. */
import { Effect, Schedule, type Duration, type Scope } from "effect"

/** How long the last write may take when the scope closes. */
const endWithin = "1 second"

/**
 * Runs `write` at intervals, and once more when the scope closes (`isEnd`). A failed write is logged, and repeated
 * after the next interval. `called`: the name of the stored state in the log.
 */
export const keepStored = <E>(
  called: string,
  every: Duration.Input,
  write: (isEnd: boolean) => Effect.Effect<void, E>
): Effect.Effect<void, never, Scope.Scope> => {
  const failed = `${called} could not be stored: the service tries again`
  const guarded = (isEnd: boolean): Effect.Effect<void> =>
    Effect.suspend(() => write(isEnd)).pipe(
      Effect.catch((error) => Effect.logDebug(failed, error)),
      // A defect is logged like a failure, so that it does not end the loop of writes.
      Effect.catchDefect((defect) => Effect.logError(failed, defect))
    )
  return Effect.gen(function* () {
    yield* Effect.forkScoped(Effect.schedule(guarded(false), Schedule.spaced(every)))
    yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(guarded(true), endWithin)))
  })
}
