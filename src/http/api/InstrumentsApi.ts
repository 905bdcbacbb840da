/** All listed markets (doc 2, Market data; A2-02). */
import { HttpApiEndpoint } from "effect/http-api"
import { InstrumentsWire } from "../../machines/market/MarketWire.ts"
import { bare } from "./Envelope.ts"
import { summary } from "./summary.ts"
import { VenueAway } from "./WireErrors.ts"

export const instruments = HttpApiEndpoint.get("instruments", "/instruments", {
  success: bare(InstrumentsWire),
  error: VenueAway
}).annotateMerge(
  summary(
    "Every market that is listed (bare)",
    "Symbols and families; what may be traded in which way says market-info."
  )
)
