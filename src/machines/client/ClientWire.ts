/**
 * Shapes of a client on the wire: the row, the onboarding result and the verification view. Each is declared once, for the
 * contract and for the services (doc 1; A1-12).
 */
import { Schema } from "effect"
import { caseReasons } from "../compliance/Case.ts"
import { kycPackageStatuses } from "../kyc/KycPackage.ts"
import { Id } from "../shared/Ids.ts"
import { BlockView, verificationLevels } from "../verification/Blocks.ts"
import { Requirements } from "../verification/requirements.ts"
import { lifecycleStates } from "./Client.ts"

const uid = Schema.String.annotate({ description: "The client's uid, assigned by the service." })
const ref = Schema.String.annotate({ description: "The partner's own reference, unique per partner for ever." })
const level = Schema.Literals(verificationLevels)
const lifecycle = Schema.Literals(lifecycleStates)

/** The client as lists and single reads show it. */
export const ClientWire = Schema.Struct({
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
export type ClientWire = typeof ClientWire.Type

/** The data of the answer to POST /clients. */
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
export type OnboardingResult = typeof OnboardingResult.Type

const moment = Schema.NullOr(Schema.Int).annotate({ description: "Unix ms." })

/** The assessment in verification views and in the answer of PUT .../mifid. */
export const AppropriatenessSummary = Schema.Struct({
  version: Schema.NullOr(Schema.Int),
  outcome: Schema.NullOr(Schema.Literals(["PASS", "WARN", "FAIL"])),
  score: Schema.NullOr(Schema.Int),
  takenAt: moment,
  acknowledgedAt: moment,
  retakeAt: moment,
  requiresAcknowledgement: Schema.NullOr(Schema.Boolean),
  attempt: Schema.Int
}).annotate({ description: "All null or 0 before a first attempt." })
export type AppropriatenessSummary = typeof AppropriatenessSummary.Type

export const noAssessment: AppropriatenessSummary = {
  version: null,
  outcome: null,
  score: null,
  takenAt: null,
  acknowledgedAt: null,
  retakeAt: null,
  requiresAcknowledgement: null,
  attempt: 0
}

/** The data of the answer to GET .../verification. */
export const VerificationView = Schema.Struct({
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
export type VerificationView = typeof VerificationView.Type

/** The data of the answer to PUT .../mifid. */
export const MifidResult = Schema.Struct({
  clientId: Id,
  clientUid: Schema.String,
  verificationLevel: Schema.Literals(verificationLevels),
  lifecycleState: Schema.Literals(lifecycleStates),
  granted: Schema.Boolean.annotate({ description: "True on the call that moved the level to MICA_MIFID." }),
  appropriateness: AppropriatenessSummary,
  requirements: Requirements
}).annotate({ identifier: "MifidResult" })
export type MifidResult = typeof MifidResult.Type
