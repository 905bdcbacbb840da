/** The marks of one market in the last minute, by second. Prices of trades are checked against them. */
import { bandOfMarks, marksAboutMillis, type PriceBand } from "../../../machines/market/PriceBand.ts"
import type { MoneyDecimal } from "../../../machines/shared/Money.ts"

/** The number of seconds that are kept. */
const secondsKept = 64

interface Second {
  readonly second: number
  readonly from: number
  to: number
  low: MoneyDecimal
  high: MoneyDecimal
}

export class RecentMarks {
  /** Oldest first. */
  private readonly seconds: Array<Second> = []

  /** Adds a mark with its time at the venue, Unix ms. A mark that is older than the newest one is ignored. */
  add(price: MoneyDecimal, at: number): void {
    const { seconds } = this
    const newest = seconds.at(-1)
    if (newest !== undefined && at < newest.to) return
    const second = Math.floor(at / 1_000)
    if (newest === undefined || newest.second !== second) {
      if (seconds.length === secondsKept) seconds.shift()
      seconds.push({ second, from: at, to: at, low: price, high: price })
      return
    }
    newest.to = at
    // A repeated mark is usually the same object.
    if (price !== newest.low && price.lt(newest.low)) newest.low = price
    if (price !== newest.high && price.gt(newest.high)) newest.high = price
  }

  /** The band of the marks around a moment. Null: no mark lies at or before that moment. */
  bandAt(at: number, bps: number): PriceBand | null {
    const from = Math.floor((at - marksAboutMillis) / 1_000)
    const to = Math.floor((at + marksAboutMillis) / 1_000)
    let [before, after] = [false, false]
    let low: MoneyDecimal | null = null
    let high: MoneyDecimal | null = null
    for (let n = this.seconds.length - 1; n >= 0; n--) {
      const each = this.seconds[n] as Second
      if (each.second > to) continue
      if (each.second < from) break
      before ||= each.from <= at
      after ||= each.to >= at
      if (low === null || each.low.lt(low)) low = each.low
      if (high === null || each.high.gt(high)) high = each.high
    }
    return before && low !== null && high !== null ? { ...bandOfMarks(low, high, bps), isWhole: after } : null
  }
}
