/** Margin preview and leverage, bare routes of the group that has the margin picture (doc 2, Margin picture; A2-49, A2-50, A2-51). */
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { LeverageBody } from "../../machines/order/LeverageBody.ts"
import { LeverageWire, MarginPreviewWire } from "../../machines/order/OrderWire.ts"
import { PreviewBody } from "../../machines/order/PreviewBody.ts"
import { bodyCaps } from "../../machines/shared/Limits.ts"
import { bare } from "./Envelope.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { clientParams, symbolParam } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict, PreviewRefused, VenueAway } from "./WireErrors.ts"

const writes = { idempotent: false, reliance: false, bodyCap: bodyCaps.order } as const
const path = "/clients/:clientId/leverage"
const choice = {
  params: clientParams,
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

export const marginPreview = HttpApiEndpoint.post("preview", "/clients/:clientId/margin/preview", {
  params: clientParams,
  payload: PreviewBody,
  success: bare(MarginPreviewWire),
  error: [PreviewRefused, BadRequest, Conflict, VenueAway]
})
  .annotate(RouteRules, writes)
  .annotateMerge(
    OpenApi.annotations({
      summary: "Preview an order (bare)",
      description:
        "Takes an order without ocoGroup and writes nothing; attached levels pass the gates of an order's attached levels. leverage is what it is previewed at, without being chosen. 400 when the order would be refused, the client's verification included: the preview, with accepted false and the order's own sentence as reason, beside the error's members; figures that could not be worked out are null. 404, 409 of a closed account and 502 are those of the order. The body may have up to 16 KB."
    })
  )

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

export const leverageChoice = HttpApiEndpoint.put("chooseLeverage", path, { ...choice, headers: idempotencyHeaders })
  .annotate(RouteRules, { ...writes, idempotent: true })
  .annotateMerge(choosing("Choose a client's leverage in a market (bare)"))

/** The same for callers that can't send PUT. */
export const leveragePost = HttpApiEndpoint.post("postLeverage", path, { ...choice, headers: idempotencyHeaders })
  .annotate(RouteRules, { ...writes, idempotent: true })
  .annotateMerge(choosing("Choose a client's leverage in a market, as PUT does (bare)"))
