/**
 * Compares a fill with its order: side, remaining quantity, price and time. The price must respect the bound with which the
 * order was sent; without a bound, it must lie in the band of the marks around the fill's time (F12).
 */
import { outsideBand, type PriceBand } from "../market/PriceBand.ts"
import { type OrderContext, orderRef } from "../order/Order.ts"
import { difference, exactText, isLess, scaled } from "../shared/Exact.ts"
import type { VenueFill, VenueOrder } from "../venue/venueObjects.ts"
import { type Checks, differs, exactly, misfitBy } from "./check.ts"
import { executedAfterRefusal, isWorse, knownVenueId } from "./orderChecks.ts"
import { timeMisfit, type VenueTime } from "../venue/timeChecks.ts"

export interface ExpectedFill {
  readonly order: OrderContext
  /** The order's own report in the same message, already checked; null when the message has only the fill. */
  readonly report: VenueOrder | null
  /** The band of the market's marks around a moment; null when the marks are unknown. */
  readonly bandAt: (at: number) => PriceBand | null
  readonly venueTime: VenueTime
}

/** The worst price that the order allows; null when the order was sent without a bound. */
const boundOf = ({ order: { venuePrice, trigger, boundBps }, report }: ExpectedFill): string | null =>
  boundBps !== null && report !== null ? report.price : (venuePrice ?? trigger?.limitPrice ?? null)

export const fillChecks: Checks<VenueFill, ExpectedFill> = {
  tradeId: { because: "A trade that is booked already is compared with its row (fillBooking.ts, knownFill)." },
  orderId: ({ orderId }, { order, report }) => {
    const known = report?.id ?? knownVenueId(order)
    return known === null || known === orderId ? null : differs("order of the trade", orderId, known)
  },
  ref: ({ ref }, { order }) => {
    const ours = orderRef(order.orderId)
    return ref === ours ? executedAfterRefusal(order) : differs("ref of the trade", ref, ours)
  },
  account: exactly("account", "account", ({ order }) => order.account),
  symbol: exactly("market", "symbol", ({ order }) => order.symbol),
  side: exactly("side", "side", ({ order }) => order.side),
  // A price better than the bound always fits, however far from the marks: the counterparty's order may have rested there for
  // a long time.
  price: ({ price, at }, expected) => {
    if (scaled(price).places > expected.order.priceDecimals) return `price ${price} is off the market's grid`
    const bound = boundOf(expected)
    if (bound === null) return outsideBand(price, expected.bandAt(at))
    return isWorse(expected.order.side, price, bound) ? `price ${price} is worse than the bound ${bound}` : null
  },
  qty: ({ qty }, { order }) => {
    const filled = scaled(order.filledQty)
    const left = difference(scaled(order.qty), filled)
    const traded = scaled(qty)
    if (traded.units <= 0n) return "the quantity is zero"
    if (traded.places > order.qtyDecimals) return `quantity ${qty} is off the market's grid`
    if (!isLess(left, traded)) return null
    // An amendment to a larger quantity may be in flight, and then allows more.
    const more = order.amending === null ? left : difference(scaled(order.amending.qty), filled)
    return isLess(more, traded)
      ? `quantity ${qty} is traded, but only ${exactText(more)} is left of ${order.qty}`
      : null
  },
  liquidity: { because: "The client's commission is the same for makers and takers." },
  reason: ({ reason }) => (reason === null ? null : `the venue traded it for a reason of its own: ${reason}`),
  at: ({ at }, { order, venueTime }) => timeMisfit({ called: "the trade time", at, sentAt: order.createdAt }, venueTime)
}

/** The reason that a fill does not fit its order, or null. */
export const fillMisfit = misfitBy(fillChecks)
