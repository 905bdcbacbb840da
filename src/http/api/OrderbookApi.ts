/** The order book of one market (doc 2, Market data; A2-06). */
import { HttpApiEndpoint } from "effect/http-api"
import { depths, OrderBookWire } from "../../machines/market/MarketWire.ts"
import { bare } from "./Envelope.ts"
import { away } from "./ofSymbol.ts"
import { numberParam, symbolParam } from "./Parameters.ts"
import { summary } from "./summary.ts"
import { BadRequest, NotFound, VenueAway } from "./WireErrors.ts"

export const orderbook = HttpApiEndpoint.get("orderbook", "/orderbook", {
  query: {
    symbol: symbolParam,
    depth: numberParam("depth", depths, 25, "Levels a side: 1, 5, 25 or 100; 25 when absent.")
  },
  success: bare(OrderBookWire),
  error: [BadRequest, NotFound, VenueAway]
}).annotateMerge(summary("The order book of one market (bare)", `${away} A BARRIER market has none: it is empty.`))
