/**
 * Collateral reports of PARTNER custody: the partner reports a payment received or made, and the service books or refuses it in
 * the same call (doc 3, Collateral report and its rules; A3-14..A3-16).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { CollateralAnswer, CollateralReport, collateralStatuses } from "../../machines/collateral/CollateralReport.ts"
import { CollateralBody } from "../../machines/collateral/CollateralBody.ts"
import { pageEnd } from "../../machines/shared/Page.ts"
import { bodyCaps, pageLimits } from "../../machines/shared/Limits.ts"
import { created, ok } from "./Envelope.ts"
import { explainRules, explains, explainText } from "./explanation.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { clientParams, pageParams, tokenParam } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict } from "./WireErrors.ts"

const listQuery = {
  ...pageParams(pageLimits.collateral),
  status: tokenParam("status", collateralStatuses, "Only reports of this status.")
}
const page = ok(
  Schema.Struct({ reports: Schema.Array(CollateralReport.annotate({ identifier: "CollateralReport" })), ...pageEnd })
)

export class CollateralApi extends HttpApiGroup.make("collateral")
  .add(
    HttpApiEndpoint.post("report", "/clients/:clientId/collateral", {
      params: clientParams,
      headers: idempotencyHeaders,
      payload: CollateralBody,
      success: [created(CollateralAnswer), ok(CollateralAnswer)],
      error: [BadRequest, Conflict]
    })
      .annotate(RouteRules, { idempotent: true, reliance: false, bodyCap: bodyCaps.collateral })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Report a deposit or withdrawal of collateral",
          description:
            "201 for a report booked now; 200 with the original when the partnerRef was reported before. The body may have up to 64 KB."
        })
      ),
    HttpApiEndpoint.get("listOfClient", "/clients/:clientId/collateral", {
      params: clientParams,
      query: listQuery,
      success: page,
      error: BadRequest
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Collateral reports of one client, newest first",
        description:
          "Booked and refused ones; a refused report says why in refusal. nextBefore is the before of the next page, null on the last one."
      })
    ),
    HttpApiEndpoint.get("list", "/collateral", { query: listQuery, success: page, error: BadRequest }).annotateMerge(
      OpenApi.annotations({
        summary: "Collateral reports of all clients, newest first",
        description:
          "Booked and refused ones; a refused report says why in refusal. nextBefore is the before of the next page, null on the last one."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Collateral", description: "PARTNER custody: collateral reports." })) {}

export const explainCollateral = HttpApiEndpoint.post("collateral", "/clients/:clientId/collateral/explain", {
  ...explains,
  payload: CollateralBody
})
  .annotate(RouteRules, explainRules(bodyCaps.collateral))
  .annotateMerge(explainText("a collateral report"))
