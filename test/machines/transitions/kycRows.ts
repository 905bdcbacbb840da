/** The transition table D2 as literal rows. */
import type { KycPackageEvent } from "../../../src/machines/kyc/KycPackage.ts"
import { rowsOf, type TransitionRow } from "./TransitionRow.ts"

const stored: KycPackageEvent = { type: "STORE", at: 1, granted: true }
const storedHeld: KycPackageEvent = { ...stored, granted: false }
const revise: KycPackageEvent = {
  type: "REVISE",
  at: 2,
  kycPackageId: 11,
  revision: 2,
  identityChanged: true,
  clear: true
}
const reviseHit: KycPackageEvent = { ...revise, clear: false }
const sample: KycPackageEvent = { type: "SAMPLE", at: 2 }
const accept: KycPackageEvent = { type: "ACCEPT", at: 3, by: "COMPLIANCE" }
const documents: KycPackageEvent = {
  type: "REQUEST_DOCUMENTS",
  at: 3,
  by: "COMPLIANCE",
  note: "A copy of the passport is needed."
}
const documentsWithoutNote: KycPackageEvent = { ...documents, note: "" }
const uploaded: KycPackageEvent = { type: "DOCUMENT_UPLOADED", at: 4, documentId: 12 }
const reject: KycPackageEvent = { type: "REJECT_RELIANCE", at: 4, by: "ADMIN", note: "The attestation is false." }
const rejectWithoutNote: KycPackageEvent = { ...reject, note: "" }
const again: KycPackageEvent = { type: "REONBOARD", at: 5, kycPackageId: 12, revision: 2, granted: true }
const refusePerson: KycPackageEvent = { type: "REJECT_PERSON", at: 4, by: "COMPLIANCE" }
const reopened: Extract<KycPackageEvent, { readonly type: "REOPEN" }> = {
  type: "REOPEN",
  at: 5,
  relianceRejected: false
}
const againHeld: KycPackageEvent = { ...again, granted: false }

const kyc = rowsOf<KycPackageEvent>({ kycPackageId: 10, revision: 1 })
const unreviewed = { kycPackageId: 11, revision: 2, reviewedBy: null, reviewedAt: null, reviewNote: null }
const rejected = { reviewedBy: "ADMIN", reviewedAt: 4, reviewNote: "The attestation is false." }
const accepted = { reviewedBy: "COMPLIANCE", reviewedAt: 3, reviewNote: null }
const requested = { reviewedBy: "COMPLIANCE", reviewNote: "A copy of the passport is needed." }
const tellDocuments = ["event kyc.documents_requested", "audit kyc.requestDocuments"]
const rejectEffects = ["audit kyc.rejectReliance"]
const personEffects = ["audit kyc.rejectPerson"]
const noted = { reviewedBy: "COMPLIANCE", reviewedAt: 4, reviewNote: "The person was refused for good." }
const asked = [storedHeld, documents]

