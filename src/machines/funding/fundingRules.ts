/**
 * Funding of a perpetual (F14): what a position pays or gets at a stamp, and the names under which that is posted. Quantities,
 * marks and rates are decimal texts; a quantity is signed, short is negative.
 */
import type { JsonObject } from "../shared/Json.ts"
import { absolute, exactText, floorToMicro, isLess, negated, product, type Scaled, scaled } from "../shared/Exact.ts"
import { decimalText, isNothing, MoneyDecimal } from "../shared/Money.ts"

/** The most that a rate of one interval can be, either way (F14). */
const largestRate = scaled("0.0075")

/** One market at one time, with the price and the rate at which everybody pays then. */
export interface FundingStamp {
  readonly symbol: string
  /** Unix ms. */
  readonly settledAt: number
  readonly mark: string
  /** Of one interval: a long position pays when it is positive. */
  readonly rate: string
}

/** Micro-USDC from the client's view, negative when it pays, rounded against it (F1, F14). */
export const fundingPayment = (qty: string | Scaled, { mark, rate }: Pick<FundingStamp, "mark" | "rate">): bigint =>
  floorToMicro(negated(product(product(scaled(qty), scaled(mark)), scaled(rate))))

/** USDC for one unit of the base, signed as the rate, eight places (F14). */
export const fundingPerUnit = ({ mark, rate }: Pick<FundingStamp, "mark" | "rate">): string =>
  decimalText(new MoneyDecimal(mark).mul(rate), 8, MoneyDecimal.ROUND_HALF_UP)

/** The ledger's key: once for a client, a market and a stamp. */
export const fundingKey = (
  { symbol, settledAt }: Pick<FundingStamp, "symbol" | "settledAt">,
  clientId: number
): string => `funding:${symbol}:${settledAt}:${clientId}`

/** Of the difference that a trade makes which was found after its stamp was posted: once for the trade. */
export const correctionKey = (
  stamp: Pick<FundingStamp, "symbol" | "settledAt">,
  clientId: number,
  { orderId, tradeId }: { readonly orderId: number; readonly tradeId: number }
): string => `${fundingKey(stamp, clientId)}:${orderId}:${tradeId}`

/** What the posting and its settlement item name; a quantity without sign (doc 3, Settlement item). */
export const fundingRefs = (stamp: FundingStamp, qty: string): JsonObject => ({
  symbol: stamp.symbol,
  settledAt: stamp.settledAt,
  qty: exactText(absolute(scaled(qty))),
  fundingPerUnit: fundingPerUnit(stamp),
  side: scaled(qty).units < 0n ? "SHORT" : "LONG"
})

/**
 * Whether a trade counts at a stamp, by the times of both alone (F14): before its millisecond always; in it when it makes the
 * position larger; after it never.
 */
export const countsByTime = (tradedAt: number, settledAt: number, adds: boolean): boolean =>
  tradedAt < settledAt || (tradedAt === settledAt && adds)

/** A trade of which only the time is known; `qty` is signed. */
export interface TimedTrade {
  readonly qty: string
  readonly at: number
}

/**
 * The position at a stamp, out of the one after trades that lie about or behind it. `trades`: these, in the order in which the
 * venue made them. Times alone leave open in which order things of one millisecond were: where they lead to another quantity
 * than the venue's, and a place between two of these trades to the venue's own, the stamp was there.
 */
export const positionAtStamp = (
  held: string,
  trades: ReadonlyArray<TimedTrade>,
  stamp: { readonly settledAt: number; readonly netQty: string }
): string => {
  const before = trades.reduce((qty, trade) => qty.minus(trade.qty), new MoneyDecimal(held))
  const places = [before]
  for (const { qty } of trades) places.push((places.at(-1) ?? before).plus(qty))
  let byTime = before
  for (const { qty, at } of trades) {
    const adds = byTime.isZero() || byTime.isNegative() === qty.startsWith("-")
    if (countsByTime(at, stamp.settledAt, adds)) byTime = byTime.plus(qty)
  }
  const found = byTime.eq(stamp.netQty) ? byTime : (places.find((qty) => qty.eq(stamp.netQty)) ?? byTime)
  return decimalText(found)
}

/** Why such a mark and rate can't be paid; null: they can. Values that the venue does not know yet are possible. */
export const fundingFault = ({
  mark,
  rate
}: {
  readonly mark: string | null
  readonly rate: string | null
}): string | null => {
  if (mark !== null && isNothing(mark)) return "its mark is no price"
  if (rate !== null && isLess(largestRate, absolute(scaled(rate)))) return "its rate is beyond what a rate can be"
  return null
}
