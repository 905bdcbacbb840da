/**
 * The turn of an ordinary PUT .../kyc. It writes and approves the submitted sections again, stores the next revision,
 * and screens a changed identity. Findings that compliance has not seen hold the client. Pure except for the turn's
 * draft and ids (doc 1, Rules of POST /clients and PUT .../kyc 7; D1, D2, D3; A1-33..A1-36).
 */
import type { ClientEvent } from "../../../../machines/client/Client.ts"
import { type CaseReason, partnerReason } from "../../../../machines/compliance/Case.ts"
import type { Json } from "../../../../machines/shared/Json.ts"
import type { KycPackageEvent, KycPackageStatus } from "../../../../machines/kyc/KycPackage.ts"
import type { KycUpdateResult } from "../../../../machines/client/KycWire.ts"
import { keyOf } from "../../../tables/Catalogue.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { PackageRow } from "../../../tables/kyc.ts"
import { type ClientTurn, moveClient, movePackage } from "../client/clientDecisions.ts"
import { clientContext } from "../../account/clientState.ts"
import { isSettled, restrictMatched, type Namesake } from "../client/samePerson.ts"
import { displayNameOf } from "./sectionValues.ts"
import type { ClaimsOfPerson, KycUpdatePlan } from "./KycUpdatePlan.ts"
import { newFinding, noteWorse } from "../screening/rescreening.ts"
import {
  type CaseFacts,
  openCase,
  screeningReasons,
  writeReportingRecord,
  writeRevision,
  writeScreening,
  writeSections
} from "./kycDecisions.ts"

export const reviseClient = (
  at: ClientTurn,
  client: ClientRow,
  kyc: PackageRow,
  plan: KycUpdatePlan
): KycUpdateResult => {
  const { turn } = at
  const { request, screened } = plan
  const revision = plan.base.revision + 1
  const review = reviewOf(at, client, plan)
  const clear = screened === null || screened.outcome === "CLEAR"
  const revised = move(at, named(client, plan), {
    type: "KYC_REVISION",
    at: turn.now,
    identityChanged: plan.identityChanged,
    clear,
    reason: review?.holds === true ? partnerReason(review.reasons[0] as CaseReason) : null,
    caseId: review?.holds === true ? review.caseId : null,
    kycPackageId: kyc.id
  })
  const next = review !== null && review.refused.length > 0 ? restrictMatched(at, revised, review) : revised
  writeClaims(at, client, plan.claims)
  writeSections(at, client, request.kyc, request.identityCheck)
  const status = writeNextRevision(at, client, kyc, plan, {
    type: "REVISE",
    at: turn.now,
    kycPackageId: kyc.id,
    revision,
    identityChanged: plan.identityChanged,
    clear
  })
  const screeningRunId = screened === null ? null : writeScreening(at, client, "KYC_REVISION", screened)
  if (plan.identityChanged || request.kyc.identification !== undefined || request.kyc.taxResidency !== undefined) {
    writeReportingRecord(at, client, plan.sections, revision)
  }
  if (review !== null) openCase(at, client, { ...review, screeningRunId })
  if (review?.holds !== true && screeningRunId !== null && plan.unseen !== null) {
    noteWorse(turn, at.instance, { ...plan.unseen, screeningRunId })
  }
  return updateAnswer(next, kyc, plan, status)
}

/** The reply to an update. `next`: the client after the update. */
export const updateAnswer = (
  next: ClientRow,
  kyc: PackageRow,
  plan: KycUpdatePlan,
  status: KycPackageStatus
): KycUpdateResult => ({
  clientId: next.id,
  clientUid: next.uid,
  partnerClientRef: next.partnerClientRef,
  kycPackageId: kyc.id,
  revision: plan.base.revision + 1,
  status,
  verificationLevel: next.level,
  lifecycleState: next.state,
  identityChanged: plan.identityChanged,
  screening: screeningAnswer(plan)
})

