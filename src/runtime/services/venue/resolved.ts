/**
 * The parts that all resolutions by staff have in common: the condition for a resolution, and the alarm with the
 * evidence (A2-115, A2-116).
 */
import { conflict, type Refusal } from "../../../machines/shared/Refusal.ts"
import type { Instance } from "../../effects/Instance.ts"
import { applyEffects } from "../../effects/Interpreter.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import { standingMisfit } from "./misfits.ts"

/** The refusal of a resolution. Null: staff can resolve the object, because its call is unanswered or its misfit stands. */
export const unlessUnknown = (
  state: SubjectState,
  ref: string,
  object: `${"order" | "swap"}:${number}`
): Refusal | null => {
  if (state.get("venueCalls", ref) !== undefined || standingMisfit(state, [object]) !== undefined) return null
  const what = object.startsWith("order:") ? "order" : "take"
  return conflict("KNOWN_AT_VENUE", `The venue has answered this ${what}: nothing of it is unknown.`)
}

/** Records in the audit that staff resolved an object in place of the venue. `reason` is their evidence. */
export const noteResolved = (
  { turn, of: { partnerId, clientId } }: { readonly turn: Turn; readonly of: Pick<Instance, "partnerId" | "clientId"> },
  object: `${"order" | "swap" | "rfq" | "barrierContract"}:${number}`,
  state: string,
  reason: string
): void =>
  applyEffects(turn, { partnerId, clientId, object }, [
    { type: "audit", action: "venue.resolve", before: state, after: state, reason }
  ])
