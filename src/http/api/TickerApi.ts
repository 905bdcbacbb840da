/** Prices of one market (doc 2, Market data; A2-03). */
import { HttpApiEndpoint } from "effect/http-api"
import { TickerWire } from "../../machines/market/MarketWire.ts"
import { away, ofSymbol } from "./ofSymbol.ts"
import { summary } from "./summary.ts"

export const ticker = HttpApiEndpoint.get("ticker", "/ticker", {
  ...ofSymbol,
  success: TickerWire.annotate({ description: "Success." })
}).annotateMerge(summary("Prices of one market", away))
