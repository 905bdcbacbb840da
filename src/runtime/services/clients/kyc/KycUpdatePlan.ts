/**
 * The input of a KYC update's turn, computed beforehand from stored rows: the identity of the person, the findings of
 * screening, and the state that was read. The turn compares that state with its own. Pure (doc 1, Rules of POST
 * /clients and PUT .../kyc 7 and 8; A1-28, A1-33; F26).
 */
import type { Json } from "../../../../machines/shared/Json.ts"
import type { CaseReason } from "../../../../machines/compliance/Case.ts"
import { personClaims } from "../../../../machines/kyc/personKey.ts"
import type { KycUpdateBody } from "../../../../machines/kyc/KycUpdateBody.ts"
import type { ScreeningCandidate, ScreeningResult } from "../../../../machines/screening/screen.ts"
import type { Claim } from "../../../engine/journal/Commit.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import type { DispositionRow } from "../../../tables/screening.ts"
import type { Namesake } from "../client/samePerson.ts"
import { ownClient } from "../../account/clientState.ts"
import { identityChanged, type PersonSections } from "./sectionValues.ts"
import { type ScreenedAgain, shownCandidates } from "../screening/rescreening.ts"

/** The committed state that an update is decided on. If two bases are equal, no fact that the update has read has changed. */
export interface KycBase {
  readonly kycPackageId: number
  readonly revision: number
  /** True at level NONE with the latest package REJECTED: the update onboards the client again (doc 1, rule 8). */
  readonly reonboarding: boolean
  /** Ids of the client's documents that are not deleted. */
  readonly documents: ReadonlySet<number>
  /** `dispositions`: compliance's findings on list entries. `shown`: the candidates in the client's open cases. */
  readonly dispositions: ReadonlyArray<DispositionRow>
  readonly shown: ReadonlyArray<ScreeningCandidate>
  readonly personKey: string
}

/** The base of an update by this state; null if the partner has no such client, or the client has no package. */
export const kycBase = (state: SubjectState, partnerId: number): KycBase | null => {
  const client = ownClient(state, partnerId)
  const kyc = state.one("kycPackages")
  if (client === null || kyc === undefined) return null
  return {
    kycPackageId: kyc.id,
    revision: kyc.context.revision,
    reonboarding: client.state === "KYC_PENDING" && kyc.state === "REJECTED",
    documents: new Set(state.all("documents").map(({ id }) => id)),
    dispositions: state.all("dispositions"),
    shown: shownCandidates(state),
    personKey: client.personKey
  }
}

/**
 * True if the turn finds the state that was read before it. Documents are compared only as far as the update refers to
 * them: these must still exist.
 */
export const sameBase = (read: KycBase, now: KycBase, referred: ReadonlyArray<number>): boolean =>
  read.revision === now.revision &&
  read.reonboarding === now.reonboarding &&
  // Dispositions are never changed or removed, so an equal number means equal dispositions.
  read.dispositions.length === now.dispositions.length &&
  JSON.stringify(read.shown) === JSON.stringify(now.shown) &&
  referred.every((id) => now.documents.has(id))

export interface KycUpdatePlan {
  readonly base: KycBase
  readonly request: KycUpdateBody
  /** The client's sections after the update, including those that it does not change. */
  readonly sections: PersonSections
  readonly identityChanged: boolean
  /**
   * The result of screening without the false positives that compliance has found for this identity; null if no screening
   * was needed.
   */
  readonly screened: ScreenedAgain | null
  /**
   * `screened` without the candidates that need no new review, because an open case already shows them with at least this
   * likeness.
   */
  readonly unseen: ScreeningResult | null
  /** The keyed hashes of the person after the update. */
  readonly personKey: string
  readonly claims: ClaimsOfPerson
  /** Declarations that need a review and that the previous revision did not have (A1-28). */
  readonly declared: ReadonlyArray<CaseReason>
}

/**
 * The claims on a person that an update releases and takes. A claim is a keyed hash that only one client may hold (A1-28).
 */
export interface ClaimsOfPerson {
  readonly release: ReadonlyArray<string>
  readonly claim: ReadonlyArray<string>
  /** Another client that is the same person, or a client refused for good that may be the same person. */
  readonly same: Namesake | null
}

/** Names of the claims whose present holders `claimsAfter` needs. */
export const claimsToQuery = (before: string, after: string): ReadonlyArray<string> => [
  ...new Set([before, after].flatMap(personClaims))
]

/**
 * The changes of claims from one identity to the next. Takes a claim that is free, and releases a claim of this
 * client that the new identity does not need. `same`: a client that is this person, whether or not it holds a claim;
 * null: the holder of a claim, if any, counts as that client.
 */
export const claimsAfter = (
  clientId: number,
  before: string,
  after: string,
  holders: ReadonlyArray<Claim>,
  same: Namesake | null
): ClaimsOfPerson => {
  const owners = new Map(holders.map(({ name, owner }) => [name, owner]))
  const wanted = personClaims(after)
  const holder = wanted.map((name) => owners.get(name)).find((owner) => owner !== undefined && owner !== clientId)
  return {
    release: personClaims(before).filter((name) => owners.get(name) === clientId && !wanted.includes(name)),
    claim: wanted.filter((name) => !owners.has(name)),
    same: same ?? (holder === undefined ? null : { clientId: holder, refusedAt: null, refused: [] })
  }
}

/** The sections after an update: those of the request, otherwise the stored ones. */
export const sectionsAfter = ({ kyc }: KycUpdateBody, stored: PersonSections): PersonSections => ({
  personalInfo: kyc.personalInfo ?? stored.personalInfo,
  identification: kyc.identification ?? stored.identification,
  taxResidency: kyc.taxResidency ?? stored.taxResidency
})

/** True if the update changes a screened fact: a name, the birth date or the set of citizenships. */
export const changesIdentity = ({ kyc }: KycUpdateBody, stored: PersonSections): boolean =>
  kyc.personalInfo !== undefined && identityChanged(stored.personalInfo, kyc.personalInfo)

/** The stored data of blocks by the section of the request body; a section without a row is null. */
export const storedSections = (rows: ReadonlyArray<{ readonly code: string; readonly data: Json }>): PersonSections => {
  const of = (code: string): Json => rows.find((row) => row.code === code)?.data ?? null
  return { personalInfo: of("PERSONAL_INFO"), identification: of("IDENTIFICATION"), taxResidency: of("TAX_RESIDENCY") }
}
