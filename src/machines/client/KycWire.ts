/**
 * Shapes of a KYC package and of its update on the wire, declared once for the contract and for the services (doc 1, KYC
 * package and KYC update result).
 */
import { Schema } from "effect"
import { lifecycleStates } from "./Client.ts"
import { BlockDecider, verificationLevels } from "../verification/Blocks.ts"
import { OnboardingResult } from "./ClientWire.ts"
import { Id } from "../shared/Ids.ts"
import { kycPackageStatuses } from "../kyc/KycPackage.ts"

const status = Schema.Literals(kycPackageStatuses)
const revision = Schema.Int.annotate({ description: "1 at onboarding, one more with each update." })

/** The data of the answer to GET .../kyc. */
export const KycPackageView = Schema.Struct({
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
export type KycPackageView = typeof KycPackageView.Type

export const screeningAnswers = ["NOT_RUN", "CLEAR", "PENDING_REVIEW"] as const

/** The data of the answer to PUT .../kyc. */
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
export type KycUpdateResult = typeof KycUpdateResult.Type

/** The KYC update result of a re-onboarded client: the four optional members are present. */
export type ReonboardingResult = Required<KycUpdateResult>
