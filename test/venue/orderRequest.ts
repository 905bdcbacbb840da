/** An order for tests of the venue: by default a purchase of one lot at any price. */
import type { OrderRequest } from "../../simulator/venue/core/Order.ts"

export const orderRequest = (parts: Partial<OrderRequest> = {}): OrderRequest => ({
  ref: "O-1",
  accountId: 1,
  symbol: "BTC-USDC-PERP",
  side: "BUY",
  price: null,
  quantity: 1,
  tif: "GTC",
  reduceOnly: false,
  trigger: null,
  group: null,
  ...parts
})
