/** The transitions of a misfit as literal rows (A2-115). */
import { rowsOf, type TransitionRow } from "./TransitionRow.ts"
import { readPauses, type VenueMisfitEvent } from "../../../src/machines/venueChecks/VenueMisfit.ts"
import { venueMisfitInput } from "../../../src/machines/venueChecks/venueMisfitSamples.ts"

const read: VenueMisfitEvent = { type: "READ", at: 1_000 }
const unfit: VenueMisfitEvent = { type: "UNFIT", at: 2_000, reason: "a trade of nothing" }
const fit: VenueMisfitEvent = { type: "FIT" }
const lastButOne = [...readPauses.slice(1).flatMap(() => [read, unfit]), read]
const all = readPauses.flatMap(() => [read, unfit])

const row = rowsOf<VenueMisfitEvent>(venueMisfitInput)

export const venueMisfitRows: ReadonlyArray<TransitionRow> = [
  row("A2-115: READING, a read is scheduled", "READING", [], read, "READING", ["timer.set venue.misfit:1"], {
    reads: 0,
    isAwaited: true
  }),
  row(
    "A2-115: READING, the answer to its read does not fit",
    "READING",
    [read],
    unfit,
    "READING",
    ["timer.set venue.misfit:1"],
    { reads: 1, isAwaited: false, reason: "a trade of nothing" }
  ),
  row("A2-115: READING, an answer to another read does not fit", "READING", [], unfit, "READING", [], {
    reads: 0,
    reason: "a trade of nothing"
  }),
  row(
    "A2-115: READING, the last answer does not fit",
    "READING",
    lastButOne,
    unfit,
    "STANDING",
    ["audit venueMisfit.stand", "timer.set venue.misfit:1"],
    { reads: readPauses.length }
  ),
  row("A2-115: READING, an answer fits", "READING", [], fit, "ENDED", [
    "audit venueMisfit.end",
    "timer.clear venue.misfit:1"
  ]),
  row("A2-115: STANDING, an answer fits", "STANDING", all, fit, "ENDED", [
    "audit venueMisfit.end",
    "timer.clear venue.misfit:1"
  ]),
  row("A2-115: STANDING, an answer does not fit", "STANDING", all, unfit, "refused"),
  row("A2-115: STANDING, a read is scheduled", "STANDING", all, read, "STANDING", ["timer.set venue.misfit:1"]),
  row("A2-115: ENDED, an answer fits", "ENDED", [fit], fit, "refused"),
  row("A2-115: ENDED, an answer does not fit", "ENDED", [fit], unfit, "refused"),
  row("A2-115: ENDED, a read is scheduled", "ENDED", [fit], read, "refused")
]
