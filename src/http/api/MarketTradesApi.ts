/** Public trades of one market (doc 2, Market data; A2-07). */
import { HttpApiEndpoint } from "effect/http-api"
import { MarketTradesWire } from "../../machines/market/MarketWire.ts"
import { pageLimits } from "../../machines/shared/Limits.ts"
import { bare } from "./Envelope.ts"
import { away } from "./ofSymbol.ts"
import { limitParam, symbolParam } from "./Parameters.ts"
import { summary } from "./summary.ts"
import { BadRequest, NotFound, VenueAway } from "./WireErrors.ts"

export const marketTrades = HttpApiEndpoint.get("marketTrades", "/market-trades", {
  query: { symbol: symbolParam, limit: limitParam(pageLimits.marketTrades) },
  success: bare(MarketTradesWire),
  error: [BadRequest, NotFound, VenueAway]
}).annotateMerge(summary("The newest public trades of one market (bare)", away))
