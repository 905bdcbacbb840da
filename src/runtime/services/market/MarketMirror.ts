/**
 * The venue's latest market data, in memory: listing, tickers, books, trades. Each message is checked before it is
 * applied (A2-115). The newest message wins, and a channel with a lost message waits for a snapshot (A2-02, F30). No
 * IO: the feed passes messages in, and acts on the results.
 */
import { type Facts, type Instrument, type Mark, noFacts, type RecentMarket } from "../../../machines/market/Facts.ts"
import type { MarketTerms } from "../../../machines/market/marketTerms.ts"
import { type Grid, gridOf } from "../../../machines/market/Grid.ts"
import type { BookMessage, ChannelMessage, TradesMessage } from "../../../machines/venue/marketData.ts"
import type { ReadListing } from "../../../machines/market/believedListing.ts"
import type { VenueListing, VenueMarket } from "../../../machines/venue/VenueMarket.ts"
import type { Subscription } from "../../ports/Venue.ts"
import { RecentMarks } from "./RecentMarks.ts"
import { type LastListingShape, makeLastListing, textOf } from "./LastListing.ts"
import { BookMirror, wrongChecksum } from "./BookMirror.ts"
import { TickerMirror } from "./TickerMirror.ts"
import { TradeTape } from "./TradeTape.ts"

/** The most stored marks of markets that are no longer listed or whose grids have changed. */
const pastMarks = 4_096
/** The most messages of a channel that wait for a snapshot. */
const heldMessages = 256

/** The result of a message. `resync`: its channel needs a snapshot. `absurd`: the reason why the message was not applied. */
export interface Taken {
  readonly resync: boolean
  readonly absurd: string | null
}

const applied: Taken = { resync: false, absurd: null }
const lostPlace: Taken = { resync: true, absurd: null }

/** A channel that begins with a snapshot and continues with updates. */
interface Followed<M> {
  readonly mirror: { take(message: M, latest: number): string | null }
  seq: number
  /** False before the first snapshot, and after a gap. */
  current: boolean
  /** Messages that arrived while the channel waits for a snapshot, in order. */
  held: Array<M>
}

export interface ListedMarket {
  readonly market: VenueMarket
  readonly price: Grid
  readonly qty: Grid
  readonly instrument: Instrument
  readonly ticker: TickerMirror
  readonly book: BookMirror
  readonly trades: TradeTape
  readonly following: { readonly book: Followed<BookMessage>; readonly trades: Followed<TradesMessage> }
}

export interface MirrorCounts {
  applied: number
  /** The number of ignored messages: duplicates, and messages older than one that was already applied. */
  old: number
  gaps: number
  wrongChecksums: number
  absurd: number
}

/** The number of markets above which the recent marks of delisted markets are dropped, oldest first. */
const markedMost = 4_096

type MarkListener = (symbol: string, mark: Mark) => void

export class MarketMirror {
  /** The accepted listing; null: no possible listing was read yet. */
  listing: VenueListing | null = null
  /** The number of markets that keep their last possible state, because the last listing is impossible for them. */
  kept = 0
  /** The text of the last listing as it was read. */
  private read = ""
  /** Listed markets by symbol. */
  markets: ReadonlyMap<string, ListedMarket> = new Map()
  readonly counts: MirrorCounts = { applied: 0, old: 0, gaps: 0, wrongChecksums: 0, absurd: 0 }
  /** The number of changes to tickers, facts or the listing. */
  changes = 0
  /** The last marks of delisted markets, and of markets without a mark since their listing. All of these marks are stale. */
  private readonly past = new Map<string, Mark>()
  private readonly listeners: Array<MarkListener> = []
  private marks: { readonly of: number; readonly all: Facts["marks"] } = { of: -1, all: new Map() }
  /** The same map until the listing changes, so that results computed from it stay valid. */
  private instruments: Facts["instruments"] = new Map()

  private readonly terms: MarketTerms
  private readonly last: LastListingShape
  private readonly recent: RecentMarket
  /**
   * Recent marks, by which prices are checked. They outlive the listing of a market, because its settlement comes after
   * it.
   */
  private readonly marked = new Map<string, { readonly recent: RecentMarks; readonly bandBps: number }>()

  constructor(terms: MarketTerms, last: LastListingShape = makeLastListing()) {
    this.terms = terms
    this.last = last
    this.recent = {
      bandAt: (symbol, at, bps) => {
        const found = this.marked.get(symbol)
        return found === undefined ? null : found.recent.bandAt(at, bps ?? found.bandBps)
      },
      bandNear: (symbol, at, bps) => this.marked.get(symbol)?.recent.bandNear(at, bps) ?? null,
      isListed: last.isListed
    }
  }

