/** Notes on a client's open cases: what came in while compliance has not decided (D2). */
import type { CaseContext } from "../../../machines/compliance/Case.ts"
import { caseMachine } from "../../../machines/compliance/caseMachine.ts"
import type { JsonObject } from "../../../machines/Effects.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { step } from "../../engine/machine/decide.ts"
import { applyEffects, type Instance } from "../../effects/Interpreter.ts"

/** Writes a note on every open case. It goes to the audit, so it names no person and no file. */
export const noteOpenCases = (turn: Turn, instance: Instance, note: string): void => {
  for (const open of turn.state.all("cases")) {
    const stored = { state: open.state, context: open.context as unknown as CaseContext }
    const noted = step(caseMachine, stored, { type: "NOTE", at: turn.now, note })
    if (!noted.changed) throw new Error("an open case refused a note")
    turn.draft.put("cases", { ...open, state: noted.state, context: noted.context as unknown as JsonObject })
    applyEffects(turn, { ...instance, object: `case:${open.id}` }, noted.effects)
  }
}
