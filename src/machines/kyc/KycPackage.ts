/**
 * The review status of a client's latest KYC package. Payload and attestation are encrypted rows beside the machine; the
 * machine keeps the reviewed revision, the reviewer and the note (doc 1, KYC package statuses; D2, A1-32, A1-48).
 */
import type { RoleLabel } from "../verification/Block.ts"

export const kycPackageStatuses = ["ACCEPTED", "SPOT_CHECK", "DOCUMENTS_REQUESTED", "REJECTED"] as const
export type KycPackageStatus = (typeof kycPackageStatuses)[number]

/** The review note of a package whose person was refused for good: the partner reads it. */
export const personRefusedNote = "The person was refused for good."

export interface KycPackageInput {
  readonly kycPackageId: number
  readonly revision: number
}

export interface KycPackageContext extends KycPackageInput {
  readonly reviewedBy: RoleLabel | null
  readonly reviewedAt: number | null
  /** Null except for DOCUMENTS_REQUESTED and REJECTED. */
  readonly reviewNote: string | null
}

export type KycPackageEvent =
  | { readonly type: "STORE"; readonly at: number; readonly granted: boolean }
  | {
      readonly type: "REVISE"
      readonly at: number
      readonly kycPackageId: number
      readonly revision: number
      readonly identityChanged: boolean
      readonly clear: boolean
    }
  /** Compliance takes the package as a sample: no consequence for the client's lifecycle. */
  | { readonly type: "SAMPLE"; readonly at: number }
  | { readonly type: "ACCEPT"; readonly at: number; readonly by: RoleLabel }
  | { readonly type: "REQUEST_DOCUMENTS"; readonly at: number; readonly by: RoleLabel; readonly note: string }
  | { readonly type: "DOCUMENT_UPLOADED"; readonly at: number; readonly documentId: number }
  | { readonly type: "REJECT_RELIANCE"; readonly at: number; readonly by: RoleLabel; readonly note: string }
  /** The person is refused for good; the reason stays with compliance. */
  | { readonly type: "REJECT_PERSON"; readonly at: number; readonly by: RoleLabel }
  /** A refused person returns to review, and so does the package, unless reliance on it was rejected before. */
  | { readonly type: "REOPEN"; readonly at: number; readonly relianceRejected: boolean }
  | {
      readonly type: "REONBOARD"
      readonly at: number
      readonly kycPackageId: number
      readonly revision: number
      readonly granted: boolean
    }
