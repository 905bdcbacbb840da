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
    /** The latest moment that the venue may be at: now, or where it was asked to play ahead to (C4). Unix ms. */
    readonly horizon: () => number
    /** The venue is asked to play to here before this clock follows; 0: it is not. */
    readonly expect: (to: number) => void
    /** The last time at which the venue's clock was seen behind this one, Unix ms; -Infinity: never. */
    readonly behindUntil: () => number
    /** Records that the venue's clock is behind this one now. */
    readonly noteBehind: () => void
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
        let expected = 0
        let behindUntil = -Infinity
        const now = () => clock.currentTimeMillisUnsafe() + offset
        return BusinessClock.of({
          now,
          offset: () => offset,
          horizon: () => Math.max(now(), expected),
          expect: (to) => {
            expected = to
          },
          behindUntil: () => behindUntil,
          noteBehind: () => {
            behindUntil = now()
          },
          setOffset: (next) => {
            offset = next
            for (const listener of listeners) listener()
          },
          onMove: (listener) => void listeners.push(listener)
        })
      })
    )
}
