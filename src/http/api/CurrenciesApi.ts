/** Currencies that a client may hold (doc 2, Market data; A2-12). */
import { HttpApiEndpoint } from "effect/http-api"
import { CurrenciesWire } from "../../machines/market/MarketWire.ts"
import { bare } from "./Envelope.ts"
import { summary } from "./summary.ts"
import { VenueAway } from "./WireErrors.ts"

export const currencies = HttpApiEndpoint.get("currencies", "/currencies", {
  success: bare(CurrenciesWire),
  error: VenueAway
}).annotateMerge(
  summary(
    "The currencies that a client may hold (bare)",
    "With their scale, which every amount of that currency has, and the places that are worth showing."
  )
)
