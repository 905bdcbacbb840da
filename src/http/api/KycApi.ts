// A client's KYC package: the latest revision, a further one, and onboarding again after a rejection (doc 1, KYC package,
// KYC update result and Rules of POST /clients and PUT .../kyc 7 and 8; A1-32..A1-36).
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { lifecycleStates, verificationLevels } from "../../machines/client/Client.ts"
import { kycPackageStatuses } from "../../machines/kyc/KycPackage.ts"
import { KycUpdateBody } from "../../machines/kyc/KycUpdateRequest.ts"
import { screeningAnswers } from "../../machines/kyc/KycWire.ts"
import { Id } from "../../machines/shared/Ids.ts"
import { bodyCaps } from "../../machines/shared/Limits.ts"
import { BlockDecider } from "../../machines/verification/Blocks.ts"
import { OnboardingResult } from "./ClientsApi.ts"
import { ok } from "./Envelope.ts"
import { idempotencyHeaders } from "./Paging.ts"
import { clientParams } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict } from "./WireErrors.ts"

const status = Schema.Literals(kycPackageStatuses)
const revision = Schema.Int.annotate({ description: "1 at onboarding, one more with each update." })

/** GET .../kyc, data (doc 1, KYC package). */
export const KycPackage = Schema.Struct({
  kycPackageId: Id,
  partnerId: Id,
  clientId: Id,
  clientUid: Schema.String,
  revision,
  status,
  receivedAt: Schema.Int.annotate({ description: "Unix ms." }),
  payload: Schema.Json.annotate({ description: "The sections of this revision as received." }),
  attestation: Schema.Json.annotate({ description: "As received." }),
  reviewedBy: Schema.NullOr(BlockDecider).annotate({ description: "A role, never a person's name." }),
  reviewedAt: Schema.NullOr(Schema.Int).annotate({ description: "Unix ms." }),
  reviewNote: Schema.NullOr(Schema.String).annotate({ description: "For DOCUMENTS_REQUESTED and REJECTED only." })
}).annotate({ identifier: "KycPackage" })

/** PUT .../kyc, data (doc 1, KYC update result). */
export const KycUpdateResult = Schema.Struct({
  clientId: Id,
  clientUid: Schema.String,
  partnerClientRef: Schema.String,
  kycPackageId: Id,
  revision,
  status,
  verificationLevel: Schema.Literals(verificationLevels),
  lifecycleState: Schema.Literals(lifecycleStates),
  identityChanged: Schema.Boolean.annotate({
    description: "Name, date of birth or the set of citizenships differ from what was known."
  }),
  screening: Schema.Literals(screeningAnswers).annotate({
    description: "NOT_RUN unless the identity changed or the client was onboarded again."
  }),
  reonboarded: Schema.optionalKey(Schema.Literal(true)).annotate({
    description: "Only when the client was onboarded again, as are the three that follow."
  }),
  grant: Schema.optionalKey(Schema.Literals(["ACTIVE", "PENDING_REVIEW"])),
  review: Schema.optionalKey(OnboardingResult.fields.review),
  requirements: Schema.optionalKey(OnboardingResult.fields.requirements)
}).annotate({ identifier: "KycUpdateResult" })

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
      success: ok(KycPackage)
    }).annotateMerge(OpenApi.annotations({ summary: "The latest revision of a client's KYC package" }))
  )
  .annotateMerge(OpenApi.annotations({ title: "KYC", description: "KYC packages of clients." })) {}
