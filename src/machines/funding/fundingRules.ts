/**
 * Funding of a perpetual: the payment of a position at a funding stamp, and the ledger keys of these postings. Quantities,
 * marks and rates are decimal texts; a quantity is signed, short is negative (doc 3, Settlement item; F14, F1).
 */
import type { JsonObject } from "../shared/Json.ts"
import { absolute, exactText, floorToMicro, isLess, negated, product, type Scaled, scaled } from "../shared/Exact.ts"
import { decimalText, isNothing, MoneyDecimal } from "../shared/Money.ts"

/** The largest absolute rate of one interval. */
const largestRate = scaled("0.0075")

/** Funding of one market at one time: the same mark and rate for every position. */
export interface FundingStamp {
  readonly symbol: string
  /** Unix ms. */
  readonly settledAt: number
  readonly mark: string
  /** The rate of one interval. A positive rate is paid by long positions. */
  readonly rate: string
}

/** The funding payment in micro-USDC from the client's view: negative when the client pays, rounded against the client. */
export const fundingPayment = (qty: string | Scaled, { mark, rate }: Pick<FundingStamp, "mark" | "rate">): bigint =>
  floorToMicro(negated(product(product(scaled(qty), scaled(mark)), scaled(rate))))

/** The funding for one unit of the base, in USDC: signed as the rate, eight places. */
export const fundingPerUnit = ({ mark, rate }: Pick<FundingStamp, "mark" | "rate">): string =>
  decimalText(new MoneyDecimal(mark).mul(rate), 8, MoneyDecimal.ROUND_HALF_UP)

/** The ledger key of a funding payment: one per client, market and stamp. */
export const fundingKey = (
  { symbol, settledAt }: Pick<FundingStamp, "symbol" | "settledAt">,
  clientId: number
): string => `funding:${symbol}:${settledAt}:${clientId}`

/** The ledger key of a correction, made for a trade that was found after its stamp was posted: one per trade. */
export const correctionKey = (
  stamp: Pick<FundingStamp, "symbol" | "settledAt">,
  clientId: number,
  { orderId, tradeId }: { readonly orderId: number; readonly tradeId: number }
): string => `${fundingKey(stamp, clientId)}:${orderId}:${tradeId}`

/** Refs of the posting and its settlement item; the quantity has no sign. */
export const fundingRefs = (stamp: FundingStamp, qty: string): JsonObject => ({
  symbol: stamp.symbol,
  settledAt: stamp.settledAt,
  qty: exactText(absolute(scaled(qty))),
  fundingPerUnit: fundingPerUnit(stamp),
  side: scaled(qty).units < 0n ? "SHORT" : "LONG"
})

/**
 * Whether a trade counts in the position at a stamp, by time alone. A trade before the stamp's millisecond counts. Within
 * that millisecond, a trade counts only when it enlarges the position. A later trade never counts.
 */
export const countsByTime = (tradedAt: number, settledAt: number, adds: boolean): boolean =>
  tradedAt < settledAt || (tradedAt === settledAt && adds)

/** A trade with its venue time; `qty` is signed. */
export interface TimedTrade {
  readonly qty: string
  readonly at: number
}

/**
 * The position at a stamp, computed back from the position after the trades. `trades` are those around or after the stamp, in
 * the venue's order. Times do not order trades within one millisecond. When the times give another quantity than the venue
 * reports, a place between two of these trades that gives the venue's quantity is taken instead.
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

/** The reason that a mark and a rate can't be paid, or null. The venue may publish a stamp before it knows its values. */
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
