/** An order as it is placed, from what was asked for and judged: what the venue gets, and what is set aside (A2-35, F20). */
import { gridOf } from "../../../machines/market/Grid.ts"
import type { MarketTerms } from "../../../machines/market/marketTerms.ts"
import type { PreTrade } from "../../../machines/order/preTrade.ts"
import { reservationOf } from "../../../machines/order/spotRules.ts"
import type { Currency } from "../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"
import type { OrderToPlace } from "./orderDecisions.ts"
import type { Asked } from "./orderFacts.ts"

interface Placing {
  readonly asked: Asked
  readonly figures: PreTrade
  readonly terms: MarketTerms
  readonly bestAsk: string | null
}

export const newOrder = ({ asked, figures, terms, bestAsk }: Placing): OrderToPlace => {
  const { order, market } = asked
  const { symbol, family, side, type, qty, price, tif, venueTif, reduceOnly, trigger, attach, ocoGroup } = order
  const limit = trigger === null ? price : trigger.limitPrice
  const reserved = family === "SPOT" ? reservedFor({ asked, figures, terms, bestAsk }, limit) : null
  return {
    symbol,
    family,
    side,
    type,
    qty,
    price,
    venuePrice: reserved?.price ?? limit,
    tif,
    venueTif,
    reduceOnly,
    trigger,
    attach,
    ocoGroup,
    parentOrderId: null,
    origin: "CLIENT",
    note: null,
    leverage: figures.leverage,
    reserved: reserved === null ? null : { currency: reserved.currency, amount: reserved.amount },
    commissionBps: terms.commissionBps[market.family],
    priceDecimals: order.priceDecimals,
    qtyDecimals: order.qtyDecimals
  }
}

/** The reserve, and the price that it is worked out from: a MARKET buy is sent with it as its cap. */
const reservedFor = ({ asked: { order, market }, terms, bestAsk }: Placing, limit: string | null) => {
  const tick = gridOf(market.market.priceTick)
  if (tick === null) throw new Error(`${order.symbol} is listed without a grid`)
  const { side, qty, quote } = order
  const spot = { side, base: order.base as Currency, quote, qty, price: limit, commissionBps: terms.commissionBps.SPOT }
  const reservation = reservationOf(spot, bestAsk, tick)
  if (reservation === null) throw new Error(`${order.symbol} passed its gates without a price`)
  const { currency, amount, price } = reservation
  return { currency, amount: formatAmount(amount, currency), price }
}
