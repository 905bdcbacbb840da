/** A client's verification level and its open requirements (doc 1, Verification view; A1-45, A1-46). */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { VerificationView } from "../../machines/client/ClientWire.ts"
import { ok } from "./Envelope.ts"
import { clientParams } from "./Parameters.ts"

export class VerificationApi extends HttpApiGroup.make("verification")
  .add(
    HttpApiEndpoint.get("get", "/clients/:clientId/verification", {
      params: clientParams,
      success: ok(VerificationView)
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Level, blocks and open requirements of a client",
        description:
          "Each block with its status and who decided it, what every action still lacks, the last appropriateness assessment and where the KYC package stands: all that a page asking the client for more needs."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Verification", description: "Verification of clients." })) {}
