/**
 * Plausibility checks of klines and staking offers. Each returns the fault as a sentence, or null. They check only the
 * venue's data, never a request of a partner (A2-115).
 */
import { gridOf, onGrid } from "../../../machines/market/Grid.ts"
import { type Kline, klineIntervals, type KlinePage } from "../../../machines/venue/marketData.ts"
import type { VenueOffer, VenueStakingMarket } from "../../../machines/venue/VenueMarket.ts"
import type { KlineWindow } from "../../ports/Venue.ts"

/** A kline with more trades than this is implausible. */
const tradeLimit = 1_000_000_000
/** A price of this or more is implausible. */
const priceLimit = 1e12
/** A board with more offers than this is implausible. */
const offerLimit = 10_000

/**
 * The fault of a page of klines. `latest`: the latest possible time of a kline, Unix ms of business time. Grids are not
 * checked, because a market whose grid changed keeps its old history.
 */
export const klineFault = (page: KlinePage, window: KlineWindow, latest: number): string | null => {
  const { klines, before, oldestAvailable, asOf } = page
  const length = klineIntervals[window.interval]
  if (asOf > latest) return "the klines are of a time to come"
  if (oldestAvailable === null)
    return klines.length === 0 && before === null ? null : "there are klines before the first"
  if (oldestAvailable % length !== 0 || oldestAvailable > asOf) return "the first kline's time is absurd"
  if (before !== null && !isPrice(before)) return `${before} is no price`
  const { start, end } = spanOf(window, asOf)
  let last = Math.max(oldestAvailable, start) - 1
  for (const row of klines) {
    if (row.t % length !== 0) return "a kline does not begin with its interval"
    if (row.t <= last) return "the klines are not in order, or before their window"
    if (row.t >= end) return "a kline lies behind its window"
    const fault = rowFault(row)
    if (fault !== null) return fault
    last = row.t
  }
  return null
}

/**
 * The range of opening times that a page may contain; `end` is exclusive. It has at most `limit` buckets: the newest
 * ones, or with `from` the first ones (A2-05).
 */
const spanOf = ({ interval, from, to, limit }: KlineWindow, asOf: number): { start: number; end: number } => {
  const length = klineIntervals[interval]
  const end = Math.ceil(Math.min(to ?? Infinity, asOf + 1) / length) * length
  const start = from === null ? end - limit * length : Math.floor(from / length) * length
  return { start, end: Math.min(end, start + limit * length) }
}

const rowFault = ({ open, high, low, close, trades }: Kline): string | null => {
  const off = [open, high, low, close].find((price) => !isPrice(price))
  if (off !== undefined) return `${off} is no price`
  if (trades < 0 || trades > tradeLimit) return `${trades} trades are absurd`
  const [o, h, l, c] = [open, high, low, close].map(Number) as [number, number, number, number]
  return h < Math.max(o, c, l) || l > Math.min(o, c) ? "a kline's prices lie outside its high and low" : null
}

const isPrice = (text: string): boolean => Number(text) > 0 && Number(text) < priceLimit

/** A sentence about the board's time or size if one of them is implausible; null if both are plausible. */
export const boardFault = (
  board: { readonly offers: ReadonlyArray<VenueOffer>; readonly at: number },
  latest: number
) =>
  board.at > latest
    ? "the board of offers is of a time to come"
    : board.offers.length > offerLimit
      ? "the board has too many offers"
      : null

/** A sentence about the first fault of an offer, by the grid and the limits of its market; null without a fault. */
export const offerFault = (offer: VenueOffer, market: VenueStakingMarket, latest: number): string | null => {
  const grid = gridOf(market.qtyStep)
  const [qty, remaining, least] = [offer.qty, offer.remainingQty, offer.minQty].map((text) =>
    grid === null ? null : onGrid(text, grid)
  )
  if (qty == null || remaining == null || least == null) return "a quantity of the offer is not on the grid"
  if (qty.units === 0 || remaining.units > qty.units) return "more of the offer remains than there is"
  const { rateBps, tenorDays } = offer
  if (rateBps < 0 || rateBps > market.maxRateBps) return `${rateBps} basis points are beyond the market's limit`
  if (tenorDays < market.minTenorDays || tenorDays > market.maxTenorDays) {
    return `${tenorDays} days are beyond the market's limits`
  }
  if (offer.createdAt > latest || offer.expiryAt < offer.createdAt) return "the times of the offer are absurd"
  return null
}
