/**
 * One market's newest ticker, checked and on the grid. The row for readers and the mark for turns are computed once per
 * change (A2-02, A2-113, F2, F3).
 */
import type { Mark } from "../../../machines/market/Facts.ts"
import { type Grid, type GridValue, onGrid } from "../../../machines/market/Grid.ts"
import type { FundingWire, TickerRow, TickerWire } from "../../../machines/market/MarketWire.ts"
import { MoneyDecimal } from "../../../machines/shared/Money.ts"
import type { TickerMessage } from "../../../machines/venue/marketData.ts"
import { fundingHoursOf, type VenueMarket } from "../../../machines/venue/VenueMarket.ts"
import { RecentMarks } from "./RecentMarks.ts"

type Prices = Readonly<Record<(typeof priced)[number], string | null>>
const priced = ["last", "mark", "index", "bestBid", "bestAsk"] as const

/** The highest plausible absolute funding rate of one interval. */
const rateLimit = 1

export class TickerMirror {
  seq = 0
  ts = 0
  /** True if the ticker is up to date: false before the first message, and after the connection is lost. */
  current = false
  readonly recent: RecentMarks
  private message: TickerMessage | null = null
  private prices: Prices | null = null
  private volume: string | null = null
  private interest: string | null = null
  private shown: { row: TickerRow; ticker: TickerWire } | null = null
  private kept: Mark | null = null
  /**
   * True if marks may be missing since the last mark: the connection or a message was lost, or the venue sent no mark.
   */
  private hasLostMarks = true
  /** The last known mark, which may be older than the last message, because a message may contain no mark. */
  private marked: Omit<Mark, "current"> | null = null
  private markText: string | null = null
  private readonly market: VenueMarket
  private readonly price: Grid
  private readonly qty: Grid

  constructor(market: VenueMarket, price: Grid, qty: Grid, recent: RecentMarks) {
    this.recent = recent
    this.market = market
    this.price = price
    this.qty = qty
  }

  /** Applies a message. Returns the reason if the message is impossible; nothing has then changed. */
  take(message: TickerMessage): string | null {
    const prices: Record<string, string | null> = {}
    for (const name of priced) {
      const text = message[name]
      const value = text === null ? null : onGrid(text, this.price)
      if (text !== null && (value === null || value.units === 0)) return `the ${name} price ${text} is not on the grid`
      prices[name] = value?.text ?? null
    }
    const volume = onGrid(message.volume24h, this.qty)
    if (volume === null) return `the volume ${message.volume24h} is not on the grid`
    const interest = message.openInterest === null ? null : onGrid(message.openInterest, this.qty)
    if (message.openInterest !== null && interest === null)
      return `the interest ${message.openInterest} is not on the grid`
    if (crossed(message)) return "the best bid is not below the best ask"
    const { funding } = message
    if (funding !== null && [funding.rate, funding.predicted].some((rate) => Math.abs(Number(rate)) > rateLimit)) {
      return `the funding rate ${funding.rate} is absurd`
    }
    if (!this.current || message.seq > this.seq + 1 || message.mark === null) this.hasLostMarks = true
    this.message = message
    this.prices = prices as Prices
    this.volume = amountText(volume)
    this.interest = interest === null ? null : amountText(interest)
    this.seq = message.seq
    this.ts = message.ts
    this.current = true
    if (this.prices.mark !== null) {
      this.marked = this.markedAt(this.prices.mark)
      if (this.recent.add(this.marked.price, this.ts, this.hasLostMarks)) this.hasLostMarks = false
    }
    this.shown = null
    this.kept = null
    return null
  }

  /** A repeated price stays the same object, so that dependent figures compare it by identity. */
  private markedAt(text: string): Omit<Mark, "current"> {
    const before = this.markText === text ? this.marked?.price : undefined
    this.markText = text
    return { price: before ?? new MoneyDecimal(text), places: this.price.decimals, at: this.ts }
  }

  /** Handles the loss of the connection: the mark is stale until the next message (F3). */
  lost(): void {
    this.current = false
    this.kept = null
  }

