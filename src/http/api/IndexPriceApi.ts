/** The index price of one market (doc 2, Market data; A2-08). */
import { HttpApiEndpoint } from "effect/http-api"
import { IndexPriceWire } from "../../machines/market/MarketWire.ts"
import { bare } from "./Envelope.ts"
import { away, ofSymbol } from "./ofSymbol.ts"
import { summary } from "./summary.ts"

export const indexPrice = HttpApiEndpoint.get("indexPrice", "/index-price", {
  ...ofSymbol,
  success: bare(IndexPriceWire)
}).annotateMerge(summary("The index price of one market (bare)", away))
