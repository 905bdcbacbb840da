/**
 * The connection of the market feed: one stream with every market and channel. A stream that is silent for five
 * seconds, ends or has another version is closed, and opened again after a growing pause. A channel that lost a
 * message, or gets no first snapshot, is repaired by a snapshot request. The listing is read at the beginning, and
 * whenever the venue has published events, because it changes only with events. If markets or grids change, the service
 * subscribes again.
 */
import { Cause, Effect, Schedule, Schema, type Scope, Stream } from "effect"
import type { ChannelMessage } from "../../../machines/venue/marketData.ts"
import { Backoff } from "../../engine/Backoff.ts"
import { type VenueHeartbeat, venueStreamVersion } from "../../../machines/venue/VenueEvent.ts"
import { type UnreadableLine, unreadableAnswer, type VenueShape } from "../../ports/Venue.ts"
import type { MarketMirror } from "./MarketMirror.ts"
import { kindOf, type QuarantineRate } from "./QuarantineRate.ts"
import { SnapshotRequests } from "./SnapshotRequests.ts"

export interface FeedSessionParts {
  readonly venue: VenueShape
  readonly mirror: MarketMirror
  readonly rate: QuarantineRate
  /** The process's wall time, Unix ms. */
  readonly now: () => number
  /** The latest business time that a message may plausibly have, Unix ms. */
  readonly latest: () => number
  /** Measures the difference to the venue's clock; `at` is the time of a message, Unix ms. */
  readonly measure: (at: number) => void
}

/** The highest age of a snapshot that is served while the venue is unavailable (A2-114), wall ms. */
export const servedMillis = 10_000

/**
 * State of the feed. `unattached`: no venue is attached. `never`: the venue was never reached. `live`: the feed is
 * connected, or was until less than `servedMillis` ago. `away`: it has been disconnected for longer.
 */
export type Standing = "unattached" | "never" | "live" | "away"

type Line = ChannelMessage | VenueHeartbeat | UnreadableLine

/** Heartbeat timeout of a stream, wall ms. */
export const silenceMillis = 5_000
/**
 * How long a lost connection may stay lost without being reported as away, wall ms: most connections are restored within
 * it.
 */
