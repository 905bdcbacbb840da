/**
 * A wall-clock bound on waiting for the database. The work runs in a fiber of its own: interrupting a query waits for the
 * server, and a server that hangs would then hold the caller for as long as it likes.
 */
import { type Duration, Effect, Exit, Fiber } from "effect"

/** Far beyond any healthy query, within the patience of callers. */
export const databasePatience: Duration.Input = "8 seconds"

/**
 * The effect's result, or `late` after a timeout. Late work, and work whose caller is interrupted, is interrupted in the
 * background: its statement is cancelled, or its connection is destroyed.
 */
export const withinTime = <A, E, R, E2>(
  work: Effect.Effect<A, E, R>,
  late: () => E2,
  patience: Duration.Input = databasePatience
): Effect.Effect<A, E | E2, R> =>
  // What is known already needs neither fiber nor timer.
  Exit.isExit(work)
    ? work
    : Effect.flatMap(start(work), (running) =>
        Effect.ensuring(
          joined(running, late, patience),
          Effect.sync(() => running.interruptUnsafe())
        )
      )

/** As `withinTime`, but the work continues without its caller. */
export const waitAtMost = <A, E, R, E2>(
  work: Effect.Effect<A, E, R>,
  late: () => E2,
  patience: Duration.Input
): Effect.Effect<A, E | E2, R> => Effect.flatMap(start(work), (running) => joined(running, late, patience))

const start = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<Fiber.Fiber<A, E>, never, R> =>
  Effect.forkDetach(work, { startImmediately: true })

const joined = <A, E, E2>(
  running: Fiber.Fiber<A, E>,
  late: () => E2,
  duration: Duration.Input
): Effect.Effect<A, E | E2> =>
  Effect.timeoutOrElse(Fiber.join(running), { duration, orElse: () => Effect.fail(late()) })
