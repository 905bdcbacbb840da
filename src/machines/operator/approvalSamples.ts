/** One event per side of every guard of the approval machine: path tests and diagrams use them (Four eyes). */
import type { ApprovalEvent, ApprovalInput } from "./Approval.ts"

export const approvalInput: ApprovalInput = {
  approvalId: 1,
  command: "ledger adjust",
  argumentsHash: "a1",
  requestedBy: 1,
  requestedAt: 0,
  expiresAt: 100
}

export const approvalSamples: ReadonlyArray<ApprovalEvent> = [
  { type: "GRANT", at: 1, by: 2, argumentsHash: "a1" },
  { type: "GRANT", at: 1, by: 1, argumentsHash: "a1" },
  { type: "GRANT", at: 1, by: 2, argumentsHash: "b2" },
  { type: "GRANT", at: 100, by: 2, argumentsHash: "a1" },
  { type: "REFUSE", at: 1, by: 1 },
  { type: "EXPIRE", at: 100 },
  { type: "EXPIRE", at: 99 }
]
