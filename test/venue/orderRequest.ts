/** An order as tests of the venue place it: a buy of one lot at any price, but for what is said. */
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
