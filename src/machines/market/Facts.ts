/**
 * What a decision sees from outside its rows: instruments and marks as they stood at one moment. A turn takes them once,
 * so every rule it asks judges on the same market, and a decision is a function of its rows and these alone: it can be
 * simulated, and decided again. Prices are exact decimals, never binary floats.
 */
import type { MoneyDecimal } from "../shared/Money.ts"
import type { Grid } from "./Grid.ts"
import type { PriceBand } from "./PriceBand.ts"
import { anyTime, type VenueTime } from "../venue/timeChecks.ts"
import { type AssetClass, defaultMarketTerms, type MarketTerms } from "./marketTerms.ts"

/** An instrument's mark. */
export interface Mark {
  readonly price: MoneyDecimal
  /** Decimal places that it is written with: those of its market's grid (F2). */
  readonly places: number
  /** The venue's time of it, Unix ms: what freshness is judged by (F3). */
  readonly at: number
  /** False while the feed has lost its place and waits for a snapshot: stale whatever its time (F3). */
  readonly current: boolean
}

/** What margin needs to know of an instrument (doc 2, GET /instruments). */
export interface Instrument {
  readonly symbol: string
  readonly family: "PERP" | "SPOT" | "BARRIER"
  readonly assetClass: AssetClass
  /** Places that its prices and quantities are written with. */
  readonly priceDecimals: number
  readonly qtyDecimals: number
  readonly priceTick: Grid
  /** The furthest from the mark that the venue accepts a limit, basis points. */
  readonly bandBps: number
}

export interface Facts {
  /** Business time at which they were taken, Unix ms; null: no market is attached. */
  readonly takenAt: number | null
  /** The times that messages of the venue can have (A2-115). */
  readonly venueTime: VenueTime
  /** By symbol; the last one known, however old. */
  readonly marks: ReadonlyMap<string, Mark>
  /** By symbol. */
  readonly instruments: ReadonlyMap<string, Instrument>
  /** What the broker sets on markets. */
  readonly terms: MarketTerms
  /** The market data that checks of venue messages compare with. */
  readonly recent: RecentMarket
}

/** The known market data of the last days. */
export interface RecentMarket {
  /** The band of the marks around a moment, Unix ms, widened by `bps` or the market's own band; null: the marks are unknown. */
  bandAt(symbol: string, at: number, bps?: number): PriceBand | null
  /**
   * The band of the known marks nearest to a moment, even if marks around it were lost; null: no mark of the minute before is
   * known.
   */
  bandNear(symbol: string, at: number, bps: number): PriceBand | null
  /**
   * Whether a market (staking markets included) was still listed after `at`, a time of the venue's clock, Unix ms. False: the
   * last listing marks it as delisted, or lacks it. Null: no listing made after that time is known.
   */
  isListed(symbol: string, at: number): boolean | null
}

/** No market data at all. */
export const noRecentMarket: RecentMarket = { bandAt: () => null, bandNear: () => null, isListed: () => null }

/** Those of a moment for which no market is known: accounts hold money alone. */
export const noFacts: Facts = {
  takenAt: null,
  venueTime: anyTime,
  marks: new Map(),
  instruments: new Map(),
  terms: defaultMarketTerms,
  recent: noRecentMarket
}

/** Age up to which a mark is fresh (F3). */
export const freshMillis = 10_000

/** Whether a mark is fresh at a moment (F3). */
export const isFresh = (mark: Mark, now: number): boolean => mark.current && now - mark.at <= freshMillis
