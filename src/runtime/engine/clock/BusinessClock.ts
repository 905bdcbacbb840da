/**
 * Business time: what is stored, compared or due. In the sandbox it runs ahead of the wall clock by an offset that
 * is kept in the database; it never goes back. Timeouts, rate windows and TLS use the wall clock instead.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { clockSlackMillis, driftLimit, type VenueTime } from "../../../machines/venueChecks/timeChecks.ts"

export class BusinessClock extends Context.Service<
  BusinessClock,
  {
    /** Unix ms. Synchronous: every turn reads it. */
    readonly now: () => number
    readonly offset: () => number
    /** The times that messages of the venue can have. A jump may play the venue ahead of this clock (C4). */
    readonly venueTime: () => VenueTime
    /** Measures the venue's clock by the time of a message that has just come, Unix ms. */
    readonly measure: (at: number) => void
    /** The venue is asked to play to here before this clock follows; 0: it is not. */
    readonly expect: (to: number) => void
    /** Records that the venue's clock is, or may have been, behind this one until now: a sandbox's (C4). */
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

/** Samples older than one to two of these spans no longer count, ms. */
const driftSpan = 10_000
/** A lag counts for requests that were sent under it for one to two of these spans, ms. */
const lagSpan = 3_600_000

/**
 * The difference between the venue's clock and this one. A message takes time to come, so the largest sample is the nearest to the
 * truth. A larger difference than the limit is no drift: a clock has jumped, or the venue does not tell the truth.
 */
class Drift {
  private span = { from: -Infinity, ahead: -Infinity }
  private before = -Infinity
  /** The largest lags of this span and of the one before. A start does not know the lag of earlier requests. */
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

  /** Keeps the lag of the span that ends, which is not the lag of one late message. */
  private keepLag(now: number): void {
    const { lags } = this
    if (now >= lags.from + lagSpan) Object.assign(lags, { from: now, span: 0, before: lags.span })
    if (this.span.ahead !== -Infinity) lags.span = Math.max(lags.span, -this.span.ahead)
  }

  get lag(): number {
    return this.ahead === -Infinity ? driftLimit : Math.max(0, -this.ahead)
  }

  /** The largest lag of an hour at least: a corrected clock leaves requests whose times it wrote before. */
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
