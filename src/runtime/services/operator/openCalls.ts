/** Calls of the venue in flight of one object, and what asking for them has come to (operator surface, machine inspect; D6). */
import type { Kind } from "../../../machines/registry.ts"
import { ownerOfRef } from "../../../machines/venue/venueRefs.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import type { Found } from "../venue/LostCalls.ts"
import type { VenueCalls } from "../venue/VenueCalls.ts"

export interface OpenCall {
  readonly ref: string
  readonly call: string
  /** In flight since, Unix ms. */
  readonly at: number
  /** How often the venue was asked what became of it, by this process. */
  readonly asked: number
  /** What the venue has last said of it; BEING_MADE: it is not asked yet. */
  readonly found: "BEING_MADE" | Found
}

/** The oldest first. */
export const openCalls = (
  state: SubjectState,
  { kind, id }: { readonly kind: Kind; readonly id: number },
  { questionsOn }: Pick<VenueCalls["Service"], "questionsOn">
): ReadonlyArray<OpenCall> =>
  state
    .all("venueCalls")
    .filter(({ ref }) => {
      // A close-out waits for whatever of its client is in flight.
      if (kind === "closeOut") return true
      const owner = ownerOfRef(ref)
      return owner !== null && owner.owner === kind && owner.id === id
    })
    .toSorted((one, other) => one.at - other.at)
    .map(({ ref, call, at }) => {
      const questions = questionsOn(ref)
      return { ref, call, at, asked: questions?.asked ?? 0, found: questions?.found ?? "BEING_MADE" }
    })