const reconnectMillis = 1_000
/** Timeout of a read of the listing, wall ms. */
const readLimit = 5_000
/** Pauses before a new connection, wall ms. */
const firstPause = 100
const longestPause = 5_000
/** How long after the subscription a channel may lack its first snapshot. Then the snapshot is requested. */
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
  private receivedAt: number | null = null
  /**
   * The number of the venue's last event at the last read of the listing, and in the last heartbeat. Before the first
   * read: -1; before the first heartbeat: 0.
   */
  private listedNumber = -1
  private number = 0
  /** Wall time at which the connection was lost, Unix ms; null if it never was. */
  private lostAt: number | null = null
  private readonly backoff = new Backoff(firstPause, longestPause)
  private readonly parts: FeedSessionParts

  constructor(parts: FeedSessionParts) {
    this.parts = parts
  }

  standing(): Standing {
    if (this.receivedAt === null) return "never"
    return this.connected || this.parts.now() - this.receivedAt < servedMillis ? "live" : "away"
  }

  /**
   * True if the feed is disconnected. The first second after a loss does not count, because most connections are
   * restored within it.
   */
  isAway(): boolean {
    return !this.connected && (this.lostAt === null || this.parts.now() - this.lostAt >= reconnectMillis)
  }

  /** Connects in an endless loop: at once for a new subscription, after a pause if the connection was lost. */
  readonly forever: Effect.Effect<never> = Effect.suspend(() =>
    Effect.catchCause(Effect.scoped(this.session), (cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.andThen(this.ended(cause), this.backoff.pause)
    )
  ).pipe(Effect.forever)

  /** One connection: it is read until it breaks, or until the venue's markets or grids change. */
  private readonly session: Effect.Effect<void, unknown, Scope.Scope> = Effect.suspend(() => {
    this.connections++
    const { mirror, venue } = this.parts
    return Effect.gen({ self: this }, function* () {
      yield* this.list
      const markets = mirror.subscribed()
      const requests = this.snapshotRequests()
      const lines = venue.marketData(mirror.subscriptions()).pipe(
        Stream.timeoutOrElse({
          duration: silenceMillis,
          orElse: () => Stream.fail(new FeedFault({ sentence: "the venue's market data went silent" }))
        })
      )
      const reading = Effect.andThen(
        Stream.runForEachArray(lines, (some) => this.takeAll(some, requests)),
        new FeedFault({ sentence: "the venue's market data ended" })
      )
      yield* Effect.forkScoped(this.missing(requests))
      yield* Effect.raceFirst(reading, this.relist(markets))
      // Every channel begins with a new snapshot, because its sequence numbers may restart too.
      mirror.lost()
      yield* Effect.logInfo("the venue lists other markets or grids: the service subscribes again")
    })
  })

  /** Makes the component that requests missing snapshots over one connection. */
  private snapshotRequests(): SnapshotRequests {
    const { venue, mirror, now } = this.parts
    return new SnapshotRequests({
      venue,
      take: (message) => this.takeMessage(message).aside ?? Effect.void,
      isCurrent: (subscription) => mirror.isCurrent(subscription),
      now
    })
  }

  /** Requests snapshots for channels that did not get one in time. */
  private missing(requests: SnapshotRequests): Effect.Effect<unknown, never, Scope.Scope> {
    const { mirror } = this.parts
    const lost = Effect.suspend(() =>
      Effect.forEach(
        mirror.subscriptions().filter((subscription) => !mirror.isCurrent(subscription)),
        (subscription) => requests.want(subscription),
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
      ? Effect.logWarning("the connection to the venue's market data is lost: the service connects again")
      : Effect.logDebug("the venue's market data can't be reached: the service tries again")
    return Effect.annotateLogs(line, { reason })
  }

  /** Reads the listing, and quarantines impossible parts. Fails while no possible listing is known. */
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

  /** Reads the listing whenever the venue has published events, until its markets or grids change. */
  private relist(subscribed: string): Effect.Effect<void> {
    return Effect.sleep(listingPause).pipe(
      Effect.andThen(Effect.suspend(() => (this.number === this.listedNumber ? Effect.void : this.list))),
      // A failed read is only logged: the next round reads the listing again.
      Effect.catchCause((cause) =>
        Effect.logDebug("the venue's listing can not be read: the service tries again", cause)
      ),
      Effect.repeat({ while: () => this.parts.mirror.subscribed() === subscribed })
    )
  }

  /**
   * Applies messages that arrived together. A heartbeat of another version ends the session, and messages after it are
   * ignored.
   */
  private takeAll(lines: ReadonlyArray<Line>, requests: SnapshotRequests): Effect.Effect<void, FeedFault, Scope.Scope> {
    return Effect.suspend(() => {
      const after: Array<Effect.Effect<unknown, FeedFault, Scope.Scope>> = []
      for (const line of lines) {
        if ("heartbeat" in line && line.version !== venueStreamVersion) {
          after.push(new FeedFault({ sentence: `this service does not read version ${line.version} of the stream` }))
          break
        }
        const next = this.takeLine(line, requests)
        if (next !== null) after.push(next)
      }
      return after.length === 0 ? Effect.void : Effect.all(after, { discard: true })
    })
  }

  /** Applies a line. Returns the work that has to follow it; null if there is none. */
  private takeLine(line: Line, requests: SnapshotRequests): Effect.Effect<unknown, never, Scope.Scope> | null {
    if ("unreadable" in line) return this.parts.rate.add("unreadable", line.unreadable, line.reason)
    this.received()
    if ("heartbeat" in line) {
      this.number = line.number
      // The venue has published no event since this connection requested its listing, so that listing still holds.
      if (line.number === this.listedNumber) this.parts.mirror.confirm(line)
      return null
    }
    const { resync, aside } = this.takeMessage(line)
    if (!resync) return aside
    return Effect.andThen(aside ?? Effect.void, requests.want({ channel: line.channel, symbol: line.symbol }))
  }

  /** Applies a message. `aside`: the quarantine of an impossible message; null: the message was applied. */
  private takeMessage(message: ChannelMessage): {
    readonly resync: boolean
    readonly aside: Effect.Effect<void> | null
  } {
    // Only tickers measure the venue's clock, because prices are checked against the marks of tickers.
    if (message.channel === "ticker") this.parts.measure(message.ts)
    const { resync, absurd } = this.parts.mirror.take(message, this.parts.latest())
    if (absurd === null) return { resync, aside: null }
    const symbol = this.parts.mirror.markets.has(message.symbol) ? message.symbol : "unlisted"
    return {
      resync,
      aside: this.parts.rate.add(kindOf(message.channel, symbol, absurd), JSON.stringify(message), absurd)
    }
  }

  private received(): void {
    this.receivedAt = this.parts.now()
    this.connected = true
    this.backoff.reset()
  }
}
