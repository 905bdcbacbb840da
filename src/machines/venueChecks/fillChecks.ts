/**
 * Compares a fill with its order: side, remaining quantity and price. The order's bound limits the worse side of the price. The
 * band of the marks around the fill's time limits the other side, and both sides of an order without a bound.
 */
import { outsideBand, type PriceBand } from "../market/PriceBand.ts"
import type { OrderContext } from "../order/Order.ts"
import { difference, isLess, scaled } from "../shared/Exact.ts"
import type { VenueFill } from "../venue/venueObjects.ts"
import { type Checks, exactly, misfitBy } from "./check.ts"
import { knownVenueId } from "./orderChecks.ts"

export interface AskedFill {
  readonly order: OrderContext
  /** The band of the marks around the fill's time; null: the marks are unknown. */
  readonly band: PriceBand | null
}

/** The worst price that the order allows; null: the order went out without a bound. */
export const boundOf = ({ venuePrice, trigger }: Pick<OrderContext, "venuePrice" | "trigger">): string | null =>
  venuePrice ?? trigger?.limitPrice ?? null

/** A price worse than the bound never fits. A fill at the bound itself fits, wherever the marks have gone. */
const priceMisfit = (price: string, { order, band }: AskedFill): string | null => {
  const bound = boundOf(order)
  if (bound === null) return outsideBand(price, band)
  const [at, limit] = [scaled(price), scaled(bound)]
  const isBuy = order.side === "BUY"
  if (isBuy ? isLess(limit, at) : isLess(at, limit)) return `price ${price} is beyond the bound ${bound} that was sent`
  if (band === null) return null
  const isFar = isBuy ? isLess(at, band.low) && isLess(at, limit) : isLess(band.high, at) && isLess(limit, at)
  return isFar ? outsideBand(price, band) : null
}

export const fillChecks: Checks<VenueFill, AskedFill> = {
  tradeId: { because: "A trade that is booked already is compared with its row (fillBooking.ts, knownFill)." },
  orderId: ({ orderId }, { order }) => {
    const known = knownVenueId(order)
    return known === null || known === orderId ? null : `a trade of order ${orderId}, the order is ${known} there`
  },
  ref: { because: "The trade is brought to the order that the ref names (venueRefs.ts, ownerOfRef)." },
  account: exactly("account", "account", ({ order }) => order.account),
  symbol: exactly("market", "symbol", ({ order }) => order.symbol),
  side: exactly("side", "side", ({ order }) => order.side),
  price: ({ price }, asked) => priceMisfit(price, asked),
  qty: ({ qty }, { order }) => {
    const filled = scaled(order.filledQty)
    const left = difference(scaled(order.qty), filled)
    const traded = scaled(qty)
    if (traded.units <= 0n) return "a trade of nothing"
    if (!isLess(left, traded)) return null
    // An amendment to a larger quantity may be on its way.
    const more = order.amending === null ? left : difference(scaled(order.amending.qty), filled)
    return isLess(more, traded) ? `quantity ${qty}, ${order.qty} less ${order.filledQty} is left` : null
  },
  liquidity: { because: "The client's commission is the same for makers and takers (F12)." },
  reason: ({ reason }) =>
    reason === null ? null : `a trade of the venue's own (${reason}) under the name of an order`,
  at: { because: "It lies no later than the message that brings it (EventJudge.ts, OrderResync.ts)." }
}

/** Why a fill does not fit its order; null: it fits. */
export const fillMisfit = misfitBy(fillChecks)
