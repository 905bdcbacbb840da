/** The four MiFID blocks of a client (doc 1, Appropriateness and MiFID blocks; A1-43). */
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { MifidResult } from "../../machines/client/ClientWire.ts"
import { MifidBody } from "../../machines/mifid/MifidBody.ts"
import { bodyCaps } from "../../machines/shared/Limits.ts"
import { ok } from "./Envelope.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { clientParams } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict } from "./WireErrors.ts"

export const mifid = HttpApiEndpoint.put("mifid", "/clients/:clientId/mifid", {
  params: clientParams,
  headers: idempotencyHeaders,
  payload: MifidBody,
  success: ok(MifidResult),
  error: [BadRequest, Conflict]
})
  .annotate(RouteRules, { idempotent: true, reliance: true, bodyCap: bodyCaps.mifid })
  .annotateMerge(
    OpenApi.annotations({
      summary: "Write the four MiFID blocks",
      description: "All four sections every time. The body may have up to 64 KB."
    })
  )
