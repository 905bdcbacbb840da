/** Closed parts of a client's positions, a bare route (doc 2, Order; A2-100). */
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { PositionHistoryWire } from "../../machines/order/OrderWire.ts"
import { pageLimits } from "../../machines/shared/Limits.ts"
import { bare } from "./Envelope.ts"
import { clientParams, pageParams } from "./Parameters.ts"
import { BadRequest } from "./WireErrors.ts"

const page = { params: clientParams, query: pageParams(pageLimits.history), error: BadRequest } as const

export const positionHistory = HttpApiEndpoint.get("history", "/clients/:clientId/position-history", {
  ...page,
  success: bare(PositionHistoryWire)
}).annotateMerge(
  OpenApi.annotations({
    summary: "What of a client's positions was closed, newest first (bare)",
    description: "A row for each fill that made a position smaller; of one that turned it, the part that closed."
  })
)
