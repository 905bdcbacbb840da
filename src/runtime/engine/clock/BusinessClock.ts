/**
 * Business time: the clock of stored times, comparisons and due times. In the sandbox it runs ahead of the wall clock by an
 * offset that is kept in the database; it never goes back. Timeouts, rate windows and TLS use the wall clock instead.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { clockSlackMillis, driftLimit, type VenueTime } from "../../../machines/venue/timeChecks.ts"
import type { AccountFact } from "../../../machines/venue/VenueEvent.ts"

/**
 * Moves this clock to the times of the venue's messages while the clocks of a sandbox move, so that nothing is booked before
 * it happened (C4).
 */
export interface ClockCarrier {
  /** Completes once this clock is at the event's time `at` (Unix ms), or does not follow the venue there. */
  readonly event: (at: number, fact: AccountFact) => Effect.Effect<void>
  /** Moves this clock to the time of an answer, as far as the present step of the jump allows. */
  readonly answer: (at: number) => void
  /** Completes once no step of a jump is under way, or after a timeout. */
  readonly still: Effect.Effect<void>
}

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
    /**
     * The time up to which the venue is requested to advance before this clock follows, Unix ms; 0 ends the request.
     */
    readonly expect: (to: number) => void
    /** Records that the venue's clock is, or may have been, behind this one until now. Only in a sandbox (C4). */
    readonly noteBehind: () => void
    /** Moves the clock forward and calls listeners (timers, sweeps); the caller has stored the new offset. */
    readonly setOffset: (offsetMillis: number) => void
    /** Like `setOffset`, without the listeners: for the moments within a step of a jump. */
    readonly raise: (offsetMillis: number) => void
    /** The carrier of this clock; null: none, as outside a sandbox. */
    readonly carrier: () => ClockCarrier | null
    readonly carriedBy: (carrier: ClockCarrier) => void
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
        let carrier: ClockCarrier | null = null
        const drift = new Drift()
        const now = () => clock.currentTimeMillisUnsafe() + offset
        return BusinessClock.of({
          now,
          offset: () => offset,
          venueTime: () => {
            const { lag, pastLag, lead, pastLead } = drift
            const latest = Math.max(now(), expected) + lead + clockSlackMillis
            return { latest, lag, pastLag, lead, pastLead, behindUntil }
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
          raise: (next) => {
            offset = Math.max(offset, next)
          },
          carrier: () => carrier,
          carriedBy: (by) => {
            carrier = by
          },
          onMove: (listener) => void listeners.push(listener)
        })
      })
    )
}

/** The length of a span of samples, ms. A sample counts until the end of the next span. */
const driftSpan = 10_000
/** The length of a span of past differences, ms. A difference excuses earlier times until the end of the next span. */
const pastSpan = 3_600_000

/**
 * The largest difference between the venue's clock and this one over at least the last hour. A request or an event
 * keeps the time of its clock, even if the clock was corrected since. The difference starts as `driftLimit`, because
 * a start does not know earlier differences.
 */
class PastMost {
  private from = -Infinity
  private span = driftLimit
  private before = driftLimit

  keep(difference: number, now: number): void {
    if (now >= this.from + pastSpan) {
      this.from = now
      this.before = this.span
      this.span = 0
    }
    this.span = Math.max(this.span, difference)
  }

  get value(): number {
    return Math.max(this.span, this.before)
  }
}

/**
 * The difference between the venue's clock and this one. A message takes time to arrive, so the largest sample is the most
 * accurate. A difference beyond `driftLimit` is not drift: a clock has jumped, or the venue reports false times.
 */
class Drift {
  private span = { from: -Infinity, ahead: -Infinity }
  private before = -Infinity
  private readonly lags = new PastMost()
  private readonly leads = new PastMost()

  /** `ahead`: the time of a message minus this clock's time, ms. */
  add(ahead: number, now: number): void {
    if (Math.abs(ahead) > driftLimit) return
    if (now >= this.span.from + driftSpan) {
      this.keepPast(now)
      this.before = this.span.ahead
      this.span = { from: now, ahead }
    } else this.span.ahead = Math.max(this.span.ahead, ahead)
  }

  /**
   * Records the difference of the span that ends. It comes from the span's largest sample, so that one late message does not raise
   * the lag.
   */
  private keepPast(now: number): void {
    const ahead = this.span.ahead === -Infinity ? 0 : this.span.ahead
    this.lags.keep(-ahead, now)
    this.leads.keep(ahead, now)
  }

  get lag(): number {
    return this.ahead === -Infinity ? driftLimit : Math.max(0, -this.ahead)
  }

  get pastLag(): number {
    return Math.max(this.lag, this.lags.value)
  }

  get lead(): number {
    return this.ahead === -Infinity ? driftLimit : Math.max(0, this.ahead)
  }

  get pastLead(): number {
    return Math.max(this.lead, this.leads.value)
  }

  private get ahead(): number {
    return Math.max(this.before, this.span.ahead)
  }
}
