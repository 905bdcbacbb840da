/**
 * The marks of one market by second, by minute, and by hour for more than two days. The prices of trades are checked
 * against them.
 */
import { bandOfMarks, marksAboutMillis, type PriceBand } from "../../../machines/market/PriceBand.ts"
import type { MoneyDecimal } from "../../../machines/shared/Money.ts"

/** The number of seconds, minutes and hours that are kept. */
const numbersKept = 64
/**
 * The most spans into which lost marks divide a second, a minute or an hour. The limit is needed because the venue can
 * cause any number of losses.
 */
const partsKept = 4
/**
 * The age up to which a mark before a moment stands for marks that were lost after it, ms. A longer gap is an outage:
 * the band is unknown.
 */
const outageMillis = 60_000

/** The marks of one span of time. A loss of marks ends a span. */
interface Span {
  readonly number: number
  readonly from: number
  to: number
  low: MoneyDecimal
  high: MoneyDecimal
  /** True: marks were lost between the previous span and this one. */
  readonly isAfterLoss: boolean
  /** The place of this span among those of the same second, minute or hour. */
  readonly part: number
  /** True: marks were also lost within this span, because its second, minute or hour may have no further span. */
  isTorn: boolean
}

export class RecentMarks {
  private readonly seconds = new Spans(1_000)
  private readonly minutes = new Spans(60_000)
  private readonly hours = new Spans(3_600_000)
  private newest = -Infinity

  /**
   * Adds a mark with its time at the venue, Unix ms. `isAfterLoss`: marks between the previous mark and this mark were
   * lost. False: the mark is older than the newest mark.
   */
  add(price: MoneyDecimal, at: number, isAfterLoss: boolean): boolean {
    for (const spans of [this.seconds, this.minutes, this.hours]) spans.add(price, at, isAfterLoss)
    if (at < this.newest) return false
    this.newest = at
    return true
  }

  /** The band of the marks around a moment. Null: some of these marks are unknown. */
  bandAt(at: number, bps: number): PriceBand | null {
    return this.finest(at).bandAt(at, bps)
  }

  /**
   * The band of the known marks nearest to a moment, even if marks were lost. Null: no mark of the minute before the
   * moment is known.
   */
  bandNear(at: number, bps: number): PriceBand | null {
    return this.finest(at).bandNear(at, bps)
  }

  private finest(at: number): Spans {
    return [this.seconds, this.minutes].find((spans) => spans.reach(at)) ?? this.hours
  }
}

const widen = (span: Span | undefined, price: MoneyDecimal): void => {
  // Marks that repeat are usually the same object.
  if (span === undefined || price === span.low || price === span.high) return
  if (price.lt(span.low)) span.low = price
  if (price.gt(span.high)) span.high = price
}

/** The spans of one length: seconds, minutes or hours. */
class Spans {
  /** Oldest first. */
  private readonly kept: Array<Span> = []
  private readonly millis: number
  /** The number of different seconds, minutes or hours in `kept`. */
  private numbers = 0

  constructor(millis: number) {
    this.millis = millis
  }

  /**
   * Adds a mark. A mark that is at most five seconds older than the newest one widens the span of its time. An older
   * mark is ignored.
   */
  add(price: MoneyDecimal, at: number, isAfterLoss: boolean): void {
    const { kept } = this
    const newest = kept.at(-1)
    if (newest !== undefined && at < newest.to) {
      if (at < newest.to - marksAboutMillis) return
      return widen(
        kept.findLast(({ from }) => from <= at),
        price
      )
    }
    const number = Math.floor(at / this.millis)
    const isNext = newest === undefined || newest.number !== number
    if (isNext || (isAfterLoss && newest.part < partsKept - 1)) {
      if (isNext) this.makePlace()
      const part = isNext ? 0 : newest.part + 1
      kept.push({ number, from: at, to: at, low: price, high: price, isAfterLoss, part, isTorn: false })
      return
    }
    if (isAfterLoss) newest.isTorn = true
    newest.to = at
    widen(newest, price)
  }

  private makePlace(): void {
    const [oldest] = this.kept
    if (oldest === undefined || this.numbers < numbersKept) this.numbers++
    else {
      this.kept.splice(
        0,
        this.kept.findIndex(({ number }) => number !== oldest.number)
      )
    }
  }

  /** True if the spans hold all known marks around a moment. */
  reach(at: number): boolean {
    const [oldest] = this.kept
    return this.numbers < numbersKept || (oldest !== undefined && oldest.from <= at - marksAboutMillis)
  }

  /**
   * Like `RecentMarks.bandAt`. The marks are known if there is a mark before the moment, and none was lost between that
   * mark and the moment. The band is whole if another mark is known at the moment or later. A loss further away only
   * shortens the time that the band covers, because the venue can cause losses at will.
   */
  bandAt(at: number, bps: number): PriceBand | null {
    const { kept } = this
    const nearest = kept.findLastIndex(({ from }) => from < at)
    const before = kept[nearest]
    if (before === undefined || before.to < at - marksAboutMillis) return null
    const next = kept[nearest + 1]
    // A lost mark may have the time of the last mark before the loss, so the band at that time is unknown.
    if (before.to <= at && next?.isAfterLoss === true) return null
    if (before.to >= at && before.isTorn) return null
    let { low, high } = before
    const include = (span: Span): void => {
      if (span.low.lt(low)) low = span.low
      if (span.high.gt(high)) high = span.high
    }
    let isWhole = before.to >= at
    for (let n = nearest + 1; n < kept.length; n++) {
      const span = kept[n] as Span
      if (span.isAfterLoss || span.from > at + marksAboutMillis) break
      include(span)
      isWhole = true
    }
    for (let n = nearest; n > 0 && kept[n]?.isAfterLoss === false; n--) {
      const span = kept[n - 1] as Span
      if (span.to < at - marksAboutMillis) break
      include(span)
    }
    return { ...bandOfMarks(low, high, bps), isWhole }
  }

  /**
   * Like `RecentMarks.bandNear`: includes the nearest marks before and after the moment, and all marks within five
   * seconds. The band is whole if a mark at the moment or later is known.
   */
  bandNear(at: number, bps: number): PriceBand | null {
    const before = this.kept.findLast(({ from }) => from < at)
    if (before === undefined || before.to < at - outageMillis) return null
    const after = this.kept.find(({ to }) => to >= at)
    const about = this.kept.filter(
      (span) =>
        span === before || span === after || (span.to >= at - marksAboutMillis && span.from <= at + marksAboutMillis)
    )
    const low = about.map((span) => span.low).reduce((least, each) => (each.lt(least) ? each : least))
    const high = about.map((span) => span.high).reduce((most, each) => (each.gt(most) ? each : most))
    return { ...bandOfMarks(low, high, bps), isWhole: after !== undefined }
  }
}
