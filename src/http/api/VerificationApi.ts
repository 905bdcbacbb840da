// What a client is verified for and what is still missing (doc 1, Verification view; A1-45, A1-46).
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { lifecycleStates, verificationLevels } from "../../machines/client/Client.ts"
import { kycPackageStatuses } from "../../machines/kyc/KycPackage.ts"
import { Id } from "../../machines/shared/Ids.ts"
import { BlockView } from "../../machines/verification/Blocks.ts"
import { Requirements } from "../../machines/verification/requirements.ts"
import { ok } from "./Envelope.ts"
import { clientParams } from "./Parameters.ts"

const millis = Schema.NullOr(Schema.Int).annotate({ description: "Unix ms." })

/** The assessment in verification views and in the answer of PUT .../mifid (doc 1, Appropriateness summary object). */
export const AppropriatenessSummary = Schema.Struct({
  version: Schema.NullOr(Schema.Int),
  outcome: Schema.NullOr(Schema.Literals(["PASS", "WARN", "FAIL"])),
  score: Schema.NullOr(Schema.Int),
  takenAt: millis,
  acknowledgedAt: millis,
  retakeAt: millis,
  requiresAcknowledgement: Schema.NullOr(Schema.Boolean),
  attempt: Schema.Int
}).annotate({ description: "All null or 0 before a first attempt." })

/** GET .../verification, data (doc 1, Verification view). */
export const Verification = Schema.Struct({
  clientId: Id,
  clientUid: Schema.String,
  partnerClientRef: Schema.String,
  level: Schema.Literals(verificationLevels),
  lifecycleState: Schema.Literals(lifecycleStates),
  blocks: Schema.Array(BlockView).annotate({ description: "Twelve: seven for MICA, five more for MICA_MIFID." }),
  requirements: Requirements,
  appropriateness: AppropriatenessSummary,
  kycPackage: Schema.NullOr(
    Schema.Struct({
      kycPackageId: Id,
      revision: Schema.Int,
      status: Schema.Literals(kycPackageStatuses),
      reviewNote: Schema.NullOr(Schema.String)
    })
  )
}).annotate({ identifier: "Verification" })

export class VerificationApi extends HttpApiGroup.make("verification")
  .add(
    HttpApiEndpoint.get("get", "/clients/:clientId/verification", {
      params: clientParams,
      success: ok(Verification)
    }).annotateMerge(OpenApi.annotations({ summary: "Level, blocks and open requirements of a client" }))
  )
  .annotateMerge(OpenApi.annotations({ title: "Verification", description: "Verification of clients." })) {}
