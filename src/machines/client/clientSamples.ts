/** One event per side of every guard of the client machine: path tests and diagrams use them (D1). */
import type { AppropriatenessFacts, ClientEvent, ClientInput } from "./Client.ts"

export const clientInput: ClientInput = { clientId: 1 }

const appropriateness: AppropriatenessFacts = { version: 1, outcome: "PASS", score: 18, attempt: 1 }

const clear = {
  at: 1,
  granted: true,
  reason: null,
  caseId: null,
  kycPackageId: 1,
  mifidReady: false,
  appropriateness: null
}
const clearWithMifid = { ...clear, mifidReady: true, appropriateness }
const held = { ...clear, granted: false, reason: "SCREENING_HIT", caseId: 1 }

const revision = { type: "KYC_REVISION", at: 1, reason: null, caseId: null, kycPackageId: 2 } as const
const approval = { type: "COMPLIANCE_APPROVE", at: 1, kycPackageId: 1, blocksApproved: true } as const

export const clientSamples: ReadonlyArray<ClientEvent> = [
  { type: "ONBOARD", ...clear },
  { type: "ONBOARD", ...clearWithMifid },
  { type: "ONBOARD", ...held },
  { type: "REONBOARD", ...clear },
  { type: "REONBOARD", ...clearWithMifid },
  { type: "REONBOARD", ...held },
  { ...revision, identityChanged: false, clear: true },
  { ...revision, identityChanged: true, clear: true },
  { ...revision, identityChanged: true, clear: false, reason: "SCREENING_POSSIBLE_MATCH", caseId: 2 },
  { type: "MIFID_COMPLETE", at: 1, appropriateness },
  { ...approval, caseId: 1, mifidReady: false, appropriateness: null },
  { ...approval, caseId: 1, mifidReady: true, appropriateness },
  { ...approval, caseId: 1, blocksApproved: false, mifidReady: false, appropriateness: null },
  { ...approval, caseId: 9, mifidReady: false, appropriateness: null },
  { type: "COMPLIANCE_CLEAR", at: 1, caseId: 1 },
  { type: "COMPLIANCE_CLEAR", at: 1, caseId: 2 },
  { type: "COMPLIANCE_CLEAR", at: 1, caseId: 9 },
  { type: "REJECT_RELIANCE", at: 1, kycPackageId: 1, revision: 1, reason: "The identity session is missing." },
  { type: "REJECT_PERSON", at: 1, reason: "sanctioned", blockers: [] },
  { type: "REJECT_PERSON", at: 1, reason: "sanctioned", blockers: ["The client holds a balance."] },
  { type: "RESTRICT", at: 1, restriction: "NO_WITHDRAWALS", reason: "court order" },
  { type: "RESTRICT", at: 1, restriction: "FROZEN", reason: "court order" },
  { type: "LIFT", at: 1, restriction: "NO_WITHDRAWALS", reason: "order withdrawn" },
  { type: "LIFT", at: 1, restriction: "FROZEN", reason: "order withdrawn" },
  { type: "LIFT", at: 1, restriction: "NO_NEW_RISK", reason: "never set" },
  { type: "MATCHED", at: 1, restriction: "FROZEN", reason: "SCREENING_HIT", caseId: 2 },
  { type: "MATCHED", at: 1, restriction: "NO_NEW_RISK", reason: "SCREENING_POSSIBLE_MATCH", caseId: 9 },
  { type: "MATCHED", at: 1, restriction: "FROZEN", reason: "SCREENING_HIT", caseId: null },
  { type: "DOWNGRADE", at: 1, reason: "asked by the client" },
  { type: "CLOSE", at: 1, reason: "asked by the client", blockers: [] },
  { type: "CLOSE", at: 1, reason: "asked by the client", blockers: ["An order is open."] },
  { type: "REOPEN", at: 1, caseId: 1, reason: "new evidence" }
]
