// Clients: onboarding, the client row, list and look-up by the partner's reference (doc 1, Client row, Onboarding
// request, Onboarding result; A1-09..A1-12).
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { lifecycleStates, verificationLevels } from "../../machines/client/Client.ts"
import { caseReasons } from "../../machines/compliance/Case.ts"
import { DescribedOnboardingBody } from "../../machines/kyc/OnboardingRequest.ts"
import { Id } from "../../machines/shared/Ids.ts"
import { bodyCaps, kycLengths, pageLimits } from "../../machines/shared/Limits.ts"
import { Requirements } from "../../machines/verification/requirements.ts"
import { created, ok } from "./Envelope.ts"
import { idempotencyHeaders, pageEnd } from "./Paging.ts"
import { clientParams, pageParams, pathText, textParam, tokenParam } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict } from "./WireErrors.ts"

const uid = Schema.String.annotate({ description: "The client's uid, assigned by the service." })
const ref = Schema.String.annotate({ description: "The partner's own reference, unique per partner for ever." })
const level = Schema.Literals(verificationLevels)
const lifecycle = Schema.Literals(lifecycleStates)

/** The client as lists and single reads show it (doc 1, Client row). */
export const ClientRow = Schema.Struct({
  clientId: Id,
  clientUid: uid,
  partnerClientRef: ref,
  email: Schema.String.annotate({ description: "Lower case." }),
  displayName: Schema.String.annotate({ description: "Follows the verified name." }),
  verificationLevel: level,
  lifecycleState: lifecycle,
  categorization: Schema.Literals(["RETAIL", "PROFESSIONAL"]),
  riskState: Schema.NullOr(Schema.Literals(["NORMAL", "MARGIN_CALL", "CLOSE_OUT"])).annotate({
    description: "Null when the margin engine is not attached."
  }),
  cashUsdc: Schema.String.annotate({ description: "USDC cash, decimal string with six places." }),
  createdAt: Schema.Int.annotate({ description: "Unix ms." })
}).annotate({ identifier: "ClientRow" })

/** POST /clients, data (doc 1, Onboarding result). */
export const OnboardingResult = Schema.Struct({
  clientId: Id,
  clientUid: uid,
  partnerClientRef: ref,
  verificationLevel: level.annotate({ description: "MICA on success, NONE on review." }),
  lifecycleState: lifecycle,
  status: Schema.Literals(["ACTIVE", "PENDING_REVIEW"]),
  kycPackageId: Id,
  requirements: Requirements.annotate({ description: "Blocks still missing per action; an empty list is open." }),
  review: Schema.NullOr(
    Schema.Struct({
      reason: Schema.Literals(caseReasons.filter((reason) => reason !== "DUPLICATE_PERSON")),
      caseId: Id
    })
  )
}).annotate({ identifier: "OnboardingResult" })

const listQuery = {
  ...pageParams(pageLimits.clients),
  q: textParam("q", "Part of e-mail, display name or reference, case-insensitive."),
  state: tokenParam("state", lifecycleStates),
  level: tokenParam("level", verificationLevels)
}

export class ClientsApi extends HttpApiGroup.make("clients")
  .add(
    HttpApiEndpoint.get("list", "/clients", {
      query: listQuery,
      success: ok(Schema.Struct({ clients: Schema.Array(ClientRow), ...pageEnd })),
      error: BadRequest
    }).annotateMerge(OpenApi.annotations({ summary: "List clients, newest first" })),
    HttpApiEndpoint.get("getByRef", "/clients/by-ref/:partnerClientRef", {
      params: {
        partnerClientRef: pathText("Client", kycLengths.partnerClientRef, "The partner's reference, percent-encoded.")
      },
      success: ok(ClientRow)
    }).annotateMerge(OpenApi.annotations({ summary: "One client by the partner's reference" })),
    HttpApiEndpoint.get("get", "/clients/:clientId", { params: clientParams, success: ok(ClientRow) }).annotateMerge(
      OpenApi.annotations({ summary: "One client" })
    ),
    HttpApiEndpoint.post("create", "/clients", {
      headers: idempotencyHeaders,
      payload: DescribedOnboardingBody,
      success: created(OnboardingResult),
      error: [BadRequest, Conflict]
    })
      .annotate(RouteRules, { idempotent: true, reliance: true, bodyCap: bodyCaps.onboarding })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Onboard a client under KYC reliance",
          description: "The body may have up to 256 KB."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ title: "Clients", description: "The partner's end clients." })) {}
