/**
 * The client's lifecycle and verification level: names on the wire, the machine's context and its events. The level lives in
 * the context, because it changes independently of the lifecycle (doc 1, Client lifecycle and level; doc 3, Event catalogue;
 * D1, A1-28, A1-29).
 */
import type { VerificationLevel } from "../verification/Blocks.ts"
import type { Restriction } from "./Restriction.ts"

export const lifecycleStates = ["KYC_PENDING", "ACTIVE", "RESTRICTED", "KYC_REJECTED", "CLOSED"] as const
export type LifecycleState = (typeof lifecycleStates)[number]

/** The assessment on which a MiFID grant is based, as shown in client.level_changed. */
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
  /** Sorted, without repetition; empty while ACTIVE. */
  readonly restrictions: ReadonlyArray<Restriction>
  /** Compliance cases that hold the client, oldest first; empty while ACTIVE. */
  readonly openCases: ReadonlyArray<number>
}

/**
 * The outcome of an onboarding or re-onboarding: the verdict and, when compliance must review, the case and the reason shown
 * to the partner. `mifidReady`: the four MiFID blocks and the assessment are complete already.
 */
interface GrantFacts {
  readonly at: number
  readonly granted: boolean
  /** The review reason when not granted, null otherwise. */
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
   * PUT kyc with the full body, at level NONE with the package REJECTED; the caller has checked both conditions. A case that
   * already holds the client refuses the grant as well, and `caseId` then names that case.
   */
  | ({ readonly type: "REONBOARD" } & GrantFacts)
  /** An ordinary PUT kyc. `clear` is the screening's verdict, true when screening had no cause to run. */
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
  /** Screening found a new match for a stored client. Without a new case, an open case covers the match already. */
  | ({
      readonly type: "MATCHED"
      readonly caseId: number | null
      readonly restriction: "FROZEN" | "NO_NEW_RISK"
    } & Reasoned)
  | ({ readonly type: "DOWNGRADE" } & Reasoned)
  /** `blockers` name the obstacles that the zero check found: balances, orders, positions, open items. */
  | ({ readonly type: "CLOSE"; readonly blockers: ReadonlyArray<string> } & Reasoned)
  | ({ readonly type: "REOPEN"; readonly caseId: number } & Reasoned)

/** Adds a restriction; the result is sorted. */
export const withRestriction = (
  restrictions: ReadonlyArray<Restriction>,
  restriction: Restriction
): ReadonlyArray<Restriction> => [...new Set([...restrictions, restriction])].toSorted()

/** Adds a case, unless it is null or already listed. */
export const withCase = (openCases: ReadonlyArray<number>, caseId: number | null): ReadonlyArray<number> =>
  caseId === null || openCases.includes(caseId) ? openCases : [...openCases, caseId]
