/**
 * The appropriateness test and the MiFID blocks: together they give level MICA_MIFID (doc 1, Appropriateness and MiFID
 * blocks; A1-39..A1-43).
 */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AcknowledgementBody, SubmissionBody } from "../../machines/appropriateness/AppropriatenessBody.ts"
import { AcknowledgeResult, AssessmentResult } from "../../machines/appropriateness/Assessment.ts"
import { bodyCaps } from "../../machines/shared/Limits.ts"
import { ok } from "./Envelope.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { clientParams } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict } from "./WireErrors.ts"
import { questionnaire } from "./AppropriatenessTestApi.ts"
import { mifid } from "./MifidApi.ts"

export class AppropriatenessApi extends HttpApiGroup.make("appropriateness")
  .add(
    questionnaire,
    HttpApiEndpoint.post("submit", "/clients/:clientId/appropriateness", {
      params: clientParams,
      headers: idempotencyHeaders,
      payload: SubmissionBody,
      success: ok(AssessmentResult),
      error: [BadRequest, Conflict]
    })
      .annotate(RouteRules, { idempotent: true, reliance: false, bodyCap: bodyCaps.appropriateness })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Take the appropriateness test",
          description:
            "409 with data {currentVersion} for another version than the one in force, 429 with data {retakeAt} within 24 hours of an attempt. The body may have up to 16 KB."
        })
      ),
    HttpApiEndpoint.post("acknowledge", "/clients/:clientId/appropriateness/acknowledge", {
      params: clientParams,
      headers: idempotencyHeaders,
      payload: AcknowledgementBody,
      success: ok(AcknowledgeResult),
      error: [BadRequest, Conflict]
    })
      .annotate(RouteRules, { idempotent: true, reliance: false, bodyCap: bodyCaps.appropriateness })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Acknowledge the warning of an assessment",
          description:
            "acknowledgedAt is when the client acknowledged, not in the future. The body may have up to 16 KB."
        })
      ),
    mifid
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Appropriateness",
      description: "The test and the blocks that level MICA_MIFID needs, in either order."
    })
  ) {}
