/**
 * Keeps the clocks of a sandbox and its venue together, and completes a jump that is under way without a caller. The clocks
 * differ if another service has advanced the venue, or if an advance by this service did not reach the venue. The clock that is
 * behind moves forward to the other, as `sim clock advance` would move it. No clock moves backwards, or during an advance (C4).
 */
import { type Cause, type Clock, Effect, type Semaphore } from "effect"
import type { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import type { VenueControl } from "../../../ports/VenueControl.ts"
import type { VenueShape } from "../../../ports/Venue.ts"
import type { VenueLink } from "../../venue/VenueLink.ts"
import { clockEnd } from "../../shared/clockEnd.ts"
import { type ClockWalk, together } from "./ClockWalk.ts"

/** The interval of comparisons with the last time that the venue reported, wall ms. */
const compareEvery = 500
/** The pauses after attempts, wall ms: at most one attempt a second, and fewer while they have no effect. */
const pauses: ReadonlyArray<number> = [1_000, 2_000, 5_000, 10_000, 30_000]
/** The longest attempt to move the venue to this service's time, wall ms. */
const pullPatience = 10_000

export interface ClockMeetingParts {
  readonly venue: VenueShape
  readonly control: VenueControl["Service"]
  readonly link: VenueLink["Service"]
  readonly clock: BusinessClock["Service"]
  readonly wall: Clock.Clock
  readonly walk: ClockWalk
  /** True if this process still owns the database. Only the owner moves a clock. */
  readonly owns: Effect.Effect<boolean>
  /** The lock that serialises moves of the clocks. */
  readonly one: Semaphore.Semaphore
}

export class ClockMeeting {
  private readonly parts: ClockMeetingParts
  private tries = 0
  private failing = false

  constructor(parts: ClockMeetingParts) {
    this.parts = parts
  }

  /** Compares the clocks until interrupted. */
  readonly run: Effect.Effect<never> = Effect.suspend(() =>
    this.areApart() || this.parts.walk.pending !== null || this.parts.walk.isAwaited ? this.meetOnce : this.rest
  ).pipe(
    Effect.flatMap((pause) => Effect.sleep(pause)),
    Effect.forever({ disableYield: true })
  )

  /**
   * Whether the clocks differ, by the last time that the venue reported. A jump makes that time outdated, so `meetOnce` queries
   * the venue before it moves a clock.
   */
  private areApart(): boolean {
    const { link, clock, wall } = this.parts
    const { connected, time } = link.state()
    if (!connected || time === null) return false
    const there = time.at + wall.currentTimeMillisUnsafe() - time.receivedAt
    const ahead = there - clock.now()
    if (ahead < -together) clock.noteBehind()
    return Math.abs(ahead) > together
  }

  private readonly rest: Effect.Effect<number> = Effect.sync(() => {
    this.tries = 0
    return compareEvery
  })

  /** One attempt; returns the pause after it. */
  private readonly meetOnce: Effect.Effect<number> = Effect.suspend(() => {
    const { one, owns, walk } = this.parts
    const pause = pauses[Math.min(this.tries++, pauses.length - 1)] as number
    const meeting = Effect.flatMap(owns, (is): Effect.Effect<unknown, { readonly message: string }> => {
      if (!is) return Effect.void
      return walk.pending === null ? this.compare : walk.finish
    })
    return Effect.matchCauseEffect(one.withPermits(1)(meeting), {
      onSuccess: () => Effect.sync(() => void (this.failing = false)),
      onFailure: (cause) => this.failed(cause)
    }).pipe(Effect.as(pause))
  })

  private readonly compare = Effect.suspend(() =>
    Effect.flatMap(this.parts.venue.clock, (there): Effect.Effect<unknown, { readonly message: string }> => {
      const ahead = there - this.parts.clock.now()
      if (Math.abs(ahead) <= together) return Effect.void
      return ahead > 0 ? this.follow(ahead) : this.pull(there)
    })
  )

  private failed(cause: Cause.Cause<unknown>): Effect.Effect<void> {
    const logged = this.failing
      ? Effect.logDebug("the clocks of service and venue still differ: the service tries again", cause)
      : Effect.logWarning(
          "the clocks of service and venue differ and can't be aligned now: the service tries again",
          cause
        )
    this.failing = true
    return logged
  }

  /** Moves the service's clock forward to the venue's. */
  private follow(millis: number) {
    const { link, clock, walk, wall } = this.parts
    const offset = clock.offset() + millis
    const isPastEnd = wall.currentTimeMillisUnsafe() + offset >= clockEnd
    return isPastEnd
      ? Effect.logWarning(
          "the venue's clock is past the last date that the service supports: the service's clock stays; sim reset restarts both",
          { millis }
        )
      : Effect.andThen(
          walk.follow(offset, link.state().number),
          Effect.logInfo("the service's clock moved forward to the venue's time", { millis })
        )
  }

  /**
   * Moves the venue's clock forward to the service's. `there`: the venue's business time. After a timeout the next
   * attempt continues.
   */
  private pull(there: number) {
    const { control, clock, walk } = this.parts
    if (!control.attached) return Effect.void
    return Effect.andThen(
      Effect.logInfo("the service moves the venue's clock forward to its own time", { millis: clock.now() - there }),
      Effect.timeoutOption(walk.pull(there), pullPatience)
    )
  }
}
