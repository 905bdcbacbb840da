/** The price that an order is judged at before it trades (F13). */
import { MoneyDecimal } from "../shared/Money.ts"
import type { AskedOrder } from "./orderOnMarket.ts"

/** A market's prices as they were last said, on its grid; null: none is known. */
export interface MarketPrices {
  readonly last: string | null
  readonly mark: string | null
  readonly index: string | null
  readonly bestBid: string | null
  readonly bestAsk: string | null
}

/** The best price on the other side of the book, else the mark (F13); null: neither is known. */
export const takingPrice = (side: AskedOrder["side"], { bestBid, bestAsk, mark }: MarketPrices): string | null =>
  (side === "BUY" ? bestAsk : bestBid) ?? mark

/** Limit price, limit or trigger price of a conditional order, and what a MARKET order would take; null: nothing is known. */
export const referencePrice = (
  { price, trigger, side }: Pick<AskedOrder, "price" | "trigger" | "side">,
  prices: MarketPrices
): MoneyDecimal | null => {
  const text = price ?? trigger?.limitPrice ?? trigger?.price ?? takingPrice(side, prices)
  return text === null ? null : new MoneyDecimal(text)
}
