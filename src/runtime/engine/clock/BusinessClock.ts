/**
 * Business time: the clock of stored times, comparisons and due times. In the sandbox it runs ahead of the wall clock by an
 * offset that is kept in the database; it never goes back. Timeouts, rate windows and TLS use the wall clock instead.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { clockSlackMillis, driftLimit, type VenueTime } from "../../../machines/venue/timeChecks.ts"

export class BusinessClock extends Context.Service<
  BusinessClock,
  {
    /** Unix ms. Synchronous: every turn reads it. */
    readonly now: () => number
    readonly offset: () => number
    /**
     * The range of times that a message of the venue may have. An advance of the clock moves the venue first, so its messages
     * may be ahead of this clock (C4).
     */
    readonly venueTime: () => VenueTime
    /** Records a sample of the venue's clock: the time of a message that has just arrived, Unix ms. */
    readonly measure: (at: number) => void
    /** The time up to which the venue is requested to play before this clock follows, Unix ms; 0 ends the request. */
    readonly expect: (to: number) => void
    /** Records that the venue's clock is, or may have been, behind this one until now. Only in a sandbox (C4). */
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
        const drift = new Drift()
        const now = () => clock.currentTimeMillisUnsafe() + offset
        return BusinessClock.of({
          now,
          offset: () => offset,
          venueTime: () => {
            const { lag, pastLag, lead } = drift
            return { latest: Math.max(now(), expected) + lead + clockSlackMillis, lag, pastLag, lead, behindUntil }
          },
          measure: (at) => drift.add(at - now(), now()),
          expect: (to) => {
            expected = to
          },
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

/** The length of a span of samples, ms. A sample counts until the end of the next span. */
const driftSpan = 10_000
/** The length of a span of lags, ms. A lag counts until the end of the next span. */
const lagSpan = 3_600_000

/**
 * The difference between the venue's clock and this one. A message takes time to arrive, so the largest sample is the most
 * accurate. A difference beyond `driftLimit` is not drift: a clock has jumped, or the venue reports false times.
 */
class Drift {
  private span = { from: -Infinity, ahead: -Infinity }
  private before = -Infinity
  /** The largest lags of this span and of the one before: `driftLimit` at first, because a start does not know earlier lags. */
  private readonly lags = { from: -Infinity, span: driftLimit, before: driftLimit }

  /** `ahead`: the time of a message minus this clock's time, ms. */
  add(ahead: number, now: number): void {
    if (Math.abs(ahead) > driftLimit) return
    if (now >= this.span.from + driftSpan) {
      this.keepLag(now)
      this.before = this.span.ahead
      this.span = { from: now, ahead }
    } else this.span.ahead = Math.max(this.span.ahead, ahead)
  }

  /**
   * Records the lag of the span that ends. It comes from the span's largest sample, so that one late message does not raise it.
   */
  private keepLag(now: number): void {
    const { lags } = this
    if (now >= lags.from + lagSpan) Object.assign(lags, { from: now, span: 0, before: lags.span })
    if (this.span.ahead !== -Infinity) lags.span = Math.max(lags.span, -this.span.ahead)
  }

  get lag(): number {
    return this.ahead === -Infinity ? driftLimit : Math.max(0, -this.ahead)
  }

  /** The largest lag of at least an hour. Requests from before a correction of the clock carry the times of that clock. */
  get pastLag(): number {
    return Math.max(this.lag, this.lags.span, this.lags.before)
  }

  get lead(): number {
    return this.ahead === -Infinity ? driftLimit : Math.max(0, this.ahead)
  }

  private get ahead(): number {
    return Math.max(this.before, this.span.ahead)
  }
}
