/**
 * The venue of a sandbox, whose clock anybody who is there may move (C4). What lies ahead of this service's business time is
 * believed when the venue's own clock is as far: the horizon goes there until this service's clock follows (`ClockMeeting`).
 * A sandbox's alone: elsewhere what lies ahead is absurd (A2-115).
 */
import { Clock, Effect, Layer, Stream } from "effect"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { Venue, type VenueShape } from "../../ports/Venue.ts"
import { aheadMillis } from "../market/MarketMirror.ts"
import { VenueLink } from "./VenueLink.ts"

/** The venue with its streams, and whatever else says a time, watched for it. */
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
        offers: Effect.tap(found.offers, ({ at }) => watch.reach(at)),
        klines: (window) => Effect.tap(found.klines(window), ({ asOf }) => watch.reach(asOf)),
        snapshot: (wanted) => Effect.tap(found.snapshot(wanted), ({ ts }) => watch.reach(ts)),
        events: (after) => Stream.mapArrayEffect(found.events(after), (lines) => watch.pass(lines)),
        marketData: (wanted) => Stream.mapArrayEffect(found.marketData(wanted), (lines) => watch.pass(lines))
      })
    })
  ).pipe(Layer.provide(venue))

type Line = Stream.Success<ReturnType<VenueShape["events"]>> | Stream.Success<ReturnType<VenueShape["marketData"]>>

interface WatchParts {
  readonly venue: VenueShape
  readonly clock: BusinessClock["Service"]
  readonly link: VenueLink["Service"]
  readonly wall: () => number
}

/** A venue whose clock was not there is not asked again for so long, wall ms: lines that lie are no load for it. */
const askAgain = 1_000

class Watch {
  private readonly parts: WatchParts
  private deniedAt = 0

  constructor(parts: WatchParts) {
    this.parts = parts
  }

  /** The same lines, once it is known how far the venue is. */
  pass<Lines extends ReadonlyArray<Line>>(lines: Lines): Effect.Effect<Lines> {
    return Effect.suspend(() => {
      const { link, wall } = this.parts
      let latest = 0
      for (const line of lines) {
        if ("heartbeat" in line) link.set({ time: { at: line.at, heardAt: wall() } })
        else latest = Math.max(latest, timeOf(line))
      }
      return Effect.as(this.reach(latest), lines)
    })
  }

  /** Something says this time: done once it is known whether the venue is there. */
  reach(latest: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { clock, wall } = this.parts
      const isAhead = latest > clock.horizon() + aheadMillis && wall() - this.deniedAt >= askAgain
      return isAhead ? this.compare(latest) : Effect.void
    })
  }

  private compare(latest: number): Effect.Effect<void> {
    const { venue, clock, wall } = this.parts
    return Effect.match(venue.clock, {
      onSuccess: (now) => {
        if (now + aheadMillis >= latest) clock.expect(now)
        else this.deniedAt = wall()
      },
      // What it says of its time it says in a moment; the line is judged by our own.
      onFailure: () => {
        this.deniedAt = wall()
      }
    })
  }
}

/** Business time of a line; 0: it has none. */
const timeOf = (line: Line): number => ("ts" in line ? line.ts : "at" in line ? line.at : 0)
