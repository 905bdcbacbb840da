/**
 * The client's lifecycle and verification level: names as on the wire, what the machine keeps and the events it takes
 * (doc 1, Client lifecycle and level; D1). The level lives in the context, because it moves independently of the
 * lifecycle.
 */
import type { VerificationLevel } from "../verification/Blocks.ts"
import type { Restriction } from "./Restriction.ts"

export const lifecycleStates = ["KYC_PENDING", "ACTIVE", "RESTRICTED", "KYC_REJECTED", "CLOSED"] as const
export type LifecycleState = (typeof lifecycleStates)[number]

/** The assessment a MiFID grant rests on, as shown in client.level_changed (doc 3, Event catalogue). */
export type AppropriatenessFacts = {
  readonly version: number
  readonly outcome: "PASS" | "WARN" | "FAIL"
  readonly score: number
  readonly attempt: number
}

export interface ClientInput {
  readonly clientId: number
}

export interface ClientContext extends ClientInput {
  readonly level: VerificationLevel
  /** Sorted, without repetition. Never any while ACTIVE. */
  readonly restrictions: ReadonlyArray<Restriction>
  /** Compliance cases that hold the client, in the order they were opened. Never any while ACTIVE. */
  readonly openCases: ReadonlyArray<number>
}

/**
 * The outcome of an onboarding or re-onboarding: the grant's verdict and, when compliance must look, the case and the
 * reason shown to the partner. `mifidReady` says that the four MiFID blocks and the assessment are in place already.
 */
interface GrantFacts {
  readonly at: number
  readonly granted: boolean
  /** The review reason (A1-28, A1-29) when not granted, null otherwise. */
  readonly reason: string | null
  readonly caseId: number | null
  readonly kycPackageId: number
  readonly mifidReady: boolean
  readonly appropriateness: AppropriatenessFacts | null
}

interface Reasoned {
  readonly at: number
  readonly reason: string
}

export type ClientEvent =
  | ({ readonly type: "ONBOARD" } & GrantFacts)
  /**
   * PUT kyc with the full body while level NONE and package REJECTED: the caller has checked both. A case that holds the
   * client already refuses the grant as well, and is then the one that `caseId` names.
   */
  | ({ readonly type: "REONBOARD" } & GrantFacts)
  /** An ordinary PUT kyc. `clear` is the screening's verdict, true when it had no cause to run. */
  | {
      readonly type: "KYC_REVISION"
      readonly at: number
      readonly identityChanged: boolean
      readonly clear: boolean
      readonly reason: string | null
      readonly caseId: number | null
      readonly kycPackageId: number
    }
  | { readonly type: "MIFID_COMPLETE"; readonly at: number; readonly appropriateness: AppropriatenessFacts }
  | {
      readonly type: "COMPLIANCE_APPROVE"
      readonly at: number
      readonly kycPackageId: number
      readonly caseId: number
      /** All seven MiCA blocks are APPROVED. */
      readonly blocksApproved: boolean
      readonly mifidReady: boolean
      readonly appropriateness: AppropriatenessFacts | null
    }
  | { readonly type: "COMPLIANCE_CLEAR"; readonly at: number; readonly caseId: number }
  | ({ readonly type: "REJECT_RELIANCE"; readonly kycPackageId: number; readonly revision: number } & Reasoned)
  | ({ readonly type: "REJECT_PERSON"; readonly blockers: ReadonlyArray<string> } & Reasoned)
  | ({ readonly type: "RESTRICT"; readonly restriction: Restriction } & Reasoned)
  | ({ readonly type: "LIFT"; readonly restriction: Restriction } & Reasoned)
  /** Screening finds for a stored client what compliance has not seen; without a case an open one says so already. */
  | ({
      readonly type: "MATCHED"
      readonly caseId: number | null
      readonly restriction: "FROZEN" | "NO_NEW_RISK"
    } & Reasoned)
  | ({ readonly type: "DOWNGRADE" } & Reasoned)
  /** `blockers` name what the zero check found: balances, orders, positions, open items. */
  | ({ readonly type: "CLOSE"; readonly blockers: ReadonlyArray<string> } & Reasoned)
  | ({ readonly type: "REOPEN"; readonly caseId: number } & Reasoned)

/** The restrictions with one more, sorted. */
export const withRestriction = (
  restrictions: ReadonlyArray<Restriction>,
  restriction: Restriction
): ReadonlyArray<Restriction> => [...new Set([...restrictions, restriction])].toSorted()

/** The open cases with one more, unless there is none or it is known. */
export const withCase = (openCases: ReadonlyArray<number>, caseId: number | null): ReadonlyArray<number> =>
  caseId === null || openCases.includes(caseId) ? openCases : [...openCases, caseId]
