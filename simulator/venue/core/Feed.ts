/**
 * Market data of one market. A ticker is published every tick and for each mark that decides an event; changes of the book and
 * new trades at most once a tick. Each channel has a sequence of its own. The last published values are kept, so that a
 * snapshot fits the following changes (A2-06, F30).
 */
import { crc32 } from "node:zlib"
import type {
  BookMessage,
  ChannelMessage,
  PublicTrade,
  TickerMessage,
  TradesMessage
} from "../../../src/machines/venue/marketData.ts"
import type { Market } from "./Market.ts"
import { textOf } from "./texts.ts"

type Row = readonly [price: number, quantity: number]
type Texts = ReadonlyArray<readonly [price: string, qty: string]>

/** Levels of a side that are published (`depth`), and those of them that the checksum covers (`checked`). */
const depth = 100
const checked = 25
/** Limit on the trades of a market that its feed keeps. */
export const tradesKept = 500

/** The figures of a ticker without its sequence and time. */
export type Figures = Omit<TickerMessage, "channel" | "kind" | "symbol" | "seq" | "ts">

export interface FeedState {
  readonly ticker: TickerMessage | null
  readonly book: {
    readonly seq: number
    readonly ts: number
    readonly bids: ReadonlyArray<Row>
    readonly asks: ReadonlyArray<Row>
  }
  readonly trades: { readonly seq: number; readonly ts: number; readonly said: ReadonlyArray<PublicTrade> }
  /** Trades that no message has published yet, oldest first. */
  readonly fresh: ReadonlyArray<PublicTrade>
}

const emptyFeed: FeedState = {
  ticker: null,
  book: { seq: 0, ts: 0, bids: [], asks: [] },
  trades: { seq: 0, ts: 0, said: [] },
  fresh: []
}

export class Feed {
  private readonly market: Market
  private readonly listen: (message: ChannelMessage) => void
  private ticker: TickerMessage | null
  private book: FeedState["book"]
  private trades: FeedState["trades"]
  private fresh: Array<PublicTrade>

  constructor(market: Market, listen: (message: ChannelMessage) => void, state: FeedState = emptyFeed) {
    this.market = market
    this.listen = listen
    this.ticker = state.ticker
    this.book = state.book
    this.trades = state.trades
    this.fresh = [...state.fresh]
  }

  /** Adds a public trade; the next tick publishes it. */
  traded(trade: PublicTrade): void {
    this.fresh.push(trade)
    if (this.fresh.length > 2 * tradesKept) this.fresh = this.fresh.slice(-tradesKept)
  }

  /** Publishes the current state of the market; `side` returns the best levels of a side. */
  publish(ts: number, figures: Figures, side: (side: "BUY" | "SELL", levels: number) => ReadonlyArray<Row>): void {
    const { symbol } = this.market
    const seq = (this.ticker?.seq ?? 0) + 1
    this.ticker = { channel: "ticker", kind: "snapshot", symbol, seq, ts, ...figures }
    this.listen(this.ticker)
    this.publishBook(ts, side("BUY", depth), side("SELL", depth))
    this.publishTrades(ts)
  }

  /** Publishes a mark between two ticks, unless the last ticker already shows it for this time. */
  publishMark(ts: number, mark: string): void {
    const { ticker } = this
    if (ticker === null || (ticker.ts === ts && ticker.mark === mark)) return
    this.ticker = { ...ticker, seq: ticker.seq + 1, ts, mark }
    this.listen(this.ticker)
  }

  snapshot(channel: ChannelMessage["channel"]): ChannelMessage | null {
    if (channel === "ticker") return this.ticker
    return channel === "book" ? this.wholeBook() : this.wholeTrades()
  }

  state(): FeedState {
    return { ticker: this.ticker, book: this.book, trades: this.trades, fresh: [...this.fresh] }
  }

  private publishBook(ts: number, bids: ReadonlyArray<Row>, asks: ReadonlyArray<Row>): void {
    const before = this.book
    const changed = { bids: changesOf(before.bids, bids), asks: changesOf(before.asks, asks) }
    if (before.seq > 0 && changed.bids.length + changed.asks.length === 0) return
    this.book = { seq: before.seq + 1, ts, bids, asks }
    const whole = this.wholeBook()
    if (before.seq === 0) return this.listen(whole)
    this.listen({ ...whole, kind: "update", bids: this.texts(changed.bids), asks: this.texts(changed.asks) })
  }

  private publishTrades(ts: number): void {
    const { seq, said } = this.trades
    if (seq > 0 && this.fresh.length === 0) return
    const fresh = this.fresh.slice(-tradesKept).toReversed()
    this.fresh = []
    this.trades = { seq: seq + 1, ts, said: [...fresh, ...said].slice(0, tradesKept) }
    const whole = this.wholeTrades()
    this.listen(seq === 0 ? whole : { ...whole, kind: "update", trades: fresh })
  }

  private wholeBook(): BookMessage {
    const { seq, ts } = this.book
    const [bids, asks] = [this.texts(this.book.bids), this.texts(this.book.asks)]
    const { symbol } = this.market
    return { channel: "book", kind: "snapshot", symbol, seq, ts, bids, asks, checksum: checksumOf(bids, asks) }
  }

  private wholeTrades(): TradesMessage {
    const { seq, ts, said } = this.trades
    return { channel: "trades", kind: "snapshot", symbol: this.market.symbol, seq, ts, trades: said }
  }

  private texts(rows: ReadonlyArray<Row>): Texts {
    const { tickDecimals, lotDecimals } = this.market
    return rows.map(([price, quantity]) => [textOf(price, tickDecimals), textOf(quantity, lotDecimals)] as const)
  }
}

/** Levels that were added, changed or removed (zero), each once. */
const changesOf = (before: ReadonlyArray<Row>, now: ReadonlyArray<Row>): ReadonlyArray<Row> => {
  const gone = new Map(before)
  const changes: Array<Row> = []
  for (const row of now) {
    if (gone.get(row[0]) !== row[1]) changes.push(row)
    gone.delete(row[0])
  }
  for (const price of gone.keys()) changes.push([price, 0])
  return changes
}

/** CRC-32 over price and quantity of bids and asks in turn, best first, as signed 32 bits; 0 for an empty book. */
export const checksumOf = (bids: Texts, asks: Texts): number => {
  const parts: Array<string> = []
  for (let n = 0; n < checked; n++) {
    const [bid, ask] = [bids[n], asks[n]]
    if (bid !== undefined) parts.push(bid[0], bid[1])
    if (ask !== undefined) parts.push(ask[0], ask[1])
  }
  return parts.length === 0 ? 0 : crc32(parts.join(":")) | 0
}
