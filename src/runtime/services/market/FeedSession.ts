/**
 * The connection of the market feed: one stream with every market and channel. A stream that is silent for five seconds, ends
 * or speaks another version is dropped and opened anew, after a pause that grows; a channel that lost its place gets a
 * snapshot of its own. The listing is read at the beginning and when the venue's events have gone on, which is when it may
 * have changed.
 */
import { Cause, Effect, Schedule, Schema, type Scope, Stream } from "effect"
import type { ChannelMessage } from "../../../machines/venue/marketData.ts"
import { type VenueHeartbeat, venueStreamVersion } from "../../../machines/venue/VenueEvent.ts"
import type { Quarantine } from "../../ports/Quarantine.ts"
import type { Subscription, UnreadableLine, VenueShape } from "../../ports/Venue.ts"
import type { MarketMirror } from "./MarketMirror.ts"
import { QuarantineRate } from "./QuarantineRate.ts"

export interface FeedSessionParts {
  readonly venue: VenueShape
  readonly mirror: MarketMirror
  readonly quarantine: Quarantine["Service"]
  /** Wall time. */
  readonly now: () => number
  /** Business time beyond which no message can be. */
  readonly latest: () => number
}

/** Age of a snapshot up to which it is served while the venue is away (A2-114), wall ms. */
export const servedMillis = 10_000

/**
 * How the feed stands: no venue is attached; none was ever reached; it answers, or has been away for less than
 * `servedMillis`; or for longer.
 */
export type Standing = "unattached" | "never" | "live" | "away"

type Line = ChannelMessage | VenueHeartbeat | UnreadableLine

/** A stream that says nothing for so long is dropped, wall ms. */
export const silenceMillis = 5_000
/** A read that takes longer is given up, wall ms. */
const readLimit = 5_000
const firstPause = 100
const longestPause = 5_000
const snapshotPause = Schedule.spaced("250 millis")
const listingPause = 1_000

class FeedFault extends Schema.TaggedError<FeedFault>()("FeedFault", { sentence: Schema.String }) {
  override get message(): string {
    return this.sentence
  }
}

export class FeedSession {
  connected = false
  connections = 0
  listings = 0
  private heardAt: number | null = null
  /** Number of the last event, when the listing was read, and as the last heartbeat had it. */
  private listedNumber = -1
  private number = 0
  private pause = firstPause
  private readonly parts: FeedSessionParts
  private readonly rate: QuarantineRate

  constructor(parts: FeedSessionParts) {
    this.parts = parts
    this.rate = new QuarantineRate(parts.quarantine, parts.now)
  }

  standing(): Standing {
    if (this.heardAt === null) return "never"
    return this.connected || this.parts.now() - this.heardAt < servedMillis ? "live" : "away"
  }

