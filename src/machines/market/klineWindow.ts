/**
 * The window of klines that is asked for, from the venue's page of it: which buckets there are (A2-05), those without trades
 * filled with the close before them (A2-04), and whether any of the window were cut off.
 */
import { type Kline, type KlineInterval, klineIntervals, type KlinePage } from "../venue/marketData.ts"
import type { KlineWire } from "./MarketWire.ts"

export interface KlineAsk {
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
  /** Open of the first bucket. */
  readonly start: number
  /** Open of the first bucket behind the last. */
  readonly end: number
  readonly hasMore: boolean
}

/** What of the window there is: from the first bucket ever to the one that is open, cut to the limit. */
const spanOf = ({ interval, from, to, limit }: KlineAsk, oldest: number, asOf: number): Span => {
  const length = klineIntervals[interval]
  const floor = (time: number): number => Math.floor(time / length) * length
  const open = floor(asOf)
  // A bucket that opens at `to` is out.
  const end = to === null ? open + length : Math.min(open + length, Math.ceil(to / length) * length)
  const start = from === null ? oldest : Math.max(oldest, floor(from))
  const count = Math.max(0, (end - start) / length)
  if (count <= limit) return { start, end, hasMore: false }
  return from === null
    ? { start: end - limit * length, end, hasMore: true }
    : { start, end: start + limit * length, hasMore: true }
}

/** The buckets of a window, oldest first. */
export const bucketsOf = (ask: KlineAsk, page: KlinePage): KlineBuckets => {
  if (page.oldestAvailable === null) return { klines: [], hasMore: false }
  const length = klineIntervals[ask.interval]
  const open = Math.floor(page.asOf / length) * length
  const { start, end, hasMore } = spanOf(ask, page.oldestAvailable, page.asOf)
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

/** The close that the first bucket begins with, when nothing was traded in it. */
const closeBefore = ({ klines, before }: KlinePage, start: number): string | null =>
  klines.findLast(({ t }) => t < start)?.close ?? before

const quiet = (t: number, close: string | null): Kline | null =>
  close === null ? null : { t, open: close, high: close, low: close, close, volume: "0", trades: 0 }

/**
 * What the venue is asked: a window that begins before all there is asks for the beginning, once it is known, because the
 * venue counts its buckets from `from` on.
 */
export const askedAgain = (ask: KlineAsk, { oldestAvailable }: KlinePage): KlineAsk | null =>
  ask.from !== null && oldestAvailable !== null && ask.from < oldestAvailable && oldestAvailable < (ask.to ?? Infinity)
    ? { ...ask, from: oldestAvailable }
    : null
