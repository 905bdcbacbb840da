/** Compares an execution report of an order with the order that we sent. */
import type { OrderContext } from "../order/Order.ts"
import { isLess, scaled } from "../shared/Exact.ts"
import type { VenueOrder } from "../venue/venueObjects.ts"
import { type Checks, exactly, isSame, misfitBy, sameFigure } from "./check.ts"

/** The venue's id of an order; null while unknown. Zero marks an order that staff resolved. */
export const knownVenueId = ({ venueOrderId }: Pick<OrderContext, "venueOrderId">): number | null =>
  venueOrderId === 0 ? null : venueOrderId

const samePrice = sameFigure<VenueOrder, OrderContext, "price">("price", "price", ({ venuePrice }) => venuePrice)

export const orderChecks: Checks<VenueOrder, OrderContext> = {
  id: ({ id }, asked) => {
    const known = knownVenueId(asked)
    return known === null || known === id ? null : `venue id ${id}, the order is ${known} there`
  },
  ref: { because: "The message is brought to the order that the ref names (venueRefs.ts, ownerOfRef)." },
  account: exactly("account", "account", ({ account }) => account),
  symbol: exactly("market", "symbol", ({ symbol }) => symbol),
  side: exactly("side", "side", ({ side }) => side),
  // After its trigger fires, an order with a bound has the price that the venue derived from the mark, so our price does not
  // match.
  price: (said, asked) => (asked.boundBps !== null && said.triggeredAt !== null ? null : samePrice(said, asked)),
  // The quantity of an amended leg is not compared, because a report may be older than the last amendment.
  qty: ({ qty }, asked) =>
    asked.amends > 0 || isSame(qty, asked.qty) ? null : `quantity ${qty}, ${asked.qty} was asked for`,
  filledQty: ({ qty, filledQty }) =>
    filledQty !== qty && isLess(scaled(qty), scaled(filledQty)) ? `filled ${filledQty} of ${qty}` : null,
  tif: exactly("time in force", "tif", ({ venueTif }) => venueTif),
  reduceOnly: exactly("reduce-only", "reduceOnly", ({ reduceOnly }) => reduceOnly),
  trigger: ({ trigger: said }, { trigger: asked }) => {
    if (said === null || asked === null) return said === asked ? null : "a trigger that was not asked for, or none"
    const fits = said.source === asked.source && said.direction === asked.direction && isSame(said.price, asked.price)
    return fits ? null : `trigger ${said.source} ${said.direction} ${said.price}, another one was asked for`
  },
  group: exactly("group", "group", ({ ocoGroup }) => ocoGroup),
  state: ({ state, qty, filledQty }) =>
    state === "FILLED" && !isSame(qty, filledQty) ? `filled as a whole with ${filledQty} of ${qty}` : null,
  reason: { because: "Words for people: they decide nothing." },
  triggeredAt: ({ triggeredAt }, { trigger }) =>
    triggeredAt !== null && trigger === null ? "a trigger has fired that it does not have" : null
}

/** Why a report does not fit the order that we sent; null: it fits. */
export const orderMisfit = misfitBy(orderChecks)
