/** Prices of every listed market (doc 2, Market data; A2-113). */
import { HttpApiEndpoint } from "effect/http-api"
import { TickersWire } from "../../machines/market/MarketWire.ts"
import { bare } from "./Envelope.ts"
import { summary } from "./summary.ts"
import { VenueAway } from "./WireErrors.ts"

export const tickers = HttpApiEndpoint.get("tickers", "/tickers", {
  success: bare(TickersWire),
  error: VenueAway
}).annotateMerge(
  summary(
    "A row of prices for every listed market (bare)",
    "A market whose prices are not known has them null; so have all while the venue is away for more than 10 seconds."
  )
)
