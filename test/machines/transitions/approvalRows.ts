/** The transitions of an approval as literal rows (operator surface, Four eyes). */
import type { ApprovalEvent } from "../../../src/machines/operator/Approval.ts"
import { rowsOf, type TransitionRow } from "./TransitionRow.ts"

const grant: ApprovalEvent = { type: "GRANT", at: 50, by: 2, argumentsHash: "aa" }
const ask = rowsOf<ApprovalEvent>({
  approvalId: 9,
  command: "ledger adjust",
  argumentsHash: "aa",
  requestedBy: 1,
  requestedAt: 0,
  expiresAt: 100
})

export const approvalRows: ReadonlyArray<TransitionRow> = [
  ask("Four eyes: a second key grants", "PENDING", [], grant, "GRANTED", ["audit approval.grant"], { decidedBy: 2 }),
  ask("Four eyes: nobody grants alone", "PENDING", [], { ...grant, by: 1 }, "refused"),
  ask("Four eyes: other arguments", "PENDING", [], { ...grant, argumentsHash: "bb" }, "refused"),
  ask("Four eyes: granted too late", "PENDING", [], { ...grant, at: 100 }, "refused"),
  ask("Four eyes: used once", "GRANTED", [grant], grant, "refused"),
  ask("Four eyes: refused", "PENDING", [], { type: "REFUSE", at: 1, by: 1 }, "REFUSED", ["audit approval.refuse"]),
  ask("Four eyes: expired", "PENDING", [], { type: "EXPIRE", at: 100 }, "EXPIRED", ["audit approval.expire"]),
  ask("Four eyes: not due yet", "PENDING", [], { type: "EXPIRE", at: 99 }, "refused")
]
