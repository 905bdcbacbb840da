/**
 * A compliance case: a held client stays held until a person decides the case (doc 1, Client lifecycle and level; A1-28,
 * A1-29, D1, D2).
 */
import type { RoleLabel } from "../verification/Block.ts"

export const caseStatuses = ["OPEN", "CLEARED", "REJECTED"] as const
export type CaseStatus = (typeof caseStatuses)[number]

/** Causes of a case. Partners read DUPLICATE_PERSON as COMPLIANCE_REVIEW. */
export const caseReasons = [
  "SCREENING_HIT",
  "SCREENING_POSSIBLE_MATCH",
  "SCREENING_UNAVAILABLE",
  "PEP_DECLARED",
  "HIGH_RISK_RATING",
  "IDENTIFICATION_EXPIRED",
  "DUPLICATE_PERSON",
  "COMPLIANCE_REVIEW",
  "SPOT_CHECK",
  "REOPENED"
] as const
export type CaseReason = (typeof caseReasons)[number]

/** The reason as a partner may read it in `review` and in client.review_required. */
export const partnerReason = (reason: CaseReason): Exclude<CaseReason, "DUPLICATE_PERSON"> =>
  reason === "DUPLICATE_PERSON" ? "COMPLIANCE_REVIEW" : reason

export interface CaseInput {
  readonly caseId: number
  readonly reason: CaseReason
  readonly openedAt: number
}

export interface CaseContext extends CaseInput {
  readonly decidedBy: RoleLabel | null
  readonly decidedAt: number | null
  readonly note: string | null
}

export type CaseEvent =
  /** A note for the file, for instance about an uploaded document. */
  | { readonly type: "NOTE"; readonly at: number; readonly note: string }
  | { readonly type: "CLEAR"; readonly at: number; readonly by: RoleLabel; readonly note: string | null }
  | { readonly type: "REJECT"; readonly at: number; readonly by: RoleLabel; readonly note: string | null }
