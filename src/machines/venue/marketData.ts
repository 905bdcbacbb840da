/**
 * Market data in the venue's stream. Each market has three channels: `ticker` (every message is complete), `book` and
 * `trades` (a snapshot, then changes). Each channel has its own sequence, which grows by one per message. After a gap in the
 * sequence or a wrong checksum, the reader requests a snapshot (doc 2, GET /klines; A2-02, F30, A2-04, A2-05).
 */
import { Schema } from "effect"
import { DecimalText, Millis, Side, SignedText, Symbol, VenueId } from "./values.ts"

export const channels = ["ticker", "book", "trades"] as const
export type Channel = (typeof channels)[number]

const stamp = { symbol: Symbol, seq: Schema.Int, ts: Millis }

/** All figures of a market except its book. A price is null before the first one; funding is null except on perpetuals. */
export const TickerMessage = Schema.Struct({
  channel: Schema.Literal("ticker"),
  kind: Schema.Literal("snapshot"),
  ...stamp,
  last: Schema.NullOr(DecimalText),
  mark: Schema.NullOr(DecimalText),
  index: Schema.NullOr(DecimalText),
  bestBid: Schema.NullOr(DecimalText),
  bestAsk: Schema.NullOr(DecimalText),
  volume24h: DecimalText,
  openInterest: Schema.NullOr(DecimalText),
  /** `rate` and `predicted` are fractions per interval. */
  funding: Schema.NullOr(Schema.Struct({ rate: SignedText, predicted: SignedText, nextAt: Millis }))
})
export type TickerMessage = typeof TickerMessage.Type

const levels = Schema.Array(Schema.Tuple([DecimalText, DecimalText]))

/**
 * Up to 100 levels per side, best first. In an update, quantity 0 removes a level, and `checksum` is that of the book after
 * the update.
 */
export const BookMessage = Schema.Struct({
  channel: Schema.Literal("book"),
  kind: Schema.Literals(["snapshot", "update"]),
  ...stamp,
  bids: levels,
  asks: levels,
  checksum: Schema.Int
})
export type BookMessage = typeof BookMessage.Type

export const tradeFlags = ["LIQUIDATION", "BLOCK"] as const

export const PublicTrade = Schema.Struct({
  id: VenueId,
  price: DecimalText,
  qty: DecimalText,
  /** The side of the taker. */
  side: Side,
  flags: Schema.Array(Schema.Literals(tradeFlags)),
  ts: Millis
})
export type PublicTrade = typeof PublicTrade.Type

/** A snapshot has the newest 500 trades, newest first. An update has the trades since the previous message. */
export const TradesMessage = Schema.Struct({
  channel: Schema.Literal("trades"),
  kind: Schema.Literals(["snapshot", "update"]),
  ...stamp,
  trades: Schema.Array(PublicTrade)
})
export type TradesMessage = typeof TradesMessage.Type

export const ChannelMessage = Schema.Union([TickerMessage, BookMessage, TradesMessage])
export type ChannelMessage = typeof ChannelMessage.Type

/** Intervals of klines and their length in ms. */
export const klineIntervals = {
  "1m": 60_000,
  "5m": 300_000,
  "15m": 900_000,
  "30m": 1_800_000,
  "1h": 3_600_000,
  "4h": 14_400_000,
  "1d": 86_400_000
} as const
export type KlineInterval = keyof typeof klineIntervals

export const Kline = Schema.Struct({
  /** The opening time of the bucket, Unix ms. */
  t: Millis,
  open: DecimalText,
  high: DecimalText,
  low: DecimalText,
  close: DecimalText,
  volume: DecimalText,
  trades: Schema.Int
})
export type Kline = typeof Kline.Type

/**
 * A page of klines, oldest first, cut to the limit. Buckets without trades are absent, and readers fill them: `before` is the
 * last close before the first row, or null when no earlier trade exists.
 */
export const KlinePage = Schema.Struct({
  klines: Schema.Array(Kline),
  before: Schema.NullOr(DecimalText),
  oldestAvailable: Schema.NullOr(Millis),
  asOf: Millis
})
export type KlinePage = typeof KlinePage.Type
