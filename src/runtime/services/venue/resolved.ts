/** What every resolution by staff has in common: that nothing else is known, and the alarm with their evidence (A2-116). */
import { conflict, type Refusal } from "../../../machines/shared/Refusal.ts"
import type { Instance } from "../../effects/Instance.ts"
import { applyEffects } from "../../effects/Interpreter.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"

/** Why it can't be ended so; null when it can: it was sent under this ref, and the venue has never said what became of it. */
export const unlessUnknown = (state: SubjectState, ref: string, what: "order" | "take"): Refusal | null =>
  state.get("venueCalls", ref) === undefined
    ? conflict("KNOWN_AT_VENUE", `The venue has answered this ${what}: nothing of it is unknown.`)
    : null

/** Staff took the venue's place: an alarm on the object, with their evidence. */
export const noteResolved = (
  { turn, of: { partnerId, clientId } }: { readonly turn: Turn; readonly of: Pick<Instance, "partnerId" | "clientId"> },
  object: `${"order" | "swap" | "rfq" | "barrierContract"}:${number}`,
  state: string,
  reason: string
): void =>
  applyEffects(turn, { partnerId, clientId, object }, [
    { type: "audit", action: "venue.resolve", before: state, after: state, reason }
  ])
