/**
 * Clients: onboarding, the client row, list and search by the partner's reference (doc 1, Client row, Onboarding request,
 * Onboarding result; A1-09..A1-12).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { lifecycleStates } from "../../machines/client/Client.ts"
import { verificationLevels } from "../../machines/verification/Blocks.ts"
import { DescribedOnboardingBody } from "../../machines/kyc/OnboardingBody.ts"
import { ClientWire, OnboardingResult } from "../../machines/client/ClientWire.ts"
import { pageEnd } from "../../machines/shared/Page.ts"
import { bodyCaps, kycLengths, pageLimits } from "../../machines/shared/Limits.ts"
import { created, ok } from "./Envelope.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { clientParams, pageParams, pathText, textParam, tokenParam } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict } from "./WireErrors.ts"

const listQuery = {
  ...pageParams(pageLimits.clients),
  q: textParam("q", "Part of e-mail, display name or reference, case-insensitive."),
  state: tokenParam("state", lifecycleStates, "Only clients in this lifecycle state; all when absent."),
  level: tokenParam("level", verificationLevels, "Only clients of this verification level.")
}

export class ClientsApi extends HttpApiGroup.make("clients")
  .add(
    HttpApiEndpoint.get("list", "/clients", {
      query: listQuery,
      success: ok(Schema.Struct({ clients: Schema.Array(ClientWire), ...pageEnd })),
      error: BadRequest
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List clients, newest first",
        description:
          "q looks in e-mail, display name and partnerClientRef, whatever the case; state and level narrow it. nextBefore is the before of the next page, null on the last one."
      })
    ),
    HttpApiEndpoint.get("getByRef", "/clients/by-ref/:partnerClientRef", {
      params: {
        partnerClientRef: pathText("Client", kycLengths.partnerClientRef, "The partner's reference, percent-encoded.")
      },
      success: ok(ClientWire)
    }).annotateMerge(
      OpenApi.annotations({
        summary: "One client by the partner's reference",
        description:
          "The client that was onboarded with this partnerClientRef, exact; percent-encode what a path can't hold."
      })
    ),
    HttpApiEndpoint.get("get", "/clients/:clientId", { params: clientParams, success: ok(ClientWire) }).annotateMerge(
      OpenApi.annotations({
        summary: "One client",
        description:
          "Level, lifecycle state, category and risk state of now, and USDC cash. 404 for a client of another partner, as for one that does not exist."
      })
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
