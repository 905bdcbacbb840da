/**
 * Market data of a decision: instruments and marks at one moment. A turn takes them once, so that all its rules use the same
 * market. A decision depends on its rows and these facts alone, so it can be simulated and repeated. Prices are exact
 * decimals, never binary floats (doc 2, GET /instruments; F2, F3, A2-115).
 */
import type { MoneyDecimal } from "../shared/Money.ts"
import type { Grid } from "./Grid.ts"
import type { PriceBand } from "./PriceBand.ts"
import { anyTime, type VenueTime } from "../venue/timeChecks.ts"
import { type AssetClass, defaultMarketTerms, type MarketTerms } from "./marketTerms.ts"

export interface Mark {
  readonly price: MoneyDecimal
  /** Decimal places for display, as on the market's grid. */
  readonly places: number
  /** The venue's time of the mark, Unix ms; decides freshness. */
  readonly at: number
  /** False while the feed has lost its sequence and waits for a snapshot: the mark is then stale, whatever its time. */
  readonly current: boolean
}

/** The data of an instrument that margin needs. */
export interface Instrument {
  readonly symbol: string
  readonly family: "PERP" | "SPOT" | "BARRIER"
  readonly assetClass: AssetClass
  /** Decimal places of the instrument's prices and quantities. */
  readonly priceDecimals: number
  readonly qtyDecimals: number
  readonly priceTick: Grid
  /** The largest distance from the mark at which the venue accepts a limit, basis points. */
  readonly bandBps: number
}

export interface Facts {
  /** The business time of the facts, Unix ms; null: no market is attached. */
  readonly takenAt: number | null
  /** The range of times that messages of the venue may have. */
  readonly venueTime: VenueTime
  /** The last known mark by symbol, however old. */
  readonly marks: ReadonlyMap<string, Mark>
  readonly instruments: ReadonlyMap<string, Instrument>
  /** The broker's settings for markets. */
  readonly terms: MarketTerms
  /** The market data that checks of venue messages compare with. */
  readonly recent: RecentMarket
}

/** The known market data of the last days. */
export interface RecentMarket {
  /**
   * The band of the marks around a moment (Unix ms), widened by `bps` or by the market's own band; null when the marks are
   * unknown.
   */
  bandAt(symbol: string, at: number, bps?: number): PriceBand | null
  /**
   * The band of the known marks nearest to a moment, even if marks around it were lost. Null when no mark of the minute
   * before is known.
   */
  bandNear(symbol: string, at: number, bps: number): PriceBand | null
  /**
   * Whether a market (staking markets included) was still listed after `at`, a time of the venue's clock, Unix ms. False when
   * the last listing marks it as delisted, or lacks it. Null when no listing made after `at` is known.
   */
  isListed(symbol: string, at: number): boolean | null
}

/** A market without data. */
export const noRecentMarket: RecentMarket = { bandAt: () => null, bandNear: () => null, isListed: () => null }

/** Facts without a market: accounts hold money only. */
export const noFacts: Facts = {
  takenAt: null,
  venueTime: anyTime,
  marks: new Map(),
  instruments: new Map(),
  terms: defaultMarketTerms,
  recent: noRecentMarket
}

/** The age up to which a mark is fresh, ms. */
export const freshMillis = 10_000

/** Whether a mark is fresh at a moment. */
export const isFresh = (mark: Mark, now: number): boolean => mark.current && now - mark.at <= freshMillis
