/**
 * A venue that the test scripts: its listing, offers and klines are fields, and the test publishes its market data line
 * by line to every connection. It has no books; the simulated venue has them.
 */
import { Cause, Effect, Layer, Queue, Stream } from "effect"
import {
  type BookMessage,
  type ChannelMessage,
  klineIntervals,
  type KlinePage,
  type TickerMessage,
  type TradesMessage
} from "../../src/machines/venue/marketData.ts"
import { type VenueHeartbeat, venueStreamVersion } from "../../src/machines/venue/VenueEvent.ts"
import type { VenueListing, VenueMarket, VenueOffer, VenueStakingMarket } from "../../src/machines/venue/VenueMarket.ts"
import {
  type KlineWindow,
  type Subscription,
  type UnreadableLine,
  Venue,
  type VenueShape,
  VenueUnanswered
} from "../../src/runtime/ports/Venue.ts"
import { bookChecksum } from "../../src/runtime/services/market/bookChecksum.ts"

export type Line = ChannelMessage | VenueHeartbeat | UnreadableLine
type Connection = Queue.Queue<Line, VenueUnanswered>

export const market = (symbol: string, parts: Partial<VenueMarket> = {}): VenueMarket => ({
  symbol,
  family: "PERP",
  base: symbol.split("-")[0] ?? "",
  displayName: symbol,
  assetClass: "crypto",
  priceTick: "0.1",
  qtyStep: "0.0001",
  minQty: "0.0001",
  maxQty: "100",
  minNotional: "5",
  bandBps: 1_000,
  fundingIntervalHours: 8,
  halt: null,
  delisted: false,
  ...parts
})

export const stakingMarket = (symbol: string, parts: Partial<VenueStakingMarket> = {}): VenueStakingMarket => ({
  symbol,
  name: symbol,
  asset: symbol.split("-")[0] ?? "",
  enabled: true,
  delisted: false,
  minTenorDays: 1,
  maxTenorDays: 90,
  maxRateBps: 2_000,
  minQty: "0.001",
  qtyStep: "0.0001",
  maxQty: "100",
  takerFeeBps: 10,
  ...parts
})

export const ticker = (symbol: string, seq: number, ts: number, parts: Partial<TickerMessage> = {}): TickerMessage => ({
  channel: "ticker",
  kind: "snapshot",
  symbol,
  seq,
  ts,
  last: "60000.5",
  mark: "60000",
  index: "59999.9",
  bestBid: "59999.9",
  bestAsk: "60000.1",
  volume24h: "12.5",
  openInterest: "3",
  funding: { rate: "0.0001", predicted: "-0.00012", nextAt: ts + 1_000 },
  ...parts
})

type Levels = ReadonlyArray<readonly [string, string]>

/** A book message. `after`: the book after the message, if it has more levels than the message. */
export const book = (
  symbol: string,
  seq: number,
  ts: number,
  {
    kind = "snapshot",
    bids,
    asks,
    after = { bids, asks }
  }: {
    readonly kind?: BookMessage["kind"]
    readonly bids: Levels
    readonly asks: Levels
    readonly after?: { readonly bids: Levels; readonly asks: Levels }
  }
): BookMessage => ({
  channel: "book",
  kind,
  symbol,
  seq,
  ts,
  bids,
  asks,
  checksum: bookChecksum(after.bids, after.asks)
})

export const trades = (
  symbol: string,
  seq: number,
  ts: number,
  rows: ReadonlyArray<Partial<TradesMessage["trades"][number]> & { readonly id: number }>,
  kind: TradesMessage["kind"] = "snapshot"
): TradesMessage => ({
  channel: "trades",
  kind,
  symbol,
  seq,
  ts,
  trades: rows.map((row) => ({ price: "60000.1", qty: "0.5", side: "BUY", flags: [], ts, ...row }))
})

/**
 * The rows of a page in a window, by the rules of A2-05. If the window's interval is longer than that of the page, only the rows
 * at the start of an interval of the window.
 */
