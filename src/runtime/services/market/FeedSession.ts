/**
 * The connection of the market feed: one stream with every market and channel. A stream that is silent for five seconds, ends
 * or speaks another version is dropped and opened anew, after a pause that grows; a channel that lost its place, or whose first
 * snapshot does not come, gets a snapshot of its own. The listing is read at the beginning and when the venue's events have
 * gone on, which is when it may have changed; other markets or other grids mean a new subscription.
 */
import { Cause, Effect, Schedule, Schema, type Scope, Stream } from "effect"
import type { ChannelMessage } from "../../../machines/venue/marketData.ts"
import { Backoff } from "../../engine/Backoff.ts"
import { type VenueHeartbeat, venueStreamVersion } from "../../../machines/venue/VenueEvent.ts"
import { type UnreadableLine, unreadableAnswer, type VenueShape } from "../../ports/Venue.ts"
import type { MarketMirror } from "./MarketMirror.ts"
import { kindOf, type QuarantineRate } from "./QuarantineRate.ts"
import { SnapshotAsks } from "./SnapshotAsks.ts"

export interface FeedSessionParts {
  readonly venue: VenueShape
  readonly mirror: MarketMirror
  readonly rate: QuarantineRate
  /** Wall time. */
  readonly now: () => number
  /** Business time beyond which no message can be. */
  readonly latest: () => number
  /** Measures the venue's clock by the time of a message. */
  readonly measure: (at: number) => void
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
/** A connection that was lost is usually there again within so long, wall ms. */
const reconnectMillis = 1_000
/** A read that takes longer is given up, wall ms. */
const readLimit = 5_000
/** Pauses before a new connection, wall ms. */
const firstPause = 100
const longestPause = 5_000
/** A channel without a snapshot for so long after it is subscribed is asked for. */
const firstSnapshotWithin = Schedule.spaced("3 seconds")
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
  /** When the connection was lost; null: never. */
  private lostAt: number | null = null
  private readonly backoff = new Backoff(firstPause, longestPause)
  private readonly parts: FeedSessionParts

  constructor(parts: FeedSessionParts) {
    this.parts = parts
  }

  standing(): Standing {
    if (this.heardAt === null) return "never"
    return this.connected || this.parts.now() - this.heardAt < servedMillis ? "live" : "away"
  }

  /** Whether there is no connection, and not because a new one is just being made. */
  isAway(): boolean {
    return !this.connected && (this.lostAt === null || this.parts.now() - this.lostAt >= reconnectMillis)
  }

