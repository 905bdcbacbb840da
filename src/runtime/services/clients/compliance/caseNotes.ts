/** Writes notes about later submissions on a client's open cases, for compliance (D2). */
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { Instance } from "../../../effects/Instance.ts"
import { advance } from "../../../effects/advance.ts"

/** Writes a note on every open case. It goes to the audit, so it names no person and no file. */
export const noteOpenCases = (turn: Turn, instance: Instance, note: string): void => {
  for (const open of turn.state.all("cases")) {
    const noted = advance(turn, "cases", open, { type: "NOTE", at: turn.now, note }, { of: instance })
    if (noted === null) throw new Error("an open case refused a note")
  }
}
