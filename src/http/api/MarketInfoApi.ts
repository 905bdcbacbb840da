/** Grids, limits and terms of one market (doc 2, Market data; A2-10). */
import { HttpApiEndpoint } from "effect/http-api"
import { MarketInfoWire } from "../../machines/market/MarketWire.ts"
import { bare } from "./Envelope.ts"
import { ofSymbol } from "./ofSymbol.ts"
import { summary } from "./summary.ts"

export const marketInfo = HttpApiEndpoint.get("marketInfo", "/market-info", {
  ...ofSymbol,
  success: bare(MarketInfoWire)
}).annotateMerge(
  summary(
    "Grids, limits, leverage and commission of one market (bare)",
    "Everything an order or a contract is checked against beforehand: price and quantity steps, least and largest sizes, leverage by notional, the commission that applies to the calling partner, and the terms of knock-out contracts."
  )
)
