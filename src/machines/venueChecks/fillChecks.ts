/**
 * A trade held against the order that it is of: side, what is left, and the bound that was sent with the order. Where none was sent
 * the price lies in the band of the marks about its time; so does the side of a price on which an order has no bound.
 */
import { outsideBand, type PriceBand } from "../market/PriceBand.ts"
import type { OrderContext } from "../order/Order.ts"
import { difference, isLess, scaled } from "../shared/Exact.ts"
import type { VenueFill } from "../venue/venueObjects.ts"
import { type Checks, exactly, misfitBy } from "./check.ts"
import { knownVenueId } from "./orderChecks.ts"

export interface AskedFill {
  readonly order: OrderContext
  /** Of the marks about the trade's time; null: they are not known. */
  readonly band: PriceBand | null
}

/** The worst price that an order was sent with; null: it was sent without one. */
export const boundOf = ({ venuePrice, trigger }: Pick<OrderContext, "venuePrice" | "trigger">): string | null =>
  venuePrice ?? trigger?.limitPrice ?? null

/** A worse price than the bound never fits; a better one may also be the bound itself, wherever the marks have gone. */
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
    // A larger quantity may be on its way.
    const more = order.amending === null ? left : difference(scaled(order.amending.qty), filled)
    return isLess(more, traded) ? `quantity ${qty}, ${order.qty} less ${order.filledQty} is left` : null
  },
  liquidity: { because: "The client's commission is the same for makers and takers (F12)." },
  reason: ({ reason }) =>
    reason === null ? null : `a trade of the venue's own (${reason}) under the name of an order`,
  at: { because: "It lies no later than the message that brings it (EventJudge.ts, OrderResync.ts)." }
}

/** Why a trade can't be one of its order; null: it fits. */
export const fillMisfit = misfitBy(fillChecks)