const within = (page: KlinePage, { interval, from, to, limit }: KlineWindow): KlinePage => {
  const length = klineIntervals[interval]
  const until = Math.ceil(Math.min(to ?? Infinity, page.asOf + 1) / length) * length
  const start = from === null ? until - limit * length : Math.floor(from / length) * length
  const end = Math.min(until, start + limit * length)
  const before = page.klines.findLast(({ t }) => t < start)?.close ?? page.before
  return {
    ...page,
    klines: page.klines.filter(({ t }) => t >= start && t < end && t % length === 0),
    before,
    oldestAvailable: page.oldestAvailable === null ? null : Math.floor(page.oldestAvailable / length) * length
  }
}

const unused = () => Effect.die(new Error("the scripted venue does not trade"))

export class ScriptedVenue {
  listing: VenueListing = { version: 1, at: 0, markets: [market("BTC-USDC-PERP")], stakingMarkets: [] }
  offers: ReadonlyArray<VenueOffer> = []
  at = 0
  page: KlinePage = { klines: [], before: null, oldestAvailable: null, asOf: 0 }
  /** The answer to a query of klines. */
  pageOf: (window: KlineWindow) => KlinePage = (window) => within(this.page, window)
  /** The queried windows, oldest first. */
  readonly windows: Array<KlineWindow> = []
  readonly snapshots: Array<Subscription> = []
  readonly subscribed: Array<ReadonlyArray<Subscription>> = []
  listings = 0
  /** False: the venue answers nothing. Open connections stay open. */
  reachable = true
  /** The snapshot of a subscription; null: it has none. */
  snapshotOf: (subscription: Subscription) => ChannelMessage | null = () => null
  version = venueStreamVersion
  /** Lines at the start of each connection. */
  greeting: ReadonlyArray<Line> = []
  private readonly connections = new Set<Connection>()

  get open(): number {
    return this.connections.size
  }

  beat(number = 0): VenueHeartbeat {
    return { heartbeat: true, version: this.version, number, at: this.at }
  }

  /** Sends lines to every connection. */
  publish(...lines: ReadonlyArray<Line>): void {
    for (const connection of this.connections) Queue.offerAllUnsafe(connection, lines)
  }

  /** Ends every connection. */
  drop(): void {
    const cause = Cause.fail(new VenueUnanswered({ reason: "the script drops it" }))
    for (const connection of this.connections) Queue.failCauseUnsafe(connection, cause)
  }

  private answered<A>(value: () => A): Effect.Effect<A, VenueUnanswered> {
    return Effect.suspend(() =>
      this.reachable ? Effect.sync(value) : Effect.fail(new VenueUnanswered({ reason: "the script says so" }))
    )
  }

  readonly port: VenueShape = {
    listing: this.answered(() => {
      this.listings++
      return this.listing
    }),
    offers: this.answered(() => ({ offers: this.offers, at: this.at })),
    clock: this.answered(() => this.at),
    snapshot: (subscription) =>
      Effect.flatMap(
        this.answered(() => {
          this.snapshots.push(subscription)
          return this.snapshotOf(subscription)
        }),
        (found) =>
          found === null ? Effect.fail(new VenueUnanswered({ reason: "no snapshot" })) : Effect.succeed(found)
      ),
    klines: (window) =>
      this.answered(() => {
        this.windows.push(window)
        return this.pageOf(window)
      }),
    account: unused,
    accountEvents: unused,
    orderFills: unused,
    lookup: unused,
    voidRefs: unused,
    write: unused,
    // An open stream without events.
    events: () =>
      this.reachable
        ? Stream.concat(
            Stream.sync(() => this.beat()),
            Stream.never
          )
        : Stream.fail(new VenueUnanswered({ reason: "the script says so" })),
    marketData: (subscriptions) =>
      Stream.callback<Line, VenueUnanswered>((queue) =>
        Effect.acquireRelease(
          Effect.suspend(() => {
            if (!this.reachable) {
              return Effect.asVoid(Queue.fail(queue, new VenueUnanswered({ reason: "the script says so" })))
            }
            this.subscribed.push(subscriptions)
            this.connections.add(queue as Connection)
            return Effect.asVoid(Queue.offerAll(queue, [this.beat(), ...this.greeting]))
          }),
          () => Effect.sync(() => void this.connections.delete(queue as Connection))
        )
      )
  }

  readonly layer = Layer.succeed(Venue, this.port)
}
