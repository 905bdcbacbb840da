/** The input of an order at a reference, and its stored context: as many data as the service stores (`OrderContext`). */
import type { AskedLimit } from "./protocol.ts"

const decimal = { type: "string", pattern: "^(0|[1-9][0-9]{0,11})(\\.[0-9]{1,8})?$" } as const

/** The body of a LIMIT order as JSON schema. */
export const limitSchema = {
  type: "object",
  required: ["symbol", "side", "type", "qty", "price"],
  properties: {
    symbol: { type: "string", maxLength: 40 },
    side: { type: "string", enum: ["BUY", "SELL"] },
    type: { type: "string", enum: ["LIMIT"] },
    qty: decimal,
    price: decimal
  }
} as const

/** Leverage of a retail client in crypto, and the commission rate of perpetuals. */
export const leverage = 10
export const commissionBps = 5
/** Micro-USDC of one unit of price (one place) times quantity (four places). */
const microOfUnits = 10n

/** The value of an order in micro-USDC; prices have one decimal place, quantities four. */
export const valueOf = (price: string, qty: string): bigint =>
  BigInt(price.replace(".", "")) * BigInt(qty.replace(".", "")) * microOfUnits

const ceilDiv = (value: bigint, by: bigint): bigint => (value + by - 1n) / by

/** The amount that an order holds, commission included, micro-USDC. */
export const heldFor = (price: string, qty: string): bigint => {
  const value = valueOf(price, qty)
  return ceilDiv(value, BigInt(leverage)) + ceilDiv(value * BigInt(commissionBps), 10_000n)
}

export interface ReferenceOrder extends AskedLimit {
  readonly orderId: number
  readonly clientId: number
  readonly account: string
  readonly at: number
}

/** The stored context of an order before the venue's answer. */
export const contextOf = ({ orderId, clientId, account, symbol, side, qty, price, at }: ReferenceOrder) => ({
  symbol,
  family: "PERP",
  side,
  type: "LIMIT",
  qty,
  price,
  venuePrice: price,
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
  leverage,
  reserved: null,
  commissionBps,
  priceDecimals: 1,
  qtyDecimals: 4,
  orderId,
  clientId,
  account,
  createdAt: at,
  updatedAt: at,
  venueOrderId: null as number | null,
  filledQty: "0",
  lastTradeId: 0,
  consumed: "0",
  released: "0",
  quoteTotal: "0",
  cancelling: null as { readonly attempt: number; readonly from: string } | null,
  cancels: 0,
  amending: null,
  amends: 0,
  triggeredAt: null,
  reject: null,
  legs: []
})
