/** Compares an execution report of an order with the sent order (D6). */
import { type PriceBand, shortOfLevel } from "../market/PriceBand.ts"
import { type OrderContext, orderRef } from "../order/Order.ts"
import { exactText, isLess, scaled } from "../shared/Exact.ts"
import { notReceived } from "../venue/venueCalls.ts"
import type { VenueOrder } from "../venue/venueObjects.ts"
import { type Check, type Checks, differs, exactly, isSame, misfitBy, sameFigure } from "./check.ts"
import { timeMisfit, type VenueTime } from "../venue/timeChecks.ts"

export interface ExpectedOrder {
  readonly order: OrderContext
  /** The band of the market's marks around a moment, widened by `bps` basis points; null when the marks are unknown. */
  readonly bandAt: (at: number, bps?: number) => PriceBand | null
  readonly venueTime: VenueTime
}

/** The venue's id of an order, null while unknown. A stored zero marks an order that staff resolved. */
export const knownVenueId = ({ venueOrderId }: Pick<OrderContext, "venueOrderId">): number | null =>
  venueOrderId === 0 ? null : venueOrderId

/**
 * An error sentence when the venue executes an order that it has refused. An order that the venue had not received may still
 * be executed.
 */
export const executedAfterRefusal = ({ reject, lastTradeId }: OrderContext): string | null =>
  reject === null || reject === notReceived || lastTradeId > 0 ? null : "it is executed, but the venue has refused it"

/** Whether a price is worse for this side than a limit. */
export const isWorse = (side: "BUY" | "SELL", price: string, limit: string): boolean => {
  const [at, bound] = [scaled(price), scaled(limit)]
  return side === "BUY" ? isLess(bound, at) : isLess(at, bound)
}

const samePrice = sameFigure<VenueOrder, ExpectedOrder, "price">("price", "price", ({ order }) => order.venuePrice)

/** The bound in force. An amendment may set a first bound for an order that was sent without one. */
const boundOf = ({ boundBps, amending }: OrderContext): number | null => boundBps ?? amending?.boundBps ?? null
const isBounded = (order: OrderContext, { price }: VenueOrder): boolean =>
  order.boundBps !== null || (boundOf(order) !== null && price !== null)

/**
 * Checks the price of a conditional order, which the venue derives from the mark at which the order triggers. The venue
 * publishes this mark before the event, so it is among the known marks.
 */
const derivedPrice: Check<VenueOrder, ExpectedOrder> = (
  { side, price, triggeredAt, state, filledQty },
  { order, bandAt }
) => {
  const { venuePrice } = order
  const boundBps = boundOf(order)
  if (boundBps === null || triggeredAt === null) return null
  // An order that the venue rejects at its trigger, without a trade, may have no derived price.
  if (state === "REJECTED" && scaled(filledQty).units === 0n) return null
  if (price === null) return "it has fired without its bound"
  if (venuePrice !== null && isWorse(side, price, venuePrice)) return differs("price", price, venuePrice)
  const band = bandAt(triggeredAt, boundBps)
  const worst = band && exactText(side === "BUY" ? band.high : band.low)
  return worst !== null && isWorse(side, price, worst)
    ? `the bound ${price} is beyond ${worst}, which is ${boundBps} basis points from the mark at which it fired`
    : null
}

/**
 * An error sentence when known marks refute the trigger. Triggers on the last price or the index are not checked, because
 * marks do not prove them.
 */
const unreached = (triggeredAt: number, { order: { trigger }, bandAt }: ExpectedOrder): string | null =>
  trigger?.source === "MARK" ? shortOfLevel(trigger.price, trigger.direction, bandAt(triggeredAt, 0)) : null

export const orderChecks: Checks<VenueOrder, ExpectedOrder> = {
  id: ({ id }, { order }) => {
    const known = knownVenueId(order)
    return known === null || known === id ? null : differs("venue id", id, known)
  },
  ref: exactly("ref", "ref", ({ order }) => orderRef(order.orderId)),
  account: exactly("account", "account", ({ order }) => order.account),
  symbol: exactly("market", "symbol", ({ order }) => order.symbol),
  side: exactly("side", "side", ({ order }) => order.side),
  price: (report, expected) =>
    isBounded(expected.order, report) && report.triggeredAt !== null
      ? derivedPrice(report, expected)
      : samePrice(report, expected),
  // The quantity of an amended order is not compared, because the report may be older than the last amendment.
  qty: ({ qty }, { order }) =>
    order.amends > (order.boundAmends ?? 0) || isSame(qty, order.qty) ? null : differs("quantity", qty, order.qty),
  filledQty: ({ qty, filledQty }, { order }) => {
    if (filledQty !== qty && isLess(scaled(qty), scaled(filledQty))) return `${filledQty} of ${qty} is filled`
    return scaled(filledQty).units > 0n ? executedAfterRefusal(order) : null
  },
  tif: exactly("time in force", "tif", ({ order }) => order.venueTif),
  reduceOnly: exactly("reduce-only flag", "reduceOnly", ({ order }) => order.reduceOnly),
  trigger: ({ trigger: there }, { order: { trigger: here } }) => {
    const text = (each: typeof there): string | null =>
      each === null ? null : `${each.source} ${each.direction} ${each.price}`
    const fits =
      there !== null && here !== null
        ? there.source === here.source && there.direction === here.direction && isSame(there.price, here.price)
        : there === here
    return fits ? null : differs("trigger", text(there), text(here))
  },
  group: exactly("group", "group", ({ order }) => order.ocoGroup),
  state: ({ state, qty, filledQty }) =>
    state === "FILLED" && !isSame(qty, filledQty) ? `its state is FILLED, but ${filledQty} of ${qty} is filled` : null,
  reason: { because: "Text for readers: no decision depends on it." },
  triggeredAt: ({ triggeredAt, filledQty }, expected) => {
    const { order, venueTime } = expected
    if (triggeredAt !== null) {
      if (order.trigger === null) return "it has fired, but it has no trigger"
      // The trigger of an order that is already recorded as triggered was checked when its report arrived.
      const mayBeOld = order.triggeredAt !== null
      return (
        timeMisfit({ called: "the trigger time", at: triggeredAt, sentAt: order.createdAt, mayBeOld }, venueTime) ??
        (mayBeOld ? null : unreached(triggeredAt, expected))
      )
    }
    return order.trigger !== null && scaled(filledQty).units > 0n ? "it is filled, but it has not fired" : null
  }
}

/** The reason that a report does not fit the sent order, or null. */
export const orderMisfit = misfitBy(orderChecks)
