/**
 * A client's KYC for compliance: read the file, request documents, draw samples, decide. Reads are POSTs, because each leaves
 * an audit row (operator surface, kyc; D1, D2, D3; A1-32).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { lifecycleStates } from "../../../machines/client/Client.ts"
import { BlockCode, BlockStatus, verificationLevels } from "../../../machines/verification/Blocks.ts"
import { Document } from "../../../machines/document/Document.ts"
import { kycPackageStatuses } from "../../../machines/kyc/KycPackage.ts"
import { text } from "../../../machines/shared/Fields.ts"
import { CandidateEntry } from "./CaseGroup.ts"
import { ClientView } from "./ClientGroup.ts"
import { compliance, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Millis, OptionalBody, rangeOf, Reason, Reference } from "./OperatorFieldSchemas.ts"

const client = { client: Reference }
const reasoned = Schema.Struct({ reason: Reason })
const success = Answer(ClientView)
const anyId = (label: string) => rangeOf(label, 1, Number.MAX_SAFE_INTEGER)

/** The complete file of one client; all lists newest first. */
export const KycFileView = Schema.Struct({
  clientId: Schema.Int,
  clientUid: Schema.String,
  partnerId: Schema.Int,
  partnerClientRef: Schema.String,
  lifecycleState: Schema.Literals(lifecycleStates),
  verificationLevel: Schema.Literals(verificationLevels),
  kycPackageId: Schema.Int,
  revision: Schema.Int,
  status: Schema.Literals(kycPackageStatuses),
  receivedAt: Millis,
  reviewedBy: Schema.NullOr(Schema.String),
  reviewedAt: Schema.NullOr(Millis),
  reviewNote: Schema.NullOr(Schema.String),
  sections: Schema.Array(Schema.Struct({ code: BlockCode, status: BlockStatus, data: Schema.Json })),
  attestation: Schema.Json,
  identitySessions: Schema.Array(
    Schema.Struct({
      sessionId: Schema.Int,
      provider: Schema.String,
      status: Schema.String,
      createdAt: Millis,
      data: Schema.Json
    })
  ),
  screeningRuns: Schema.Array(
    Schema.Struct({
      screeningRunId: Schema.Int,
      trigger: Schema.String,
      outcome: Schema.String,
      listVersion: Schema.Int,
      listVersions: Schema.Record(Schema.String, Schema.String),
      candidates: Schema.Json,
      ranAt: Millis
    })
  ),
  dispositions: Schema.Array(
    Schema.Struct({
      entryId: Schema.Int,
      disposition: Schema.Literals(["FALSE_POSITIVE", "TRUE_MATCH"]),
      outcome: Schema.NullOr(Schema.Literals(["CLEAR", "HIT", "POSSIBLE"])),
      score: Schema.NullOr(Schema.Number),
      decidedAt: Millis,
      decidedBy: Schema.String
    })
  ),
  entries: Schema.Array(CandidateEntry),
  decisions: Schema.Array(
    Schema.Struct({
      decision: Schema.String,
      reason: Schema.String,
      decidedBy: Schema.String,
      decidedAt: Millis
    })
  ),
  reportingRecord: Schema.NullOr(
    Schema.Struct({ fromRevision: Schema.Int, complete: Schema.Boolean, builtAt: Millis, record: Schema.Json })
  ),
  revisions: Schema.Array(Schema.Struct({ revision: Schema.Int, receivedAt: Millis })),
  documents: Schema.Array(Document)
})
export type KycFileView = typeof KycFileView.Type

export class KycGroup extends HttpApiGroup.make("kyc").add(
  HttpApiEndpoint.post("show", "/clients/:client/kyc/show", {
    params: client,
    payload: reasoned,
    success: Answer(KycFileView)
  }).pipe(openTo(compliance, { audited: true })),
  HttpApiEndpoint.post("clear", "/clients/:client/kyc/clear", {
    params: client,
    payload: OptionalBody({
      note: Schema.optionalKey(text("The note", 500)),
      revision: Schema.optionalKey(anyId("The revision")),
      // The cases that the operator has read. Other open cases, and those screened again later, are not cleared.
      cases: Schema.optionalKey(
        Schema.Array(anyId("A case"))
          .annotate({ message: "The cases must be a list of their numbers." })
          .check(Schema.isMaxLength(500, { message: "At most 500 cases can be named." }))
      ),
      // The latest screening run that the operator has read in the cases; 0 when they had none.
      screeningRun: Schema.optionalKey(rangeOf("The screening run", 0, Number.MAX_SAFE_INTEGER))
    }),
    success
  }).pipe(openTo(compliance)),
  HttpApiEndpoint.post("reject", "/clients/:client/kyc/reject", {
    params: client,
    payload: Schema.Struct({ reason: Reason, revision: Schema.optionalKey(anyId("The revision")) }),
    success
  }).pipe(openTo(compliance)),
  HttpApiEndpoint.post("reject-person", "/clients/:client/kyc/reject-person", {
    params: client,
    payload: reasoned,
    success
  }).pipe(openTo(compliance)),
  HttpApiEndpoint.post("request-documents", "/clients/:client/kyc/request-documents", {
    params: client,
    payload: Schema.Struct({ note: text("The note", 500) }),
    success
  }).pipe(openTo(compliance)),
  HttpApiEndpoint.post("sample", "/clients/:client/kyc/sample", { params: client, success }).pipe(openTo(compliance))
) {}