  /** Calls `listener` with every new mark. The call blocks the feed, so it must be short. */
  onMark(listener: MarkListener): void {
    this.listeners.push(listener)
  }

  /**
   * Applies a listing. Markets that stay listed keep their data. A market whose part is impossible keeps its last
   * possible state. Returns a sentence for each impossible part.
   */
  list(read: ReadListing): ReadonlyArray<string> {
    const { listing, faults, kept } = this.last.believe(read)
    this.read = textOf(read)
    this.kept = kept
    if (listing.markets.length + listing.stakingMarkets.length === 0) return faults
    const markets = new Map<string, ListedMarket>()
    for (const market of listing.markets) {
      if (market.delisted) continue
      const before = this.markets.get(market.symbol)
      const price = gridOf(market.priceTick)
      const qty = gridOf(market.qtyStep)
      if (price === null || qty === null) throw new Error(`${market.symbol} is believed without grids`)
      if (before !== undefined && sameGrids(before.market, market)) {
        markets.set(market.symbol, { ...before, market })
      } else {
        markets.set(
          market.symbol,
          listed(market, price, qty, this.marked.get(market.symbol)?.recent ?? new RecentMarks())
        )
      }
      const { recent } = (markets.get(market.symbol) as ListedMarket).ticker
      this.marked.set(market.symbol, { recent, bandBps: market.bandBps })
    }
    for (const [symbol, { ticker }] of this.markets) {
      const mark = ticker.mark()
      if (mark !== null && markets.get(symbol)?.ticker !== ticker) this.remember(symbol, mark)
    }
    for (const symbol of this.marked.keys()) {
      if (this.marked.size <= markedMost) break
      if (!markets.has(symbol)) this.marked.delete(symbol)
    }
    this.listing = listing
    this.markets = markets
    this.instruments = new Map(Array.from(markets, ([symbol, { instrument }]) => [symbol, instrument]))
    this.changes++
    return faults
  }

  /**
   * True if a listing equals the last one that was read. The whole text is compared, because a restarted venue, or
   * another one at the same address, restarts its version numbers.
   */
  isListed(listing: ReadListing): boolean {
    return this.listing !== null && this.read === textOf(listing)
  }

  /** Records that the venue has sent the same listing again. */
  relist(read: ReadListing): void {
    this.last.believe(read)
  }

  /** Records that the listing applied last still held at a venue time. */
  confirm({ at }: Pick<ReadListing, "at">): void {
    this.last.confirm(this.read, at)
  }

  /** The subscriptions: one per market and channel. A knock-out market has no book (A2-113). */
  subscriptions(): ReadonlyArray<Subscription> {
    return [...this.markets.values()].flatMap(({ market: { symbol, family } }) => [
      { channel: "ticker" as const, symbol },
      ...(family === "BARRIER" ? [] : [{ channel: "book" as const, symbol }]),
      { channel: "trades" as const, symbol }
    ])
  }

  /** Restores marks that an earlier process stored. Each values its market until the market's next mark. */
  recall(marks: ReadonlyMap<string, Mark>): void {
    for (const [symbol, mark] of marks) this.remember(symbol, mark)
    this.changes++
  }

  /** The subscriptions as text, which changes if a market is added, removed, or gets other grids. */
  subscribed(): string {
    return [...this.markets.values()]
      .map(({ market: { symbol, family, priceTick, qtyStep } }) => [symbol, family, priceTick, qtyStep].join(":"))
      .join(" ")
  }

  /** Applies a message. `latest`: the latest possible time of a message, Unix ms of business time. */
  take(message: ChannelMessage, latest: number): Taken {
    const market = this.markets.get(message.symbol)
    if (market === undefined) return this.refused("its market is not listed")
    if (message.ts > latest) return this.refused("the message is of a time to come")
    switch (message.channel) {
      case "ticker": {
        const { ticker } = market
        if (ticker.current && message.seq <= ticker.seq) return this.old()
        if (ticker.current && message.seq > ticker.seq + 1) this.counts.gaps++
        const absurd = ticker.take(message)
        if (absurd !== null) return this.refused(absurd)
        this.counts.applied++
        this.changes++
        const mark = ticker.mark()
        if (mark !== null) for (const listener of this.listeners) listener(message.symbol, mark)
        return applied
      }
      case "book":
        return this.follow(market.following.book, message, latest)
      case "trades":
        return this.follow(market.following.trades, message, latest)
    }
  }

