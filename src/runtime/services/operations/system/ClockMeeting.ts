/**
 * Keeps the clocks of a sandbox and its venue together. They differ if another service has advanced the venue, or if an
 * advance by this service did not reach it. The clock that is behind moves forward to the other, as `sim clock advance`
 * would move it. No clock moves backwards, or during an advance (C4).
 */
import type { PgClient } from "@effect/sql-pg"
import { type Cause, type Clock, Effect, type Semaphore } from "effect"
import type { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import type { VenueControl } from "../../../ports/VenueControl.ts"
import type { VenueProgress } from "../../../ports/VenueProgress.ts"
import type { VenueShape } from "../../../ports/Venue.ts"
import { moveClock } from "../../../store/ServiceStamp.ts"
import type { VenueLink } from "../../venue/VenueLink.ts"
import { clockEnd } from "../../shared/clockEnd.ts"
import { playVenue } from "./playVenue.ts"

/** Clocks that differ by at most this much count as equal, ms, because both run while they are compared. */
export const together = 2_000
/** The interval of comparisons with the last time that the venue reported, wall ms. */
const compareEvery = 500
/** The pauses after attempts, wall ms: at most one attempt a second, and fewer while they have no effect. */
const pauses: ReadonlyArray<number> = [1_000, 2_000, 5_000, 10_000, 30_000]
/** The longest wait for the venue's events before the service's clock moves without them, wall ms. */
const eventPatience = 10_000

export interface ClockMeetingParts {
  readonly venue: VenueShape
  readonly control: VenueControl["Service"]
  readonly progress: VenueProgress["Service"]
  readonly link: VenueLink["Service"]
  readonly clock: BusinessClock["Service"]
  readonly wall: Clock.Clock
  readonly sql: PgClient.PgClient
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
  readonly run: Effect.Effect<never> = Effect.suspend(() => (this.areApart() ? this.meetOnce : this.rest)).pipe(
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
    const { one, venue, clock } = this.parts
    const pause = pauses[Math.min(this.tries++, pauses.length - 1)] as number
    const meeting = Effect.flatMap(venue.clock, (there): Effect.Effect<unknown, { readonly message: string }> => {
      const ahead = there - clock.now()
      if (Math.abs(ahead) <= together) return Effect.void
      return Effect.flatMap(this.parts.owns, (owns): Effect.Effect<unknown, { readonly message: string }> => {
        if (!owns) return Effect.void
        return ahead > 0 ? this.follow(ahead) : this.pull(there)
      })
    })
    return Effect.matchCauseEffect(one.withPermits(1)(meeting), {
      onSuccess: () => Effect.sync(() => void (this.failing = false)),
      onFailure: (cause) => this.failed(cause)
    }).pipe(Effect.as(pause))
  })

  private failed(cause: Cause.Cause<unknown>): Effect.Effect<void> {
    const logged = this.failing
      ? Effect.logDebug("the clocks of service and venue still differ", cause)
      : Effect.logWarning(
          "the clocks of service and venue differ and can't be aligned now: the service tries again",
          cause
        )
    this.failing = true
    return logged
  }

  /**
   * Moves the service's clock forward to the venue's. The order is that of an advance: the venue's events, the clock,
   * due timers.
   */
  private follow(millis: number) {
    const { progress, link, clock, sql, wall } = this.parts
    return Effect.gen(function* () {
      clock.expect(clock.now() + millis)
      const { number } = link.state()
      if (number !== null) yield* Effect.timeoutOption(progress.reached(number), eventPatience)
      const end = clockEnd - wall.currentTimeMillisUnsafe()
      const offset = yield* Effect.uninterruptible(
        moveClock(sql, 0, end, true).pipe(
          // The stored offset may already include a move whose reply was lost, or a move by another process. Only the
          // rest is moved.
          Effect.flatMap((stored) => {
            const done = (stored ?? clock.offset()) - clock.offset()
            return moveClock(sql, Math.max(0, millis - done), end, false)
          }),
          Effect.tap((stored) =>
            Effect.sync(() => {
              if (stored !== null && stored > clock.offset()) clock.setOffset(stored)
            })
          )
        )
      )
      yield* offset === null
        ? Effect.logWarning(
            "the venue's clock is past the last date that the service supports: the service's clock stays; sim reset restarts both",
            {
              millis
            }
          )
        : Effect.logInfo("the service's clock moved forward to the venue's time", { millis })
    }).pipe(Effect.ensuring(Effect.sync(() => clock.expect(0))))
  }

  /**
   * Moves the venue's clock forward to the service's. `there`: the venue's business time. After a timeout the next
   * attempt continues.
   */
  private pull(there: number) {
    const { control, clock } = this.parts
    if (!control.attached) return Effect.void
    const millis = clock.now() - there
    return Effect.andThen(
      Effect.logInfo("the venue's clock moved forward to the service's time", { millis }),
      Effect.suspend(() => Effect.timeoutOption(playVenue(this.parts, there, clock.now()), eventPatience))
    )
  }
}
