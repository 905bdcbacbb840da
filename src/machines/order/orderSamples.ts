/** Events of an order, both sides of every guard: path tests and diagrams use them (D6). */
import type { Filled, OrderEvent, OrderInput } from "./Order.ts"

export const perpInput: OrderInput = {
  orderId: 1,
  clientId: 1,
  account: "ACM-00000001",
  symbol: "BTC-USDC-PERP",
  family: "PERP",
  side: "BUY",
  type: "LIMIT",
  qty: "0.1000",
  price: "60000.0",
  venuePrice: "60000.0",
  boundBps: null,
  tif: "GTC",
  venueTif: "GTC",
  reduceOnly: false,
  trigger: null,
  attach: null,
  ocoGroup: null,
  parentOrderId: null,
  origin: "CLIENT",
  note: null,
  leverage: 10,
  reserved: null,
  commissionBps: 5,
  priceDecimals: 1,
  qtyDecimals: 4,
  createdAt: 5,
  updatedAt: 5
}

/** An order to place: a reduce-only stop that protects a position. */
export const stopInput: OrderInput = {
  ...perpInput,
  orderId: 2,
  side: "SELL",
  type: "STOP_MARKET",
  price: null,
  venuePrice: null,
  boundBps: 494,
  reduceOnly: true,
  trigger: { source: "MARK", price: "58000.0", direction: "AT_OR_BELOW", limitPrice: null },
  ocoGroup: "exit"
}

/** A spot purchase with its reserve: 6,000 USDC and 6 USDC of commission. */
export const spotInput: OrderInput = {
  ...perpInput,
  orderId: 3,
  symbol: "BTC-USDC",
  family: "SPOT",
  leverage: null,
  reserved: { currency: "USDC", amount: "6006.000000" },
  commissionBps: 10
}

const filled: Filled = {
  at: 5,
  tradeId: 71,
  totals: { filledQty: "0.1000", consumed: "0", released: "0", quoteTotal: "0" },
  complete: true,
  money: { pnl: "-25.000000", commission: "1.800000", quote: "USDC", spot: null }
}

/** A fill that completes an order and closes a position. */
export const lastFill: OrderEvent = { type: "FILL", ...filled }

/** A partial fill of a purchase at 59,000. The price is below the order's limit, so a part of the reserve is returned. */
export const partialFill: OrderEvent = {
  type: "FILL",
  ...filled,
  tradeId: 70,
  complete: false,
  totals: { filledQty: "0.0400", consumed: "2362.360000", released: "40.040000", quoteTotal: "2360" },
  money: {
    pnl: null,
    commission: "2.360000",
    quote: "USDC",
    spot: { base: "BTC", baseAmount: "0.04000000", quoteAmount: "-2360.000000", unreserved: "2402.400000" }
  }
}

export const orderSamples: ReadonlyArray<OrderEvent> = [
  { type: "SEND", at: 5 },
  { type: "ADOPTED", at: 5, venueOrderId: 9 },
  { type: "ACKED", at: 5, venueOrderId: 9 },
  { type: "REFUSED", at: 5, reason: "market halted", isVoid: false },
  { type: "REFUSED", at: 5, reason: "not found at the venue", isVoid: true },
  { type: "TRIGGERED", at: 5 },
  partialFill,
  lastFill,
  { type: "ENDED", at: 5, how: "CANCELLED", reason: null },
  { type: "ENDED", at: 5, how: "REJECTED", reason: "no position to reduce" },
  { type: "CANCEL", at: 5, attempt: 1, note: null },
  { type: "CANCEL", at: 5, attempt: 2, note: null },
  { type: "CANCEL_REFUSED", at: 5, reason: "unknown order", askAgainAt: null },
  { type: "CANCEL_REFUSED", at: 5, reason: "unknown order", askAgainAt: 1_005 },
  { type: "AMEND", at: 5, attempt: 1, qty: "0.2000" },
  { type: "AMENDED", at: 5, qty: "0.1000" },
  { type: "AMEND_REFUSED", at: 5, askAgainAt: 9 },
  { type: "ATTACHED", at: 5, legs: [], note: null }
]
