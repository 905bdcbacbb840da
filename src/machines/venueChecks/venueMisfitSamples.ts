/** The events of a misfit, for path tests and diagrams. */
import type { VenueMisfitEvent, VenueMisfitInput } from "./VenueMisfit.ts"

export const venueMisfitInput: VenueMisfitInput = {
  misfitId: 1,
  ref: "O-1",
  reason: "the side is SELL instead of BUY",
  at: 0
}

export const venueMisfitSamples: ReadonlyArray<VenueMisfitEvent> = [
  { type: "READ", at: 1 },
  { type: "UNFIT", at: 2, reason: "the side is SELL instead of BUY" },
  { type: "FIT" }
]