export const kycPackageRows: ReadonlyArray<TransitionRow> = [
  kyc("D2: none, stored and granted", "NEW", [], stored, "ACCEPTED", ["audit kyc.store"], { revision: 1 }),
  kyc("D2: none, stored, not granted", "NEW", [], storedHeld, "SPOT_CHECK", ["audit kyc.store"]),
  kyc(
    "D2: ACCEPTED, identity not clear",
    "ACCEPTED",
    [stored],
    reviseHit,
    "SPOT_CHECK",
    ["audit kyc.revise"],
    unreviewed
  ),
  kyc("D2: ACCEPTED, ordinary revision", "ACCEPTED", [stored], revise, "ACCEPTED", ["audit kyc.revise"], unreviewed),
  kyc("D2: ACCEPTED, sampled", "ACCEPTED", [stored], sample, "SPOT_CHECK", ["audit kyc.sample"]),
  kyc("D2: SPOT_CHECK, accepted", "SPOT_CHECK", [storedHeld], accept, "ACCEPTED", ["audit kyc.accept"], accepted),
  kyc("D2: ACCEPTED, accepted again", "ACCEPTED", [stored], accept, "refused"),
  kyc(
    "D2: SPOT_CHECK, documents requested",
    "SPOT_CHECK",
    [storedHeld],
    documents,
    "DOCUMENTS_REQUESTED",
    tellDocuments,
    requested
  ),
  kyc(
    "D2: ACCEPTED, documents requested",
    "ACCEPTED",
    [stored],
    documents,
    "DOCUMENTS_REQUESTED",
    tellDocuments,
    requested
  ),
  kyc("D2: SPOT_CHECK, documents without a note", "SPOT_CHECK", [storedHeld], documentsWithoutNote, "refused"),
  kyc("D2: ACCEPTED, documents without a note", "ACCEPTED", [stored], documentsWithoutNote, "refused"),
  kyc("D2: DOCUMENTS_REQUESTED, uploaded, =", "DOCUMENTS_REQUESTED", asked, uploaded, "DOCUMENTS_REQUESTED", [
    "audit kyc.documentUploaded"
  ]),
  kyc(
    "A1-34: DOCUMENTS_REQUESTED, revision",
    "DOCUMENTS_REQUESTED",
    asked,
    revise,
    "SPOT_CHECK",
    ["audit kyc.revise"],
    unreviewed
  ),
  kyc(
    "D2: DOCUMENTS_REQUESTED, accepted",
    "DOCUMENTS_REQUESTED",
    asked,
    accept,
    "ACCEPTED",
    ["audit kyc.accept"],
    accepted
  ),
  kyc(
    "A1-34: SPOT_CHECK, revision, =",
    "SPOT_CHECK",
    [storedHeld],
    revise,
    "SPOT_CHECK",
    ["audit kyc.revise"],
    unreviewed
  ),
  kyc("D2: ACCEPTED, rejected", "ACCEPTED", [stored], reject, "REJECTED", rejectEffects, rejected),
  kyc("D2: SPOT_CHECK, rejected", "SPOT_CHECK", [storedHeld], reject, "REJECTED", rejectEffects, rejected),
  kyc("D2: DOCUMENTS_REQUESTED, rejected", "DOCUMENTS_REQUESTED", asked, reject, "REJECTED", rejectEffects, rejected),
  kyc("D2: SPOT_CHECK, rejected without a note", "SPOT_CHECK", [storedHeld], rejectWithoutNote, "refused"),
  kyc("D2: REJECTED, rejected again", "REJECTED", [stored, reject], reject, "refused"),
  kyc("D2: REJECTED, revision", "REJECTED", [stored, reject], revise, "refused"),
  kyc("D1: SPOT_CHECK, person refused", "SPOT_CHECK", [storedHeld], refusePerson, "REJECTED", personEffects, noted),
  kyc("D1: ACCEPTED, person refused", "ACCEPTED", [stored], refusePerson, "REJECTED", personEffects, noted),
  kyc(
    "D1: DOCUMENTS_REQUESTED, person refused",
    "DOCUMENTS_REQUESTED",
    asked,
    refusePerson,
    "REJECTED",
    personEffects,
    noted
  ),
  kyc("D1: REJECTED, person refused", "REJECTED", [stored, reject], refusePerson, "refused"),
  kyc(
    "D1: REJECTED with the person, reopened",
    "REJECTED",
    [storedHeld, refusePerson],
    reopened,
    "SPOT_CHECK",
    ["audit kyc.reopen"],
    { reviewedBy: null, reviewedAt: null, reviewNote: null }
  ),
  kyc(
    "D1: REJECTED, reliance refused before, reopened",
    "REJECTED",
    [stored, reject],
    { ...reopened, relianceRejected: true },
    "refused"
  ),
  kyc("D2: REJECTED, re-onboarded", "REJECTED", [stored, reject], again, "ACCEPTED", ["audit kyc.reonboard"], {
    ...unreviewed,
    kycPackageId: 12
  }),
  kyc("D2: REJECTED, re-onboarded, held", "REJECTED", [stored, reject], againHeld, "SPOT_CHECK", [
    "audit kyc.reonboard"
  ])
]