  /** Connects, and again whenever the connection is lost. */
  readonly forever: Effect.Effect<never> = Effect.suspend(() =>
    Effect.scoped(this.session).pipe(
      Effect.catchCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.interrupt : this.ended(cause))),
      Effect.andThen(Effect.suspend(() => Effect.sleep(this.pause))),
      Effect.andThen(Effect.sync(() => void (this.pause = Math.min(longestPause, this.pause * 2))))
    )
  ).pipe(Effect.forever)

  private readonly session: Effect.Effect<void, unknown, Scope.Scope> = Effect.suspend(() => {
    this.connections++
    const { mirror, venue } = this.parts
    return Effect.gen({ self: this }, function* () {
      yield* this.list
      const subscriptions = mirror.subscriptions()
      const lines = venue.marketData(subscriptions).pipe(
        Stream.timeoutOrElse({
          duration: silenceMillis,
          orElse: () => Stream.fail(new FeedFault({ sentence: "the venue's market data went silent" }))
        })
      )
      const reading = Effect.andThen(
        Stream.runForEachArray(lines, (some) => this.takeAll(some)),
        new FeedFault({ sentence: "the venue's market data ended" })
      )
      yield* Effect.raceFirst(reading, this.relist(subscriptions.length))
    })
  })

  private ended(cause: Cause.Cause<unknown>): Effect.Effect<void> {
    const was = this.connected
    this.connected = false
    if (was) this.parts.mirror.lost()
    return was
      ? Effect.logWarning("the venue's market data is away: connecting anew", cause)
      : Effect.logDebug("the venue's market data can not be reached", cause)
  }

  /** Reads the listing; what of it can't be true is set aside. */
  private readonly list: Effect.Effect<void, unknown> = Effect.suspend(() => {
    const number = this.number
    return this.parts.venue.listing.pipe(
      Effect.timeout(readLimit),
      Effect.flatMap((listing) => {
        this.listings++
        this.listedNumber = number
        const { mirror } = this.parts
        if (mirror.listing?.version === listing.version && mirror.markets.size > 0) return Effect.void
        return Effect.forEach(
          mirror.list(listing),
          (reason) => this.rate.add("listing", JSON.stringify(listing), reason),
          {
            discard: true
          }
        )
      })
    )
  })

  /** Reads the listing again when the venue's events have gone on; ends the session when there are other markets. */
  private relist(subscribed: number): Effect.Effect<never, FeedFault> {
    return Effect.sleep(listingPause).pipe(
      Effect.andThen(Effect.suspend(() => (this.number === this.listedNumber ? Effect.void : this.list))),
      // One that can't be read now is read again.
      Effect.catchCause((cause) => Effect.logDebug("the venue's listing can not be read", cause)),
      Effect.repeat({ while: () => this.parts.mirror.subscriptions().length <= subscribed }),
      Effect.andThen(new FeedFault({ sentence: "the venue lists other markets" }))
    )
  }

  /** Applies what came together. A heartbeat of another version ends the session, and what stands behind it is not read. */
  private takeAll(lines: ReadonlyArray<Line>): Effect.Effect<void, FeedFault, Scope.Scope> {
    return Effect.suspend(() => {
      const after: Array<Effect.Effect<unknown, FeedFault, Scope.Scope>> = []
      for (const line of lines) {
        if ("heartbeat" in line && line.version !== venueStreamVersion) {
          after.push(new FeedFault({ sentence: `this service does not read version ${line.version} of the stream` }))
          break
        }
        const next = this.takeLine(line)
        if (next !== null) after.push(next)
      }
      return after.length === 0 ? Effect.void : Effect.all(after, { discard: true })
    })
  }

  /** Null: there is nothing more to do. */
  private takeLine(line: Line): Effect.Effect<unknown, never, Scope.Scope> | null {
    if ("unreadable" in line) return this.rate.add("unreadable", line.unreadable, line.reason)
    this.heard()
    if ("heartbeat" in line) {
      this.number = line.number
      return null
    }
    const { resync, absurd } = this.parts.mirror.take(line, this.parts.latest())
    const subscription = { channel: line.channel, symbol: line.symbol }
    if (absurd === null) return resync ? this.resync(subscription) : null
    // The same fault with other figures is of the same kind.
    const kind = `${line.channel}:${line.symbol}:${absurd.replaceAll(/[0-9.]+/g, "")}`
    const aside = this.rate.add(kind, JSON.stringify(line), absurd)
    return resync ? Effect.andThen(aside, this.resync(subscription)) : aside
  }

  private heard(): void {
    this.heardAt = this.parts.now()
    this.connected = true
    this.pause = firstPause
  }

  /** Asks for snapshots of a channel until it has its place again, beside the stream. */
  private resync(subscription: Subscription): Effect.Effect<unknown, never, Scope.Scope> {
    const { venue, mirror, latest } = this.parts
    const once = venue.snapshot(subscription).pipe(
      Effect.timeout(readLimit),
      Effect.map((message) => mirror.take(message, latest())),
      Effect.catchCause((cause) => Effect.logDebug("a snapshot of market data can not be read", cause))
    )
    return once.pipe(
      Effect.repeat({ schedule: snapshotPause, while: () => !mirror.isCurrent(subscription) }),
      Effect.forkScoped
    )
  }
}