  /** Handles the loss of the connection: every channel needs a snapshot, and marks are stale until then (F3). */
  lost(): void {
    for (const { ticker, following } of this.markets.values()) {
      ticker.lost()
      for (const channel of [following.book, following.trades]) {
        channel.current = false
        channel.held = []
      }
    }
    this.changes++
  }

  isCurrent({ channel, symbol }: Subscription): boolean {
    const market = this.markets.get(symbol)
    if (market === undefined) return true
    return channel === "ticker" ? market.ticker.current : market.following[channel].current
  }

  /** The facts of a moment; `now` null: no venue is attached. Calls without a change in between return the same maps. */
  factsAt(now: number | null, venueTime = noFacts.venueTime): Facts {
    if (this.marks.of !== this.changes) this.marks = { of: this.changes, all: this.marksNow() }
    return {
      takenAt: now,
      venueTime,
      marks: this.marks.all,
      instruments: this.instruments,
      terms: this.terms,
      recent: this.recent
    }
  }

  private marksNow(): Facts["marks"] {
    const marks = new Map(this.past)
    for (const [symbol, { ticker }] of this.markets) {
      const mark = ticker.mark()
      if (mark !== null) marks.set(symbol, mark)
    }
    return marks
  }

  private remember(symbol: string, mark: Mark): void {
    this.past.delete(symbol)
    const [oldest] = this.past.keys()
    if (this.past.size === pastMarks && oldest !== undefined) this.past.delete(oldest)
    this.past.set(symbol, { ...mark, current: false })
  }

  private follow<M extends BookMessage | TradesMessage>(channel: Followed<M>, message: M, latest: number): Taken {
    if (message.kind === "snapshot") {
      if (channel.current && message.seq <= channel.seq) return this.old()
      return this.restart(channel, message, latest)
    }
    if (!channel.current) {
      if (channel.held.length === heldMessages) channel.held.shift()
      channel.held.push(message)
      return applied
    }
    if (message.seq <= channel.seq) return this.old()
    if (message.seq > channel.seq + 1) {
      this.counts.gaps++
      return this.wait(channel, [message])
    }
    return this.apply(channel, message, latest)
  }

  /** Applies a snapshot to a channel, and then the messages that arrived while the snapshot was requested. */
  private restart<M extends BookMessage | TradesMessage>(channel: Followed<M>, snapshot: M, latest: number): Taken {
    const taken = this.apply(channel, snapshot, latest)
    if (taken !== applied) return taken
    const held = channel.held.filter(({ seq }) => seq > snapshot.seq)
    channel.held = []
    channel.current = true
    for (const [at, message] of held.entries()) {
      if (message.seq <= channel.seq) continue
      if (message.seq > channel.seq + 1) return this.wait(channel, held.slice(at))
      const next = this.apply(channel, message, latest)
      if (next !== applied) return next
    }
    return applied
  }

  private apply<M extends BookMessage | TradesMessage>(channel: Followed<M>, message: M, latest: number): Taken {
    const wrong = channel.mirror.take(message, latest)
    if (wrong === null) {
      channel.seq = message.seq
      this.counts.applied++
      return applied
    }
    this.wait(channel, [])
    if (wrong !== wrongChecksum) return { ...this.refused(wrong), resync: true }
    this.counts.wrongChecksums++
    return lostPlace
  }

  private wait<M>(channel: Followed<M>, held: Array<M>): Taken {
    channel.current = false
    channel.held = held
    return lostPlace
  }

  private old(): Taken {
    this.counts.old++
    return applied
  }

  private refused(absurd: string): Taken {
    this.counts.absurd++
    return { resync: false, absurd }
  }
}

const sameGrids = (before: VenueMarket, now: VenueMarket): boolean =>
  before.priceTick === now.priceTick && before.qtyStep === now.qtyStep && before.family === now.family

const listed = (market: VenueMarket, price: Grid, qty: Grid, recent: RecentMarks): ListedMarket => {
  const { symbol, family, assetClass } = market
  const book = new BookMirror(symbol, price, qty)
  const trades = new TradeTape(symbol, price, qty)
  return {
    market,
    price,
    qty,
    instrument: {
      symbol,
      family,
      assetClass,
      priceDecimals: price.decimals,
      qtyDecimals: qty.decimals,
      priceTick: price,
      bandBps: market.bandBps
    },
    ticker: new TickerMirror(market, price, qty, recent),
    book,
    trades,
    following: {
      book: { mirror: book, seq: 0, current: false, held: [] },
      trades: { mirror: trades, seq: 0, current: false, held: [] }
    }
  }
}
