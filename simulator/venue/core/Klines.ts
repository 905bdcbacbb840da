/**
 * Klines of one market: two days by the minute, a hundred days by the hour, buckets with trades alone; longer intervals are
 * combined from these. A knock-out market has no trades: there the mark moves the prices, and opened contracts give volume and
 * count. Old buckets are dropped by whole days, so that a bucket of a longer interval is never partial (A2-05, A2-113).
 */
import {
  type Kline,
  type KlineInterval,
  klineIntervals,
  type KlinePage
} from "../../../src/machines/venue/marketData.ts"
import type { Market } from "./Market.ts"
import { textOf } from "./texts.ts"

/** Times in Unix ms, prices in ticks, volume in lots. */
export type Bucket = readonly [
  t: number,
  open: number,
  high: number,
  low: number,
  close: number,
  volume: number,
  trades: number
]

export interface SeriesState {
  readonly buckets: ReadonlyArray<Bucket>
  /** The close of the newest dropped bucket; null: none was dropped. */
  readonly before: number | null
}

export interface KlinesState {
  readonly minutes: SeriesState
  readonly hours: SeriesState
}

const minute = klineIntervals["1m"]
const hour = klineIntervals["1h"]
const day = klineIntervals["1d"]
const minuteDays = 2
const hourDays = 100

export class Klines {
  private readonly minutes: Series
  private readonly hours: Series

  constructor(state?: KlinesState) {
    this.minutes = new Series(minute, minuteDays, state?.minutes)
    this.hours = new Series(hour, hourDays, state?.hours)
  }

  /** Adds a trade to the bucket of its time, Unix ms; the price is in ticks. */
  trade(at: number, price: number, lots: number): void {
    this.minutes.add(at, price, lots, 1)
    this.hours.add(at, price, lots, 1)
  }

  /** Adds a mark of a knock-out market. */
  mark(at: number, price: number): void {
    this.minutes.add(at, price, 0, 0)
    this.hours.add(at, price, 0, 0)
  }

  /** Lots of the last 24 hours, to the minute. */
  volume24h(now: number): number {
    return this.minutes.volumeAfter(now - day)
  }

  /** A window of at most `limit` buckets, empty ones counted, bounds in Unix ms; `from` inclusive, `to` exclusive. */
  page(
    market: Market,
    window: {
      readonly interval: KlineInterval
      readonly from: number | null
      readonly to: number | null
      readonly limit: number
    },
    now: number
  ): KlinePage {
    const { interval, limit } = window
    const length = klineIntervals[interval]
    const series = length < hour ? this.minutes : this.hours
    const first = series.oldest(length)
    if (first === null) return { klines: [], before: null, oldestAvailable: null, asOf: now }
    const end = Math.min(window.to ?? Number.POSITIVE_INFINITY, now + 1)
    // Excludes the first bucket that opens at or after `end`.
    const after = Math.ceil(end / length) * length
    const from = window.from === null ? after - limit * length : Math.floor(window.from / length) * length
    const until = Math.min(after, from + limit * length)
    const { rows, before } =
      until <= first ? { rows: [], before: null } : series.between(Math.max(from, first), until, length)
    return {
      klines: rows.map((row) => klineOf(market, row)),
      before: before === null ? null : textOf(before, market.tickDecimals),
      oldestAvailable: first,
      asOf: now
    }
  }

  state(): KlinesState {
    return { minutes: this.minutes.state(), hours: this.hours.state() }
  }
}

/** Buckets of one length, oldest first, over a number of days. */
class Series {
  private readonly length: number
  private readonly days: number
  private buckets: Array<Bucket>
  private before: number | null
  /** Lots of the buckets from `counted` on: those of the last 24 hours. */
  private volume = 0
  private counted = 0

  constructor(length: number, days: number, state: SeriesState = { buckets: [], before: null }) {
    this.length = length
    this.days = days
    this.buckets = [...state.buckets]
    this.before = state.before
    for (const bucket of this.buckets) this.volume += bucket[5]
  }

  add(at: number, price: number, lots: number, trades: number): void {
    const t = Math.floor(at / this.length) * this.length
    const last = this.buckets.at(-1)
    this.volume += lots
    if (last?.[0] === t) {
      const [, open, high, low, , volume, count] = last
      this.buckets[this.buckets.length - 1] = [
        t,
        open,
        Math.max(high, price),
        Math.min(low, price),
        price,
        volume + lots,
        count + trades
      ]
      return
    }
    this.buckets.push([t, price, price, price, price, lots, trades])
    const oldest = this.buckets[0]
    const kept = Math.floor(t / day) * day - this.days * day
    // Drops a whole day at a time, so that drops are rare.
    if (oldest !== undefined && oldest[0] < kept) this.drop(kept)
  }

  volumeAfter(time: number): number {
    for (;;) {
      const bucket = this.buckets[this.counted]
      if (bucket === undefined || bucket[0] + this.length > time) return this.volume
      this.volume -= bucket[5]
      this.counted++
    }
  }

  /** The opening time of the first bucket of a length, Unix ms; null without a bucket. */
  oldest(length: number): number | null {
    const first = this.buckets[0]
    return first === undefined ? null : Math.floor(first[0] / length) * length
  }

  /** Buckets of a length that open in a window, and the close before it. */
  between(
    from: number,
    until: number,
    length: number
  ): { readonly rows: Array<Bucket>; readonly before: number | null } {
    let at = this.place(from)
    const before = at === 0 ? this.before : (this.buckets[at - 1]?.[4] ?? null)
    const rows: Array<Bucket> = []
    for (let bucket = this.buckets[at]; bucket !== undefined && bucket[0] < until; bucket = this.buckets[++at]) {
      const t = Math.floor(bucket[0] / length) * length
      const last = rows.at(-1)
      if (last?.[0] === t) rows[rows.length - 1] = joined(last, bucket)
      else rows.push([t, ...(bucket.slice(1) as Tail)])
    }
    return { rows, before }
  }

  state(): SeriesState {
    return { buckets: [...this.buckets], before: this.before }
  }

  private drop(kept: number): void {
    const count = this.place(kept)
    this.before = this.buckets[count - 1]?.[4] ?? this.before
    for (let at = this.counted; at < count; at++) this.volume -= this.buckets[at]?.[5] ?? 0
    this.buckets = this.buckets.slice(count)
    this.counted = Math.max(0, this.counted - count)
  }

  /** Index of the first bucket that opens at or after a time. */
  private place(time: number): number {
    let low = 0
    let high = this.buckets.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.buckets[middle] as Bucket)[0] < time) low = middle + 1
      else high = middle
    }
    return low
  }
}

type Tail = [number, number, number, number, number, number]

const joined = ([t, open, high, low, , volume, trades]: Bucket, next: Bucket): Bucket => [
  t,
  open,
  Math.max(high, next[2]),
  Math.min(low, next[3]),
  next[4],
  volume + next[5],
  trades + next[6]
]

const klineOf = (market: Market, [t, open, high, low, close, volume, trades]: Bucket): Kline => {
  const price = (ticks: number): string => textOf(ticks, market.tickDecimals)
  return {
    t,
    open: price(open),
    high: price(high),
    low: price(low),
    close: price(close),
    volume: textOf(volume, market.lotDecimals),
    trades
  }
}
