/** Funding of one market (doc 2, Market data; A2-09). */
import { HttpApiEndpoint } from "effect/http-api"
import { FundingWire } from "../../machines/market/MarketWire.ts"
import { bare } from "./Envelope.ts"
import { away, ofSymbol } from "./ofSymbol.ts"
import { summary } from "./summary.ts"

export const funding = HttpApiEndpoint.get("funding", "/funding", {
  ...ofSymbol,
  success: bare(FundingWire)
}).annotateMerge(summary("Funding of one market (bare)", `${away} Rates are null but on PERP.`))
