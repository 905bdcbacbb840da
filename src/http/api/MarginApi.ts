/** A client's margin and the leverage of its perpetuals (doc 2, Margin picture; A2-50, A2-112, F4, F7), bare routes. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { MarginPicture } from "../../machines/margin/marginPicture.ts"
import { bare } from "./Envelope.ts"
import { leverageChoice, leveragePost, leverageView, marginPreview } from "./marginEndpoints.ts"
import { clientParams } from "./Parameters.ts"

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
    marginPreview,
    leverageView,
    leverageChoice,
    leveragePost
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Margin", description: "What of a client's money is tied up, and its risk." })
  ) {}
