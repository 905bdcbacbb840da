/**
 * The venue of a sandbox, whose clock a tester may move. A message ahead of this service's business time is plausible
 * if the venue's clock confirms it. The latest plausible time then moves forward, until this service's clock follows
 * (`ClockMeeting`). Events wait for that check, because quarantined events are not applied later. If the venue does not
 * answer, the query is repeated. Sandbox only: elsewhere such a message is implausible (C4, A2-115).
 */
import { Clock, Effect, Layer, Option, Stream } from "effect"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { Venue, type VenueShape, type VenueUnanswered } from "../../ports/Venue.ts"
import type { VenueOutcome } from "../../../machines/venue/venueCalls.ts"
import { clockSlackMillis } from "../../../machines/venue/timeChecks.ts"
import type { VenueEvent } from "../../../machines/venue/VenueEvent.ts"
import type { EventCursor } from "./EventCursor.ts"
import { VenueLink } from "./VenueLink.ts"

/** Wraps the venue so that each time in its streams and answers is checked before the service reads it. */
export const layerSandboxTime = <E, R>(
  venue: Layer.Layer<Venue, E, R>
): Layer.Layer<Venue, E, R | BusinessClock | VenueLink> =>
  Layer.effect(
    Venue,
    Effect.gen(function* () {
      const found = yield* Venue
      const wall = yield* Clock.Clock
      const watch = new Watch({
        venue: found,
        clock: yield* BusinessClock,
        link: yield* VenueLink,
        wall: () => wall.currentTimeMillisUnsafe()
      })
      return Venue.of({
        ...found,
        offers: Effect.tap(found.offers, ({ at }) => watch.try(at)),
        klines: (window) => Effect.tap(found.klines(window), ({ asOf }) => watch.try(asOf)),
        write: (name, request) =>
          Effect.tap(found.write(name, request), (outcome) => watch.answer(latestIn([outcome]))),
        lookup: (refs) => Effect.tap(found.lookup(refs), (outcomes) => watch.answer(latestIn(outcomes))),
        voidRefs: (refs) => Effect.tap(found.voidRefs(refs), (outcomes) => watch.answer(latestIn(outcomes))),
        orderFills: (ref) =>
          Effect.tap(found.orderFills(ref), (fills) => watch.answer(Math.max(0, ...(fills ?? []).map(({ at }) => at)))),
        snapshot: (wanted) => Effect.tap(found.snapshot(wanted), ({ ts }) => watch.try(ts)),
        accountEvents: (account, after) =>
          Effect.tap(found.accountEvents(account, after), (lines) => {
            const latest = watch.latest(lines)
            return Effect.tap(watch.reach(latest), () => watch.carry(latest))
          }),
        events: (after) =>
          Stream.mapArrayEffect(found.events(after), (lines) => Effect.as(watch.reach(watch.latest(lines)), lines)),
        marketData: (wanted) =>
          Stream.mapArrayEffect(found.marketData(wanted), (lines) => Effect.as(watch.try(watch.latest(lines)), lines))
      })
    })
  ).pipe(Layer.provide(venue))

/** The longest wait of an event for the earlier ones, which may wait for the venue or the database themselves. */
const orderPatience = "10 seconds"

/**
 * Applies an event by `take` once the clock is at the event's time. While a sandbox's clock moves, an event far ahead of it waits
 * for the earlier events, then it carries the clock along; a line that is read again does not. After one timeout the events that have not ended are left behind.
 */
export const inTime = (
  clock: BusinessClock["Service"],
  cursor: EventCursor,
  event: VenueEvent,
  take: (event: VenueEvent) => Effect.Effect<void>
): Effect.Effect<void> => {
  const carrier = clock.carrier()
  const { at, fact } = event
  if (carrier === null || !("account" in fact) || cursor.has(event.number)) return take(event)
  const taken = Effect.andThen(
    carrier.event(at, fact),
    Effect.suspend(() => take(event))
  )
  // Clocks of two processes differ a little at any time.
  if (at - clock.now() <= clockSlackMillis) return taken
  return Effect.flatMap(Effect.timeoutOption(cursor.idle, orderPatience), (ended) => {
    if (Option.isNone(ended)) cursor.leaveBehind()
    return taken
  })
}

type Line = Stream.Success<ReturnType<VenueShape["events"]>> | Stream.Success<ReturnType<VenueShape["marketData"]>>

interface WatchParts {
  readonly venue: VenueShape
  readonly clock: BusinessClock["Service"]
  readonly link: VenueLink["Service"]
  readonly wall: () => number
}

/** The pause after a clock query that confirmed nothing, wall ms. It limits the load from lines with wrong times. */
const retryMillis = 1_000

class Watch {
  private readonly parts: WatchParts
  private deniedAt = 0
  private silentAt = 0

  constructor(parts: WatchParts) {
    this.parts = parts
    // The lag of the venue's clock is not stored. So the venue may execute requests of the previous process at an
    // earlier time than they were sent. This is possible only if this service's clock was ever moved.
    if (parts.clock.offset() > 0) parts.clock.noteBehind()
  }

  /**
   * The latest time in the lines, Unix ms. The times of heartbeats are also published, because they show the venue's clock.
   */
  latest(lines: ReadonlyArray<Line>): number {
    const { link, wall } = this.parts
    let latest = 0
    for (const line of lines) {
      if ("heartbeat" in line) link.set({ time: { at: line.at, receivedAt: wall() } })
      else latest = Math.max(latest, timeOf(line))
    }
    return latest
  }

  /**
   * Checks a time against the venue's clock. Completes once the venue's clock is known; fails if the venue does not
   * answer.
   */
  reach(latest: number): Effect.Effect<void, VenueUnanswered> {
    return Effect.suspend(() => {
      const { venue, clock, wall } = this.parts
      const isAhead = latest > clock.venueTime().latest && wall() - this.deniedAt >= retryMillis
      if (!isAhead) return Effect.void
      return Effect.map(venue.clock, (now) => {
        if (now + clockSlackMillis >= latest) clock.expect(now)
        else this.deniedAt = wall()
      })
    })
  }

  /** Moves this service's clock along with an answer during a jump, so that nothing in it is booked before it happened. */
  carry(latest: number): Effect.Effect<void> {
    return Effect.sync(() => this.parts.clock.carrier()?.answer(latest))
  }

  /** `try`, then `carry`: for the times in an answer that the service books. */
  answer(latest: number): Effect.Effect<void> {
    return Effect.andThen(this.try(latest), this.carry(latest))
  }

  /**
   * Like `reach`, for messages that the venue soon repeats. If the venue does not answer, this service's own time
   * decides.
   */
  try(latest: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { wall } = this.parts
      if (wall() - this.silentAt < retryMillis) return Effect.void
      return Effect.catch(this.reach(latest), () => Effect.sync(() => void (this.silentAt = wall())))
    })
  }
}

/** The latest time in answers and their objects, Unix ms; 0 if they contain none. */
const latestIn = (outcomes: ReadonlyArray<VenueOutcome>): number => {
  let latest = 0
  for (const { at, order, contract, swap } of outcomes) {
    const ofContract = [contract?.openedAt ?? 0, contract?.endedAt ?? 0]
    const ofSwap = [swap?.openedAt ?? 0, swap?.payments.at(-1)?.at ?? 0, swap?.corrections.at(-1)?.at ?? 0]
    latest = Math.max(latest, at, order?.triggeredAt ?? 0, ...ofContract, ...ofSwap)
  }
  return latest
}

/** The business time of a line, Unix ms; 0 if it has none. */
const timeOf = (line: Line): number => ("ts" in line ? line.ts : "at" in line ? line.at : 0)
