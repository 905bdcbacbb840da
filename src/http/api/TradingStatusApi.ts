/** Trading halts (doc 2, Market data; A2-11). */
import { HttpApiEndpoint } from "effect/http-api"
import { TradingStatusWire } from "../../machines/market/MarketWire.ts"
import { ok } from "./Envelope.ts"
import { summary } from "./summary.ts"
import { VenueAway } from "./WireErrors.ts"

export const tradingStatus = HttpApiEndpoint.get("tradingStatus", "/trading-status", {
  success: ok(TradingStatusWire),
  error: VenueAway
}).annotateMerge(
  summary(
    "Halts of trading, the venue's and the service's",
    "Empty halts: everything trades. Each halt has its scope, since when, until when if that is known, and the message to show."
  )
)
