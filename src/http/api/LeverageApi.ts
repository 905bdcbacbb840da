/** Leverage of a client in a market, bare routes (doc 2, Margin picture; A2-50). */
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { LeverageBody } from "../../machines/order/LeverageBody.ts"
import { LeverageWire } from "../../machines/order/OrderWire.ts"
import { bodyCaps } from "../../machines/shared/Limits.ts"
import { bare } from "./Envelope.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { clientParams, symbolParam } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict, VenueAway } from "./WireErrors.ts"

const writes = { idempotent: true, reliance: false, bodyCap: bodyCaps.order } as const
const path = "/clients/:clientId/leverage"
const choice = {
  params: clientParams,
  headers: idempotencyHeaders,
  payload: LeverageBody,
  success: bare(LeverageWire),
  error: [BadRequest, Conflict, VenueAway]
} as const

const choosing = (text: string) =>
  OpenApi.annotations({
    summary: text,
    description:
      "Applies at once to position and working orders of the market. 400 above the cap; 404 of a market that is no perpetual. 409 code 4090 with data {wouldBreach: true, initialMarginAfter, maintenanceMarginAfter, freeMarginAfter, marginLevelAfter, riskStateAfter} when the account would be in a margin call or a close-out, or need more initial margin than it has: force applies it all the same. What lowers the initial margin is never refused for it. The body may have up to 16 KB."
  })

export const leverageView = HttpApiEndpoint.get("leverage", path, {
  params: clientParams,
  query: { symbol: symbolParam },
  success: bare(LeverageWire),
  error: [BadRequest, VenueAway]
}).annotateMerge(
  OpenApi.annotations({
    summary: "Leverage of a client in a market (bare)",
    description: "404 of a market that is no perpetual."
  })
)

export const leverageChoice = HttpApiEndpoint.put("chooseLeverage", path, choice)
  .annotate(RouteRules, writes)
  .annotateMerge(choosing("Choose a client's leverage in a market (bare)"))

/** The same operation as PUT, for callers that can't send PUT. */
export const leveragePost = HttpApiEndpoint.post("postLeverage", path, choice)
  .annotate(RouteRules, writes)
  .annotateMerge(choosing("Choose a client's leverage in a market, as PUT does (bare)"))
