/** The marks of one market: by second, by minute and, for more than two days, by hour. Prices of trades are checked against them. */
import { bandOfMarks, marksAboutMillis, type PriceBand } from "../../../machines/market/PriceBand.ts"
import type { MoneyDecimal } from "../../../machines/shared/Money.ts"

/** The number of spans of each length that are kept. */
const spansKept = 64

/** The marks of one span of time. Lost marks end a span. */
interface Span {
  readonly number: number
  readonly from: number
  to: number
  low: MoneyDecimal
  high: MoneyDecimal
  /** Marks between this span and the one before were lost. */
  readonly isAfterLoss: boolean
}

export class RecentMarks {
  private readonly seconds = new Spans(1_000)
  private readonly minutes = new Spans(60_000)
  private readonly hours = new Spans(3_600_000)

  /** Adds a mark with its time at the venue, Unix ms. `isAfterLoss`: marks between the last one and this one were lost. */
  add(price: MoneyDecimal, at: number, isAfterLoss: boolean): void {
    this.seconds.add(price, at, isAfterLoss)
    this.minutes.add(price, at, isAfterLoss)
    this.hours.add(price, at, isAfterLoss)
  }

  /** The band of the marks around a moment. Null: some of these marks are unknown. */
  bandAt(at: number, bps: number): PriceBand | null {
    const finest = [this.seconds, this.minutes].find((spans) => spans.reach(at)) ?? this.hours
    return finest.bandAt(at, bps)
  }
}

/** Spans of one length. */
class Spans {
  /** Oldest first. */
  private readonly kept: Array<Span> = []
  private readonly millis: number

  constructor(millis: number) {
    this.millis = millis
  }

  /** A mark that is older than the newest one is ignored. */
  add(price: MoneyDecimal, at: number, isAfterLoss: boolean): void {
    const { kept } = this
    const newest = kept.at(-1)
    if (newest !== undefined && at < newest.to) return
    const number = Math.floor(at / this.millis)
    if (newest === undefined || newest.number !== number || isAfterLoss) {
      if (kept.length === spansKept) kept.shift()
      kept.push({ number, from: at, to: at, low: price, high: price, isAfterLoss })
      return
    }
    newest.to = at
    // A repeated mark is usually the same object.
    if (price !== newest.low && price.lt(newest.low)) newest.low = price
    if (price !== newest.high && price.gt(newest.high)) newest.high = price
  }

  /** Whether the spans go back to all marks around a moment. */
  reach(at: number): boolean {
    const [oldest] = this.kept
    return oldest !== undefined && oldest.from <= at - marksAboutMillis
  }

  /** As above. The marks are known from one before the moment on; the band is whole with another one at the moment or later. */
  bandAt(at: number, bps: number): PriceBand | null {
    const [start, end] = [at - marksAboutMillis, at + marksAboutMillis]
    let [before, after] = [false, false]
    let low: MoneyDecimal | null = null
    let high: MoneyDecimal | null = null
    for (let n = this.kept.length - 1; n >= 0; n--) {
      const each = this.kept[n] as Span
      const earlier = this.kept[n - 1]
      if (each.isAfterLoss && each.from > start && (earlier === undefined || earlier.to < end)) return null
      if (each.from > end) continue
      if (each.to < start) break
      before ||= each.from < at
      after ||= each.to >= at
      if (low === null || each.low.lt(low)) low = each.low
      if (high === null || each.high.gt(high)) high = each.high
    }
    return before && low !== null && high !== null ? { ...bandOfMarks(low, high, bps), isWhole: after } : null
  }
}
