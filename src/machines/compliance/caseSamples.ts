/** One event per transition of the case machine: path tests and diagrams use them (D1, D2). */
import type { CaseEvent, CaseInput } from "./Case.ts"

export const caseInput: CaseInput = { caseId: 1, reason: "SCREENING_HIT", openedAt: 0 }

export const caseSamples: ReadonlyArray<CaseEvent> = [
  { type: "NOTE", at: 1, note: "document uploaded" },
  { type: "CLEAR", at: 1, by: "COMPLIANCE", note: "false positive" },
  { type: "REJECT", at: 1, by: "COMPLIANCE", note: "confirmed" }
]
