/** Waits in a crash run, with a limit: a condition that does not hold in time is a defect with a name. */
import { type Duration, Effect } from "effect"

/** Longer than any wait in a healthy system. */
export const patience = "90 seconds"

/** The limit of an audit, which repeats every request that any round has acknowledged. */
export const auditPatience = "10 minutes"

/** Dies when the effect takes too long. */
export const bounded = <A>(
  what: string,
  effect: Effect.Effect<A>,
  duration: Duration.Input = patience
): Effect.Effect<A> =>
  Effect.timeoutOrElse(effect, {
    duration,
    orElse: () => Effect.die(new Error(`waited in vain for ${what}`))
  })

/** Like `until`, for a condition that needs a request. */
export const untilFound = (what: string, holds: Effect.Effect<boolean>): Effect.Effect<void> =>
  bounded(
    what,
    Effect.gen(function* () {
      while (!(yield* holds)) yield* Effect.sleep(20)
    })
  )

/** Waits until a condition holds. */
export const until = (what: string, holds: () => boolean): Effect.Effect<void> =>
  bounded(
    what,
    Effect.gen(function* () {
      while (!holds()) yield* Effect.sleep(5)
    })
  )
