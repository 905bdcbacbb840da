/**
 * Timeouts of waits for the database, and for a turn, in wall time. The work runs in its own fiber: the interrupt of a query
 * waits for the server, so a server that hangs would hold the caller.
 */
import { Duration, Effect, Exit, Fiber, type Semaphore } from "effect"
import { deadline } from "./deadline.ts"
import { Unavailable } from "./mailbox/DispatchError.ts"

/** Far longer than any healthy query, and shorter than the timeouts of callers. */
export const databasePatience = Duration.seconds(8)

/**
 * The effect's result, or `late` after a timeout. Late work, and work whose caller is interrupted, is interrupted in the
 * background: its statement is cancelled, or its connection is destroyed.
 */
export const withinTime = <A, E, R, E2>(
  work: Effect.Effect<A, E, R>,
  late: () => E2,
  patience: Duration.Input = databasePatience
): Effect.Effect<A, E | E2, R> =>
  // A result that is already available needs neither a fiber nor a timer.
  Exit.isExit(work)
    ? work
    : Effect.flatMap(start(work), (running) =>
        Effect.ensuring(
          joined(running, late, patience),
          Effect.sync(() => running.interruptUnsafe())
        )
      )

const start = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<Fiber.Fiber<A, E>, never, R> =>
  Effect.forkDetach(work, { startImmediately: true })

/** Waits with one timer and no further fiber, because every read waits here. */
const joined = <A, E, E2>(
  running: Fiber.Fiber<A, E>,
  late: () => E2,
  duration: Duration.Input
): Effect.Effect<A, E | E2> =>
  Effect.callback<A, E | E2>((resume) => {
    const cancel = deadline(Duration.toMillis(duration), () => resume(Effect.fail(late())))
    const forget = running.addObserver((exit) => {
      cancel()
      resume(exit)
    })
    return Effect.sync(() => {
      cancel()
      forget()
    })
  })

/**
 * Runs work once the caller has its turn, and waits for the turn at most `patience`. Work that has begun has no limit here. An
 * interrupted caller gives up its turn.
 */
export const inTurn = <A, E, R>(
  turn: Semaphore.Semaphore,
  work: Effect.Effect<A, E, R>,
  patience: Duration.Input = databasePatience
): Effect.Effect<A, E | Unavailable, R> =>
  Effect.suspend(() => {
    let hasBegun = false
    const begun = Effect.suspend(() => {
      hasBegun = true
      return work
    })
    const tooLate = Effect.suspend(() => (hasBegun ? Effect.never : Effect.fail(new Unavailable({ unknown: false }))))
    return Effect.raceFirst(turn.withPermits(1)(begun), Effect.delay(tooLate, patience))
  })
