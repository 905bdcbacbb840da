/** An order as the venue says it: one that did not trade, of a ref of ours or of none. */
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
