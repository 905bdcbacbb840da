/** Creates a misfit in a turn, as reports of the venue would. */
import { readPauses } from "../../src/machines/venueChecks/VenueMisfit.ts"
import { advance } from "../../src/runtime/effects/advance.ts"
import type { Turn } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { misfitOf, noteMisfit } from "../../src/runtime/services/venue/misfits.ts"

/** Reports a misfit of the object with this ref: a first report, and the answers to `reads` further reads. */
export const reportMisfit = (turn: Turn, ref: string, reads: number = readPauses.length): void => {
  const misfit = { reason: "the side is SELL instead of BUY", worth: 6_000_000_000n }
  noteMisfit(turn, { ref, misfit, bytes: null })
  for (let read = 0; read < reads; read++) {
    const open = misfitOf(turn, ref)
    if (open === undefined) throw new Error(`${ref} has no misfit`)
    advance(turn, "venueMisfits", open, { type: "READ", at: turn.now })
    noteMisfit(turn, { ref, misfit, bytes: null })
  }
}