  /** Connects, at once for another subscription, and after a pause when the connection is lost. */
  readonly forever: Effect.Effect<never> = Effect.suspend(() =>
    Effect.catchCause(Effect.scoped(this.session), (cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.andThen(this.ended(cause), this.backoff.pause)
    )
  ).pipe(Effect.forever)

  /** One connection; over when the venue lists other markets. */
  private readonly session: Effect.Effect<void, unknown, Scope.Scope> = Effect.suspend(() => {
    this.connections++
    const { mirror, venue } = this.parts
    return Effect.gen({ self: this }, function* () {
      yield* this.list
      const markets = mirror.subscribed()
      const asks = this.asks()
      const lines = venue.marketData(mirror.subscriptions()).pipe(
        Stream.timeoutOrElse({
          duration: silenceMillis,
          orElse: () => Stream.fail(new FeedFault({ sentence: "the venue's market data went silent" }))
        })
      )
      const reading = Effect.andThen(
        Stream.runForEachArray(lines, (some) => this.takeAll(some, asks)),
        new FeedFault({ sentence: "the venue's market data ended" })
      )
      yield* Effect.forkScoped(this.missing(asks))
      yield* Effect.raceFirst(reading, this.relist(markets))
      // Each channel begins anew with its snapshot, whatever this venue's sequences are.
      mirror.lost()
      yield* Effect.logInfo("the venue lists other markets or grids: subscribing anew")
    })
  })

  /** Those of a connection. */
  private asks(): SnapshotAsks {
    const { venue, mirror, now } = this.parts
    return new SnapshotAsks({
      venue,
      take: (message) => this.takeMessage(message).aside ?? Effect.void,
      isCurrent: (subscription) => mirror.isCurrent(subscription),
      now
    })
  }

  /** Asks for channels that have no snapshot although there was time for one. */
  private missing(asks: SnapshotAsks): Effect.Effect<unknown, never, Scope.Scope> {
    const { mirror } = this.parts
    const lost = Effect.suspend(() =>
      Effect.forEach(
        mirror.subscriptions().filter((subscription) => !mirror.isCurrent(subscription)),
        (subscription) => asks.want(subscription),
        { discard: true }
      )
    )
    return Effect.schedule(lost, firstSnapshotWithin)
  }

  private ended(cause: Cause.Cause<unknown>): Effect.Effect<void> {
    const was = this.connected
    this.connected = false
    if (was) {
      this.lostAt = this.parts.now()
      this.parts.mirror.lost()
    }
    const reason = Cause.pretty(cause).split("\n", 1)[0]
    const line = was
      ? Effect.logWarning("the venue's market data is away: connecting anew")
      : Effect.logDebug("the venue's market data can not be reached")
    return Effect.annotateLogs(line, { reason })
  }

  /** Reads the listing and sets the impossible parts aside. Fails while no possible listing is known. */
  private readonly list: Effect.Effect<void, unknown> = Effect.suspend(() => {
    const number = this.number
    return this.parts.venue.listing.pipe(
      Effect.timeout(readLimit),
      Effect.flatMap((listing) => {
        this.listings++
        this.listedNumber = number
        const { mirror } = this.parts
        if (mirror.isListed(listing)) return Effect.sync(() => mirror.relist(listing))
        const { rate } = this.parts
        const unread = (listing.unreadable ?? []).map((bytes) => rate.add("listing", bytes, "a market can't be read"))
        const absurd = mirror
          .list(listing)
          .map((reason) => rate.add(kindOf("listing", "", reason), JSON.stringify(listing), reason))
        const known = mirror.listing === null ? new FeedFault({ sentence: "the venue lists no market" }) : Effect.void
        return Effect.andThen(Effect.all([...unread, ...absurd], { discard: true }), known)
      }),
      Effect.tapError((error) =>
        error._tag === "VenueUnanswered" && error.reason === unreadableAnswer
          ? this.parts.rate.add("listing:whole", "", "the listing can't be read")
          : Effect.void
      )
    )
  })

  /** Reads the listing again when the venue's events have gone on, until there are other markets. */
  private relist(subscribed: string): Effect.Effect<void> {
    return Effect.sleep(listingPause).pipe(
      Effect.andThen(Effect.suspend(() => (this.number === this.listedNumber ? Effect.void : this.list))),
      // One that can't be read now is read again.
      Effect.catchCause((cause) => Effect.logDebug("the venue's listing can not be read", cause)),
      Effect.repeat({ while: () => this.parts.mirror.subscribed() === subscribed })
    )
  }

  /** Applies what came together. A heartbeat of another version ends the session, and what stands behind it is not read. */
  private takeAll(lines: ReadonlyArray<Line>, asks: SnapshotAsks): Effect.Effect<void, FeedFault, Scope.Scope> {
    return Effect.suspend(() => {
      const after: Array<Effect.Effect<unknown, FeedFault, Scope.Scope>> = []
      for (const line of lines) {
        if ("heartbeat" in line && line.version !== venueStreamVersion) {
          after.push(new FeedFault({ sentence: `this service does not read version ${line.version} of the stream` }))
          break
        }
        const next = this.takeLine(line, asks)
        if (next !== null) after.push(next)
      }
      return after.length === 0 ? Effect.void : Effect.all(after, { discard: true })
    })
  }

  /** Null: there is nothing more to do. */
  private takeLine(line: Line, asks: SnapshotAsks): Effect.Effect<unknown, never, Scope.Scope> | null {
    if ("unreadable" in line) return this.parts.rate.add("unreadable", line.unreadable, line.reason)
    this.heard()
    if ("heartbeat" in line) {
      this.number = line.number
      // The venue has sent nothing since the listing was requested, so the listing still holds.
      if (line.number === this.listedNumber) this.parts.mirror.confirm(line)
      return null
    }
    const { resync, aside } = this.takeMessage(line)
    if (!resync) return aside
    return Effect.andThen(aside ?? Effect.void, asks.want({ channel: line.channel, symbol: line.symbol }))
  }

  /** `aside`: sets aside what can't be true; null: nothing is. */
  private takeMessage(message: ChannelMessage): {
    readonly resync: boolean
    readonly aside: Effect.Effect<void> | null
  } {
    // Only tickers measure the venue's clock, because prices are judged by the marks of tickers.
    if (message.channel === "ticker") this.parts.measure(message.ts)
    const { resync, absurd } = this.parts.mirror.take(message, this.parts.latest())
    if (absurd === null) return { resync, aside: null }
    const symbol = this.parts.mirror.markets.has(message.symbol) ? message.symbol : "unlisted"
    return {
      resync,
      aside: this.parts.rate.add(kindOf(message.channel, symbol, absurd), JSON.stringify(message), absurd)
    }
  }

  private heard(): void {
    this.heardAt = this.parts.now()
    this.connected = true
    this.backoff.reset()
  }
}
