/** Waiting for facts in a crash run, never for long: what does not come in time is a defect with a name. */
import { type Duration, Effect } from "effect"

/** Nothing here takes as long in a healthy system. */
export const patience = "90 seconds"

/** Of an audit, which asks for everything again that any round has acknowledged. */
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

/** As `until`, for a fact that has to be asked for. */
export const untilFound = (what: string, holds: Effect.Effect<boolean>): Effect.Effect<void> =>
  bounded(
    what,
    Effect.gen(function* () {
      while (!(yield* holds)) yield* Effect.sleep(20)
    })
  )

/** Waits until a fact holds. */
export const until = (what: string, holds: () => boolean): Effect.Effect<void> =>
  bounded(
    what,
    Effect.gen(function* () {
      while (!holds()) yield* Effect.sleep(5)
    })
  )
