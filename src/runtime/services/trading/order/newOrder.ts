/**
 * Builds the order that is placed from a checked request: the terms for the venue, and the amount to reserve (A2-35, F13, F20).
 */
import type { MarketTerms } from "../../../../machines/market/marketTerms.ts"
import type { Reserved } from "../../../../machines/order/Order.ts"
import type { PreTrade } from "../../../../machines/order/preTrade.ts"
import { formatAmount } from "../../../../machines/shared/Money.ts"
import type { OrderToPlace } from "./orderDecisions.ts"
import type { OrderOnMarket } from "./orderFacts.ts"

interface Placing {
  readonly requested: OrderOnMarket
  readonly figures: PreTrade
  readonly terms: MarketTerms
}

export const newOrder = ({ requested, figures, terms }: Placing): OrderToPlace => {
  const { order, market } = requested
  const { symbol, family, side, type, qty, price, tif, venueTif, reduceOnly, trigger, attach, ocoGroup } = order
  return {
    symbol,
    family,
    side,
    type,
    qty,
    price,
    venuePrice: figures.bound.limit,
    boundBps: figures.bound.bps,
    tif,
    venueTif,
    // An order that passed its gates without margin must never open a position, whatever trades before it. So it is
    // sent as reduce-only.
    reduceOnly: reduceOnly || (family === "PERP" && figures.onlyReduces),
    trigger,
    attach,
    ocoGroup,
    parentOrderId: null,
    origin: "CLIENT",
    note: null,
    leverage: figures.leverage,
    reserved: family === "SPOT" ? reservedFor(figures, symbol) : null,
    commissionBps: terms.commissionBps[market.family],
    priceDecimals: order.priceDecimals,
    qtyDecimals: order.qtyDecimals
  }
}

/** The reserve of a spot order, as its gates computed it. */
const reservedFor = ({ reservation, reservationCurrency: currency }: PreTrade, symbol: string): Reserved => {
  if (reservation === null) throw new Error(`${symbol} passed its gates without a price`)
  return { currency, amount: formatAmount(reservation, currency) }
}