/** `screening` in the reply. NOT_RUN: the update gave no cause for a screening. Every outcome but CLEAR waits for compliance. */
const screeningAnswer = ({ screened }: KycUpdatePlan): KycUpdateResult["screening"] => {
  if (screened === null) return "NOT_RUN"
  return screened.outcome === "CLEAR" ? "CLEAR" : "PENDING_REVIEW"
}

/** Applies an event to the client. The caller has checked that the client's state accepts it. */
export const move = (at: ClientTurn, client: ClientRow, event: ClientEvent): ClientRow => {
  const next = moveClient(at, client, event)
  if (next === null) throw new Error(`a ${client.state} client refused ${event.type}`)
  return next
}

/** The client under its new name, which applies at once and does not wait for the outcome of the screening (A1-36). */
export const named = (client: ClientRow, { identityChanged, sections, personKey }: KycUpdatePlan): ClientRow => ({
  ...client,
  personKey,
  displayName: identityChanged ? displayNameOf(sections.personalInfo) : client.displayName
})

/** Releases the person's claims that no longer hold, and claims the new ones for the client (A1-28). */
export const writeClaims = ({ turn }: ClientTurn, client: ClientRow, claims: ClaimsOfPerson): void => {
  for (const name of claims.release) turn.draft.release(name)
  for (const name of claims.claim) turn.draft.claim(name, client.id)
}

/** Applies the package's event and stores the revision as received; returns the package's status. */
export const writeNextRevision = (
  at: ClientTurn,
  client: ClientRow,
  kyc: PackageRow,
  { request }: KycUpdatePlan,
  event: Extract<KycPackageEvent, { readonly type: "REVISE" | "REONBOARD" }>
): KycPackageStatus => {
  movePackage(at, { ...kyc, receivedAt: at.turn.now }, event)
  const moved = at.turn.draft.peek("kycPackages", keyOf("kycPackages", kyc))
  if (moved === undefined) throw new Error(`a ${kyc.state} package refused ${event.type}`)
  writeRevision(at, client, {
    packageId: kyc.id,
    revision: event.revision,
    payload: request.kyc as Json,
    attestation: request.attestation
  })
  return moved.state
}

interface Review extends Required<Omit<CaseFacts, "screeningRunId">> {
  /** True: the case holds the client. A screening holds it; a duplicate or a declaration only needs a review. */
  readonly holds: boolean
}

/** The case that this revision opens, or null. */
const reviewOf = (at: ClientTurn, client: ClientRow, plan: KycUpdatePlan): Review | null => {
  const { base, screened, unseen } = plan
  const isHeld = clientContext(client).openCases.length > 0
  const found = screened === null || unseen === null ? null : newFinding(isHeld, base.shown, screened, unseen)
  const same = newSame(at, client, plan)
  const declared = newlyDeclared(at, plan)
  if (found === null && same === null && declared.length === 0) return null
  const reasons: Array<CaseReason> = [...(found === null ? [] : screeningReasons(found)), ...declared]
  if (same !== null) reasons.push("DUPLICATE_PERSON")
  return {
    caseId: at.turn.nextId("case"),
    reasons,
    candidates: found?.candidates ?? [],
    duplicateOf: same?.clientId ?? null,
    holds: found !== null,
    refused: same?.refused ?? []
  }
}

/** Declarations of this revision that no open case has (A1-28). */
const newlyDeclared = ({ turn }: ClientTurn, { declared }: KycUpdatePlan): ReadonlyArray<CaseReason> => {
  const known = new Set(turn.state.all("cases").flatMap(({ details }) => details["reasons"] ?? []))
  return declared.filter((reason) => !known.has(reason))
}

/** Another client that is the same person since this revision. Null: there is none, or an open case already shows it. */
const newSame = ({ turn }: ClientTurn, client: ClientRow, { claims, personKey }: KycUpdatePlan): Namesake | null => {
  const { same } = claims
  if (same === null || personKey === client.personKey) return null
  return turn.state.all("cases").some((row) => isSettled(row, same)) ? null : same
}
