/**
 * A client's KYC package: reads the latest revision, files a further one, and onboards again after a rejection (doc 1, KYC
 * package, KYC update result and Rules of POST /clients and PUT .../kyc 7 and 8; A1-32..A1-36).
 */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { KycUpdateBody } from "../../machines/kyc/KycUpdateBody.ts"
import { KycPackageView, KycUpdateResult } from "../../machines/client/KycWire.ts"
import { bodyCaps } from "../../machines/shared/Limits.ts"
import { ok } from "./Envelope.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { clientParams } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict } from "./WireErrors.ts"

export class KycApi extends HttpApiGroup.make("kyc")
  .add(
    HttpApiEndpoint.put("update", "/clients/:clientId/kyc", {
      params: clientParams,
      headers: idempotencyHeaders,
      payload: KycUpdateBody,
      success: ok(KycUpdateResult),
      error: [BadRequest, Conflict]
    })
      .annotate(RouteRules, { idempotent: true, reliance: true, bodyCap: bodyCaps.onboarding })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Revise a client's KYC, or onboard the client again",
          description:
            "At least one section and the attestation; document references name documents uploaded for this client. A client whose reliance was rejected is onboarded again: the body must then carry all six sections, identityCheck and the attestation. 409 on a closed account. The client's country of residence stays the one of its onboarding (residencyCountry, else the address's), whatever country a later address names. The body may have up to 256 KB."
        })
      ),
    HttpApiEndpoint.get("get", "/clients/:clientId/kyc", {
      params: clientParams,
      success: ok(KycPackageView)
    }).annotateMerge(
      OpenApi.annotations({
        summary: "The latest revision of a client's KYC package",
        description: "As it was sent, with the attestation and what was decided about it. 404 when none was ever sent."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "KYC", description: "KYC packages of clients." })) {}
