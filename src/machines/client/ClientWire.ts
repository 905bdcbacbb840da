/** What partners read of a client: the row, the onboarding result and the verification view (doc 1). */
import type { CaseReason } from "../compliance/Case.ts"
import type { KycPackageStatus } from "../kyc/KycPackage.ts"
import type { BlockView } from "../verification/Blocks.ts"
import type { Requirements } from "../verification/requirements.ts"
import type { LifecycleState, VerificationLevel } from "./Client.ts"

export interface ClientWire {
  readonly clientId: number
  readonly clientUid: string
  readonly partnerClientRef: string
  readonly email: string
  readonly displayName: string
  readonly verificationLevel: VerificationLevel
  readonly lifecycleState: LifecycleState
  readonly categorization: "RETAIL" | "PROFESSIONAL"
  /** Null while no margin engine is attached (A1-12). */
  readonly riskState: "NORMAL" | "MARGIN_CALL" | "CLOSE_OUT" | null
  readonly cashUsdc: string
  readonly createdAt: number
}

export interface OnboardingResult {
  readonly clientId: number
  readonly clientUid: string
  readonly partnerClientRef: string
  readonly verificationLevel: VerificationLevel
  readonly lifecycleState: LifecycleState
  readonly status: "ACTIVE" | "PENDING_REVIEW"
  readonly kycPackageId: number
  readonly requirements: Requirements
  readonly review: { readonly reason: Exclude<CaseReason, "DUPLICATE_PERSON">; readonly caseId: number } | null
}

/** All null or 0 before a first attempt. */
export interface AppropriatenessSummary {
  readonly version: number | null
  readonly outcome: "PASS" | "WARN" | "FAIL" | null
  readonly score: number | null
  readonly takenAt: number | null
  readonly acknowledgedAt: number | null
  readonly retakeAt: number | null
  readonly requiresAcknowledgement: boolean | null
  readonly attempt: number
}

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

export interface VerificationView {
  readonly clientId: number
  readonly clientUid: string
  readonly partnerClientRef: string
  readonly level: VerificationLevel
  readonly lifecycleState: LifecycleState
  readonly blocks: ReadonlyArray<BlockView>
  readonly requirements: Requirements
  readonly appropriateness: AppropriatenessSummary
  readonly kycPackage: {
    readonly kycPackageId: number
    readonly revision: number
    readonly status: KycPackageStatus
    readonly reviewNote: string | null
  } | null
}

/** PUT .../mifid, data (doc 1, MiFID blocks). */
export interface MifidResult {
  readonly clientId: number
  readonly clientUid: string
  readonly verificationLevel: VerificationLevel
  readonly lifecycleState: LifecycleState
  /** True on the call that moved the level. */
  readonly granted: boolean
  readonly appropriateness: AppropriatenessSummary
  readonly requirements: Requirements
}
