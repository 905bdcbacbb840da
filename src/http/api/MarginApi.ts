/**
 * A client's margin and its preview, bare routes. The group includes the leverage (doc 2, Margin picture; A2-49, A2-51, A2-112,
 * F4, F7).
 */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { MarginPicture } from "../../machines/margin/marginPicture.ts"
import { MarginPreviewWire } from "../../machines/order/OrderWire.ts"
import { PreviewBody } from "../../machines/order/PreviewBody.ts"
import { bodyCaps } from "../../machines/shared/Limits.ts"
import { bare } from "./Envelope.ts"
import { leverageChoice, leveragePost, leverageView } from "./LeverageApi.ts"
import { clientParams } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict, PreviewRefused, VenueAway } from "./WireErrors.ts"

export class MarginApi extends HttpApiGroup.make("margin")
  .add(
    HttpApiEndpoint.get("picture", "/clients/:clientId/margin", {
      params: clientParams,
      success: bare(MarginPicture)
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Margin of a client (bare)",
        description:
          "Worked out on the marks of this moment. closeOutEquity leaves the profits of open contracts out; under PARTNER custody cash is the reported collateral with the results since. 503 code 5030 when no venue is attached to the service."
      })
    ),
    HttpApiEndpoint.post("preview", "/clients/:clientId/margin/preview", {
      params: clientParams,
      payload: PreviewBody,
      success: bare(MarginPreviewWire),
      error: [PreviewRefused, BadRequest, Conflict, VenueAway]
    })
      .annotate(RouteRules, { idempotent: false, reliance: false, bodyCap: bodyCaps.order })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Preview an order (bare)",
          description:
            "Takes an order without ocoGroup and writes nothing; attached levels pass the gates of an order's attached levels. leverage is what it is previewed at, without being chosen. 400 when the order would be refused, the client's verification included: the preview, with accepted false and the order's own sentence as reason, beside the error's members; figures that could not be worked out are null. 404, 409 of a closed account and 502 are those of the order. The body may have up to 16 KB."
        })
      ),
    leverageView,
    leverageChoice,
    leveragePost
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Margin", description: "What of a client's money is tied up, and its risk." })
  ) {}
