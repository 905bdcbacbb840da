/** The venue's checks of an order: market, grid, sizes, triggers, the band around the mark. */
import type { Account } from "./Account.ts"
import { around, type Market, valueOf } from "./Market.ts"
import type { EndReason, Order, TriggerSource } from "./Order.ts"

/** The reason why the venue does not amend an order. */
export type AmendRefusal =
  | "order has ended"
  | "order does not wait"
  | "quantity too large"
  | "quantity filled already"
  | "market halted"

/** The checked part of a listing. */
interface Listed {
  readonly market: Market
  readonly prices: Readonly<Record<TriggerSource, number | null>>
  readonly halt: object | null
  readonly delisted: boolean
}

/** The first failed check of an order, or null. */
export const refusalOf = (listing: Listed, order: Order, account: Account): EndReason | null => {
  const { market, prices, halt, delisted } = listing
  const { quantity, limit, reduceOnly, trigger } = order
  if (market.family === "BARRIER") return "no orders in this market"
  if (delisted) return "market delisted"
  if (halt !== null && !reduceOnly) return "market halted"
  if (!Number.isSafeInteger(quantity) || quantity <= 0) return "quantity off the grid"
  if (quantity > market.maxQty) return "quantity too large"
  if (order.tif === "POST_ONLY" && limit === null) return "price required"
  // The simulator's own makers trade in any size.
  if (!reduceOnly && order.ref !== null) {
    if (quantity < market.minQty) return "quantity too small"
    const price = limit ?? trigger?.price ?? prices.MARK ?? prices.LAST
    if (price !== null && valueOf(market, price, quantity) < market.minNotional) return "notional too small"
  }
  if (reduceOnly && trigger === null && account.reducible(order.symbol, order.side) === 0)
    return "no position to reduce"
  if (trigger !== null && isTouched(prices[trigger.source], trigger.direction, trigger.price))
    return "would trigger at once"
  // The limit of a conditional order is checked when the order fires.
  return trigger === null && isOutside(market, prices.MARK, limit) ? "price outside the band" : null
}

/**
 * Turns the bound of an order that fires into a limit around the mark, and checks that limit. Returns the reason why the order
 * can't work, or null.
 */
export const firedRefusal = ({ market, prices }: Listed, order: Order, account: Account): EndReason | null => {
  const { side, boundBps, reduceOnly } = order
  if (reduceOnly && account.reducible(order.symbol, side) === 0) return "no position to reduce"
  if (boundBps !== null) {
    if (prices.MARK === null) return "no market"
    const { low, high } = around(prices.MARK, boundBps)
    const limit = side === "BUY" ? Math.min(high, order.limit ?? high) : Math.max(low, order.limit ?? low)
    order.limit = limit
    order.price = limit
  }
  return isOutside(market, prices.MARK, order.limit) ? "price outside the band" : null
}

const isOutside = (market: Market, mark: number | null, limit: number | null): boolean => {
  if (limit === null || mark === null) return false
  const band = around(mark, market.bandBps)
  return limit < band.low || limit > band.high
}

const isTouched = (price: number | null, direction: "AT_OR_ABOVE" | "AT_OR_BELOW", level: number): boolean =>
  price !== null && (direction === "AT_OR_ABOVE" ? price >= level : price <= level)
