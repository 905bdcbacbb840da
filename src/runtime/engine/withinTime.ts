/**
 * A wall-clock bound on waiting for the database. The work runs in a fiber of its own: interrupting a query waits for the
 * server, and a server that hangs would then hold the caller for as long as it likes.
 */
import { type Duration, Effect, Exit, Fiber } from "effect"

/** Far beyond any healthy query, within the patience of callers. */
export const databasePatience: Duration.Input = "8 seconds"

/**
 * The effect's result, or `late` when it does not come in time; the abandoned work ends when its connection does.
 * `meanwhile` runs once the work is on its way.
 */
export const withinTime = <A, E, R, E2>(
  work: Effect.Effect<A, E, R>,
  late: () => E2,
  patience: Duration.Input = databasePatience,
  meanwhile?: () => void
): Effect.Effect<A, E | E2, R> =>
  // What is known already needs neither fiber nor timer.
  Exit.isExit(work) && meanwhile === undefined
    ? work
    : Effect.flatMap(Effect.forkDetach(work, { startImmediately: true }), (running) => {
        meanwhile?.()
        return Effect.timeoutOrElse(Fiber.join(running), { duration: patience, orElse: () => Effect.fail(late()) })
      })
