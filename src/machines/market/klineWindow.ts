/**
 * Cuts the requested window of klines out of the venue's page. The result has the existing buckets; a bucket without trades
 * carries the close before it. It also reports whether the limit cut the window off (A2-05, A2-04).
 */
import { type Kline, type KlineInterval, klineIntervals, type KlinePage } from "../venue/marketData.ts"
import type { KlineWire } from "./MarketWire.ts"

export interface KlineQuery {
  readonly interval: KlineInterval
  /** Unix ms, inclusive; null: not bounded. */
  readonly from: number | null
  /** Unix ms, exclusive; null: not bounded. */
  readonly to: number | null
  readonly limit: number
}

export interface KlineBuckets {
  readonly klines: ReadonlyArray<KlineWire>
  readonly hasMore: boolean
}

interface Span {
  /** Opening time of the first bucket in the window. */
  readonly start: number
  /** Opening time of the first bucket after the window. */
  readonly end: number
  readonly hasMore: boolean
}

/** The existing part of the window: between the market's first bucket and the bucket that is still open, cut to the limit. */
const spanOf = ({ interval, from, to, limit }: KlineQuery, oldest: number, asOf: number): Span => {
  const length = klineIntervals[interval]
  const floor = (time: number): number => Math.floor(time / length) * length
  const open = floor(asOf)
  // `to` is exclusive, so a bucket that opens at `to` is not part of the window.
  const end = to === null ? open + length : Math.min(open + length, Math.ceil(to / length) * length)
  const start = from === null ? oldest : Math.max(oldest, floor(from))
  const count = Math.max(0, (end - start) / length)
  if (count <= limit) return { start, end, hasMore: false }
  return from === null
    ? { start: end - limit * length, end, hasMore: true }
    : { start, end: start + limit * length, hasMore: true }
}

/** The buckets of a window, oldest first; empty if the market has none in it. */
export const bucketsOf = (window: KlineQuery, page: KlinePage): KlineBuckets => {
  if (page.oldestAvailable === null) return { klines: [], hasMore: false }
  const length = klineIntervals[window.interval]
  const open = Math.floor(page.asOf / length) * length
  const { start, end, hasMore } = spanOf(window, page.oldestAvailable, page.asOf)
  const traded = new Map(page.klines.map((row) => [row.t, row]))
  const klines: Array<KlineWire> = []
  let close = closeBefore(page, start)
  for (let t = start; t < end; t += length) {
    const row = traded.get(t) ?? quiet(t, close)
    if (row === null) continue
    close = row.close
    klines.push({ ...row, partial: t === open })
  }
  return { klines, hasMore }
}

/** The close of the last bucket before `start`, which a first bucket without trades takes over; null if none is known. */
const closeBefore = ({ klines, before }: KlinePage, start: number): string | null =>
  klines.findLast(({ t }) => t < start)?.close ?? before

const quiet = (t: number, close: string | null): Kline | null =>
  close === null ? null : { t, open: close, high: close, low: close, close, volume: "0", trades: 0 }

/**
 * The second query to the venue, for a window that begins before the oldest bucket. The query begins at that bucket,
 * because the venue counts its buckets from `from` on. Null when no second query is needed.
 */
export const secondQuery = (window: KlineQuery, { oldestAvailable }: KlinePage): KlineQuery | null =>
  window.from !== null &&
  oldestAvailable !== null &&
  window.from < oldestAvailable &&
  oldestAvailable < (window.to ?? Infinity)
    ? { ...window, from: oldestAvailable }
    : null