  /** The last known mark, however old; null before the first. `current` is false when it is stale. */
  mark(): Mark | null {
    if (this.marked === null) return null
    this.kept ??= { ...this.marked, current: this.current && this.prices?.mark !== null }
    return this.kept
  }

  /** The prices for readers; null before the first message. The object stays the same until the next message. */
  show(): TickerWire | null {
    return this.made()?.ticker ?? null
  }

  row(): TickerRow {
    return this.made()?.row ?? noTicker(this.market.symbol)
  }

  index(): string | null {
    return this.prices?.index ?? null
  }

  funding(): FundingWire | null {
    if (this.message === null) return null
    const { symbol, family } = this.market
    const hours = fundingHoursOf(this.market)
    const funding = family === "PERP" ? this.message.funding : null
    const schedule = fundingTimes(hours)
    return {
      symbol,
      fundingRate: funding?.rate ?? null,
      fundingRatePct: funding === null ? null : percentOf(funding.rate),
      predictedFundingRate: funding?.predicted ?? null,
      predictedFundingRatePct: funding === null ? null : percentOf(funding.predicted),
      fundingRateAnnualizedPct: funding === null || hours === 0 ? null : annualized(funding.rate, hours),
      fundingIntervalHours: hours,
      settleCcy: "USDC",
      nextFundingTs: funding?.nextAt ?? 0,
      funding: { schedule, intervalHours: hours }
    }
  }

  private made() {
    const { message, prices } = this
    if (message === null || prices === null) return null
    if (this.shown !== null) return this.shown
    const { symbol, family } = this.market
    const funding = family === "PERP" ? message.funding : null
    const booked = family !== "BARRIER"
    const row = {
      symbol,
      lastPrice: booked ? prices.last : prices.mark,
      markPrice: prices.mark,
      indexPrice: prices.index,
      bestBid: booked ? prices.bestBid : null,
      bestAsk: booked ? prices.bestAsk : null,
      volume24h: this.volume,
      openInterest: family === "PERP" ? (this.interest ?? "0") : null,
      fundingRate: funding?.rate ?? null,
      fundingRatePct: funding === null ? null : percentOf(funding.rate),
      predictedFundingRate: funding?.predicted ?? null,
      nextFundingTs: funding?.nextAt ?? 0
    }
    this.shown = { row, ticker: { code: 0, msg: "ok", data: row, asOfSeq: this.seq, ts: this.ts } }
    return this.shown
  }
}

/** The prices of a market whose ticker is unknown: all null (A2-03). */
export const noTicker = (symbol: string): TickerRow => ({
  symbol,
  lastPrice: null,
  markPrice: null,
  indexPrice: null,
  bestBid: null,
  bestAsk: null,
  volume24h: null,
  openInterest: null,
  fundingRate: null,
  fundingRatePct: null,
  predictedFundingRate: null,
  nextFundingTs: 0
})

/** The times of the day at which funding is paid, UTC (F14). */
export const fundingTimes = (intervalHours: number): ReadonlyArray<string> =>
  intervalHours === 0
    ? []
    : Array.from(
        { length: Math.floor(24 / intervalHours) },
        (_, at) => `${String(at * intervalHours).padStart(2, "0")}:00`
      )

/** A volume or an open interest as decimal text; zero is always "0" (A2-113). */
const amountText = ({ units, text }: GridValue): string => (units === 0 ? "0" : text)

/** A rate in percent, as a plain decimal without trailing zeros (F2). */
const percentOf = (rate: string): string => new MoneyDecimal(rate).mul(100).toString()

const annualized = (rate: string, hours: number): string =>
  new MoneyDecimal(rate)
    .mul(100 * 365 * 24)
    .div(hours)
    .toDecimalPlaces(6)
    .toString()

const crossed = ({ bestBid, bestAsk }: TickerMessage): boolean =>
  bestBid !== null && bestAsk !== null && Number(bestBid) >= Number(bestAsk)
