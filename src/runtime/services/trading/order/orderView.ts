/** The partners' view of orders, fills and positions (doc 2, Order; A2-43, A2-44, A2-100, A2-106, D6). */
import { type OrderContext, orderRef, type Reserved } from "../../../../machines/order/Order.ts"
import type { AttachedLeg } from "../../../../machines/order/OrderBody.ts"
import type { OrderWire, PositionHistoryItem, PositionWire, TradeWire } from "../../../../machines/order/OrderWire.ts"
import { averagePrice } from "../../../../machines/margin/marginPicture.ts"
import type { Facts } from "../../../../machines/market/Facts.ts"
import { isCurrency } from "../../../../machines/shared/Currency.ts"
import { decimalText, floorToMinor, formatAmount, minorOf, MoneyDecimal } from "../../../../machines/shared/Money.ts"
import type { FillRow, OrderRow, PositionRow } from "../../../tables/order.ts"

export const orderWire = ({ id, state, context }: OrderRow): OrderWire => {
  const { parentOrderId, qtyDecimals, trigger } = context
  const onLots = (qty: string): string => decimalText(new MoneyDecimal(qty), qtyDecimals)
  return {
    orderId: id,
    clOrdId: orderRef(id),
    symbol: context.symbol,
    family: context.family,
    side: context.side,
    type: context.type,
    qty: onLots(context.qty),
    price: context.price,
    state,
    // A rejected order that the venue executed anyway shows the venue's result instead of the rejection.
    reject: state === "REJECTED" ? context.reject : null,
    filledQty: onLots(context.filledQty),
    createdAt: context.createdAt,
    reduceOnly: context.reduceOnly,
    tif: context.tif,
    trigger: trigger === null ? null : { ...trigger },
    updatedAt: context.updatedAt,
    attach: attachOf(context),
    ocoGroup: context.ocoGroup,
    parentOrderId,
    parentClOrdId: parentOrderId === null ? null : orderRef(parentOrderId),
    origin: context.origin,
    note: context.note,
    // This surface has no order replacement.
    replacedBy: null,
    replaces: null,
    reservation: context.reserved === null ? null : reservationOf(context.reserved, context)
  }
}

const attachOf = ({ attach, legs }: OrderContext): OrderWire["attach"] => {
  if (attach === null) return null
  const level = (of: AttachedLeg | null) => (of === null ? null : { price: of.price, limitPrice: of.limitPrice })
  return { takeProfit: level(attach.takeProfit), stopLoss: level(attach.stopLoss), legs }
}

const reservationOf = (
  { currency, amount }: Reserved,
  { consumed, released }: OrderContext
): NonNullable<OrderWire["reservation"]> => {
  const written = (text: string): string => formatAmount(minorOf(text, currency), currency)
  return { currency, amount: written(amount), consumed: written(consumed), released: written(released) }
}

/** The view of an open position. */
export const positionWire = (row: PositionRow, { instruments }: Pick<Facts, "instruments">): PositionWire => ({
  symbol: row.symbol,
  netQty: row.netQty,
  avgEntryPrice: averagePrice(row.avgEntry, instruments.get(row.symbol)),
  netCost: formatAmount(floorToMinor(row.netCost, "USDC"), "USDC"),
  realizedPnl: formatAmount(row.realizedPnl, "USDC"),
  updatedAt: row.updatedAt
})

const quoted = (row: FillRow, minor: bigint): string => {
  if (!isCurrency(row.currency)) throw new Error(`fill ${row.id} is in ${row.currency}`)
  return formatAmount(minor, row.currency)
}

export const tradeWire = (row: FillRow): TradeWire => ({
  id: row.id,
  venueTradeId: row.tradeId,
  orderId: row.orderId,
  clOrdId: orderRef(row.orderId),
  symbol: row.symbol,
  family: row.family,
  side: row.side,
  price: row.price,
  qty: row.qty,
  commission: quoted(row, row.commission),
  ts: row.ts,
  realizedPnl: quoted(row, row.realizedPnl),
  notional: quoted(row, row.notional),
  asset: row.family === "SPOT" ? row.symbol.slice(0, row.symbol.indexOf("-")) : null
})

/** The view of a fill that closed `closedQty` of a position. */
export const historyItem = (row: FillRow, closedQty: string): PositionHistoryItem => ({
  id: row.id,
  orderId: row.orderId,
  clOrdId: orderRef(row.orderId),
  symbol: row.symbol,
  side: row.side,
  qty: closedQty,
  price: row.price,
  realizedPnl: quoted(row, row.realizedPnl),
  ts: row.ts
})
