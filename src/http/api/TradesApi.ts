/** Trades of a client, a bare route (doc 2, Order; A2-43). */
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { TradesWire } from "../../machines/order/OrderWire.ts"
import { pageLimits } from "../../machines/shared/Limits.ts"
import { bare } from "./Envelope.ts"
import { clientParams, pageParams } from "./Parameters.ts"
import { BadRequest } from "./WireErrors.ts"

const page = { params: clientParams, query: pageParams(pageLimits.history), error: BadRequest } as const

export const trades = HttpApiEndpoint.get("trades", "/clients/:clientId/trades", {
  ...page,
  success: bare(TradesWire)
}).annotateMerge(
  OpenApi.annotations({
    summary: "Trades of a client, newest first (bare)",
    description:
      "Each execution once, with price, quantity, commission and what it realised. nextBefore is the before of the next page, null on the last one."
  })
)
