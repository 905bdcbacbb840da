/** Orders as the venue reports them. */
import { type OrderContext, orderRef } from "../../src/machines/order/Order.ts"
import type { VenueOrder } from "../../src/machines/venue/venueObjects.ts"

export const venueOrder = (account: string, ref: string | null, change: Partial<VenueOrder> = {}): VenueOrder => ({
  id: 900,
  ref,
  account,
  symbol: "BTC-USDC-PERP",
  side: "BUY",
  price: "58500",
  qty: "0.001",
  filledQty: "0",
  tif: "IOC",
  reduceOnly: false,
  trigger: null,
  group: null,
  state: "CANCELLED",
  reason: null,
  triggeredAt: null,
  ...change
})

/** A venue's report of an order exactly as sent. `id`: the venue's id, used while the service knows none. */
export const reportOf = (order: OrderContext, id: number, change: Partial<VenueOrder> = {}): VenueOrder => {
  const { trigger } = order
  return {
    id: order.venueOrderId ?? id,
    ref: orderRef(order.orderId),
    account: order.account,
    symbol: order.symbol,
    side: order.side,
    price: order.venuePrice,
    qty: order.qty,
    filledQty: order.filledQty,
    tif: order.venueTif,
    reduceOnly: order.reduceOnly,
    trigger: trigger === null ? null : { source: trigger.source, price: trigger.price, direction: trigger.direction },
    group: order.ocoGroup,
    state: "WORKING",
    reason: null,
    triggeredAt: order.triggeredAt,
    ...change
  }
}
