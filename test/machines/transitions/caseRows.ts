/** The transitions of a compliance case as literal rows (D1, D2). */
import type { CaseEvent } from "../../../src/machines/compliance/Case.ts"
import { rowsOf, type TransitionRow } from "./TransitionRow.ts"

const jot: CaseEvent = { type: "NOTE", at: 1, note: "uploaded" }
const clear: CaseEvent = { type: "CLEAR", at: 2, by: "COMPLIANCE", note: "false positive" }
const confirm: CaseEvent = { type: "REJECT", at: 2, by: "COMPLIANCE", note: null }
const review = rowsOf<CaseEvent>({ caseId: 20, reason: "SCREENING_HIT", openedAt: 0 })

export const caseRows: ReadonlyArray<TransitionRow> = [
  review("D2: OPEN, note, =", "OPEN", [], jot, "OPEN", ["audit case.note"], { decidedAt: null }),
  review("D1: OPEN, cleared", "OPEN", [], clear, "CLEARED", ["audit case.clear"], {
    decidedBy: "COMPLIANCE",
    decidedAt: 2,
    note: "false positive"
  }),
  review("D1: OPEN, rejected", "OPEN", [], confirm, "REJECTED", ["audit case.reject"], { decidedAt: 2 }),
  review("D1: CLEARED, rejected", "CLEARED", [clear], confirm, "refused"),
  review("D1: REJECTED, cleared", "REJECTED", [confirm], clear, "refused")
]
