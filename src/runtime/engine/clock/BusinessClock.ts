/**
 * Business time: what is stored, compared or due. In the sandbox it runs ahead of the wall clock by an offset that
 * is kept in the database; it never goes back. Timeouts, rate windows and TLS use the wall clock instead.
 */
import { Clock, Context, Effect, Layer } from "effect"

export class BusinessClock extends Context.Service<
  BusinessClock,
  {
    /** Unix ms. Synchronous: every turn reads it. */
    readonly now: () => number
    readonly offset: () => number
    /** Moves the clock forward and calls listeners (timers, sweeps); the caller has stored the new offset. */
    readonly setOffset: (offsetMillis: number) => void
    readonly onMove: (listener: () => void) => void
  }
>()("brokerage/runtime/engine/clock/BusinessClock") {
  static readonly layer = (initialOffset: number): Layer.Layer<BusinessClock> =>
    Layer.effect(
      BusinessClock,
      Effect.gen(function* () {
        const clock = yield* Clock.Clock
        const listeners: Array<() => void> = []
        let offset = initialOffset
        return BusinessClock.of({
          now: () => clock.currentTimeMillisUnsafe() + offset,
          offset: () => offset,
          setOffset: (next) => {
            offset = next
            for (const listener of listeners) listener()
          },
          onMove: (listener) => void listeners.push(listener)
        })
      })
    )
}
