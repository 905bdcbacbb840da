/** What partners read of a KYC package and of an update of it (doc 1, KYC package and KYC update result). */
import type { LifecycleState, VerificationLevel } from "../client/Client.ts"
import type { OnboardingResult } from "../client/ClientWire.ts"
import type { Json } from "../Effects.ts"
import type { RoleLabel } from "../verification/Block.ts"
import type { Requirements } from "../verification/requirements.ts"
import type { KycPackageStatus } from "./KycPackage.ts"

/** GET .../kyc, data: the latest revision. */
export interface KycPackageView {
  readonly kycPackageId: number
  readonly partnerId: number
  readonly clientId: number
  readonly clientUid: string
  readonly revision: number
  readonly status: KycPackageStatus
  readonly receivedAt: number
  /** The sections of that revision as received. */
  readonly payload: Json
  readonly attestation: Json
  /** A role, never a person. */
  readonly reviewedBy: RoleLabel | null
  readonly reviewedAt: number | null
  /** For DOCUMENTS_REQUESTED and REJECTED only. */
  readonly reviewNote: string | null
}

export const screeningAnswers = ["NOT_RUN", "CLEAR", "PENDING_REVIEW"] as const

/** PUT .../kyc, data. */
export interface KycUpdateResult {
  readonly clientId: number
  readonly clientUid: string
  readonly partnerClientRef: string
  readonly kycPackageId: number
  readonly revision: number
  readonly status: KycPackageStatus
  readonly verificationLevel: VerificationLevel
  readonly lifecycleState: LifecycleState
  readonly identityChanged: boolean
  readonly screening: (typeof screeningAnswers)[number]
}

/** PUT .../kyc, data, when the client was onboarded again. */
export interface ReonboardingResult extends KycUpdateResult {
  readonly reonboarded: true
  readonly grant: "ACTIVE" | "PENDING_REVIEW"
  readonly review: OnboardingResult["review"]
  readonly requirements: Requirements
}
