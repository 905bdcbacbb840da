/** One event per side of every guard of the KYC package machine: path tests and diagrams use them (D2). */
import type { KycPackageEvent, KycPackageInput } from "./KycPackage.ts"

export const kycInput: KycPackageInput = { kycPackageId: 1, revision: 1 }

const next = { at: 1, kycPackageId: 2, revision: 2 }

export const kycSamples: ReadonlyArray<KycPackageEvent> = [
  { type: "STORE", at: 1, granted: true },
  { type: "STORE", at: 1, granted: false },
  { type: "REVISE", ...next, identityChanged: false, clear: true },
  { type: "REVISE", ...next, identityChanged: true, clear: true },
  { type: "REVISE", ...next, identityChanged: true, clear: false },
  { type: "SAMPLE", at: 1 },
  { type: "ACCEPT", at: 1, by: "COMPLIANCE" },
  { type: "REQUEST_DOCUMENTS", at: 1, by: "COMPLIANCE", note: "A copy of the passport is needed." },
  { type: "REQUEST_DOCUMENTS", at: 1, by: "COMPLIANCE", note: "" },
  { type: "DOCUMENT_UPLOADED", at: 1, documentId: 1 },
  { type: "REJECT_RELIANCE", at: 1, by: "COMPLIANCE", note: "The identity session is missing." },
  { type: "REJECT_RELIANCE", at: 1, by: "COMPLIANCE", note: "" },
  { type: "REJECT_PERSON", at: 1, by: "COMPLIANCE" },
  { type: "REOPEN", at: 1, relianceRejected: false },
  { type: "REOPEN", at: 1, relianceRejected: true },
  { type: "REONBOARD", ...next, granted: true },
  { type: "REONBOARD", ...next, granted: false }
]
