/**
 * What an update of a client's KYC rests on, worked out before the client's turn from what is stored: whose person it is,
 * what screening finds, and the state it was read in, which the turn compares with its own (doc 1, Rules of POST /clients
 * and PUT .../kyc 7 and 8; A1-28, A1-33; F26). Pure.
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

/** The committed state that an update is judged on. Two equal bases mean that nothing it read has changed. */
export interface KycBase {
  readonly kycPackageId: number
  readonly revision: number
  /** Level NONE with the latest package REJECTED (doc 1, rule 8). */
  readonly reonboarding: boolean
  /** Ids of the client's live documents. */
  readonly documents: ReadonlySet<number>
  /** What compliance has found for entries of the list, and the candidates that its open cases show. */
  readonly dispositions: ReadonlyArray<DispositionRow>
  readonly shown: ReadonlyArray<ScreeningCandidate>
  readonly personKey: string
}

/** Null when the partner has no such client, or the client no package. */
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

/** Whether the turn finds what was read before it. A document more is no matter: only a referred one must be there. */
export const sameBase = (read: KycBase, now: KycBase, referred: ReadonlyArray<number>): boolean =>
  read.revision === now.revision &&
  read.reonboarding === now.reonboarding &&
  // A history only grows.
  read.dispositions.length === now.dispositions.length &&
  JSON.stringify(read.shown) === JSON.stringify(now.shown) &&
  referred.every((id) => now.documents.has(id))

export interface KycUpdatePlan {
  readonly base: KycBase
  readonly request: KycUpdateBody
  /** The sections that hold after the update. */
  readonly sections: PersonSections
  readonly identityChanged: boolean
  /** Without what compliance has called false positives of this identity; null: there was no cause to screen. */
  readonly screened: ScreenedAgain | null
  /** The same without what an open case shows already as no less like. */
  readonly unseen: ScreeningResult | null
  /** Keyed hashes of the person after the update. */
  readonly personKey: string
  readonly claims: ClaimsOfPerson
  /** What it declares, and the revision before did not, that a person looks at (A1-28). */
  readonly declared: ReadonlyArray<CaseReason>
}

/** The changes to the claims of the person (A1-28). */
export interface ClaimsOfPerson {
  readonly release: ReadonlyArray<string>
  readonly claim: ReadonlyArray<string>
  /** Another client that is the same person, or a client refused for good that may be. */
  readonly same: Namesake | null
}

/** Names of the claims whose holders decide `claimsAfter`. */
export const claimsAsked = (before: string, after: string): ReadonlyArray<string> => [
  ...new Set([before, after].flatMap(personClaims))
]

/**
 * Takes a free claim. Gives a claim back if this client holds it and is a different person now. `same` is a client that is this
 * person, whether or not it holds the claims.
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

/** The sections that hold after an update: those of the request, else the stored ones. */
export const sectionsAfter = ({ kyc }: KycUpdateBody, stored: PersonSections): PersonSections => ({
  personalInfo: kyc.personalInfo ?? stored.personalInfo,
  identification: kyc.identification ?? stored.identification,
  taxResidency: kyc.taxResidency ?? stored.taxResidency
})

/** Whether an update changes who the client is. */
export const changesIdentity = ({ kyc }: KycUpdateBody, stored: PersonSections): boolean =>
  kyc.personalInfo !== undefined && identityChanged(stored.personalInfo, kyc.personalInfo)

/** Stored block data by the section it came from; a section nobody has written is null. */
export const storedSections = (rows: ReadonlyArray<{ readonly code: string; readonly data: Json }>): PersonSections => {
  const of = (code: string): Json => rows.find((row) => row.code === code)?.data ?? null
  return { personalInfo: of("PERSONAL_INFO"), identification: of("IDENTIFICATION"), taxResidency: of("TAX_RESIDENCY") }
}
