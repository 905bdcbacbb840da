/** The transition table D16 as literal rows. */
import type { RelianceMove } from "../../../src/machines/partner/Reliance.ts"
import type { TransitionRow } from "./TransitionRow.ts"

const move = (type: RelianceMove) => ({ type, at: 1, reason: "decided" })
const reliance = (from: string, given: ReadonlyArray<RelianceMove>, type: RelianceMove, to: string): TransitionRow => ({
  title: `D16: ${from}, ${type}, ${to}`,
  from,
  input: { partnerId: 2 },
  given: given.map(move),
  event: move(type),
  to,
  effects: to === "refused" ? [] : [`audit reliance.${type.toLowerCase()}`],
  context: to === "refused" ? {} : { reason: "decided", changedAt: 1 }
})

export const relianceRows: ReadonlyArray<TransitionRow> = [
  reliance("NONE", [], "REQUEST", "REQUESTED"),
  reliance("NONE", [], "APPROVE", "refused"),
  reliance("NONE", [], "REVOKE", "refused"),
  reliance("REQUESTED", ["REQUEST"], "WITHDRAW", "NONE"),
  reliance("REQUESTED", ["REQUEST"], "APPROVE", "APPROVED"),
  reliance("REQUESTED", ["REQUEST"], "SUSPEND", "refused"),
  reliance("APPROVED", ["REQUEST", "APPROVE"], "SUSPEND", "SUSPENDED"),
  reliance("APPROVED", ["REQUEST", "APPROVE"], "REVOKE", "REVOKED"),
  reliance("APPROVED", ["REQUEST", "APPROVE"], "WITHDRAW", "refused"),
  reliance("SUSPENDED", ["REQUEST", "APPROVE", "SUSPEND"], "REINSTATE", "APPROVED"),
  reliance("SUSPENDED", ["REQUEST", "APPROVE", "SUSPEND"], "REVOKE", "REVOKED"),
  reliance("SUSPENDED", ["REQUEST", "APPROVE", "SUSPEND"], "APPROVE", "refused"),
  reliance("REVOKED", ["REQUEST", "APPROVE", "REVOKE"], "REQUEST", "REQUESTED"),
  reliance("REVOKED", ["REQUEST", "APPROVE", "REVOKE"], "REINSTATE", "refused")
]
