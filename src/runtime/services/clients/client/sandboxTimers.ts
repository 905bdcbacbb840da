/** Sets the durable timers of a sandbox client with a published last name. `sandboxDecisions` handles them (D1, D2, D3). */
import { sandboxNameOf } from "../../../../machines/sandbox/sandboxNames.ts"
import { type SandboxDecision, sandboxTimer } from "../../../../machines/timerNames.ts"
import type { Instance } from "../../../effects/Instance.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"

/** Sets the client's durable timer for one sandbox decision; `at` is business time, Unix ms. */
export const setSandboxTimer = (turn: Turn, decision: SandboxDecision, at: number, instance: Instance): void =>
  applyEffects(turn, instance, [{ type: "timer.set", name: sandboxTimer(decision), at }])

/** Sets the timers of a client's published last name; any other name has none. */
export const setSandboxTimers = (turn: Turn, lastName: string): void => {
  for (const { decision, afterMillis } of sandboxNameOf(lastName)?.steps ?? []) {
    setSandboxTimer(turn, decision, turn.now + afterMillis, { partnerId: null, clientId: null })
  }
}
