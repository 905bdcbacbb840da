/** The transitions of a reconciliation break as literal rows (A3-11). */
import type { TransitionRow } from "./TransitionRow.ts"
import type { ReconBreakEvent } from "../../../src/machines/reconciliation/ReconBreak.ts"
import { reconBreakInput } from "../../../src/machines/reconciliation/reconBreakSamples.ts"

const close: ReconBreakEvent = { type: "CLOSE", at: 4, reason: "found" }

const breakRow = (
  title: string,
  from: string,
  given: ReadonlyArray<ReconBreakEvent>,
  to: string,
  effects: ReadonlyArray<string>,
  context: object
): TransitionRow => ({ title, from, input: reconBreakInput, given, event: close, to, effects, context })

export const reconBreakRows: ReadonlyArray<TransitionRow> = [
  breakRow("A3-11: OPEN, close, CLOSED", "OPEN", [], "CLOSED", ["audit break.close"], {
    closedAt: 4,
    closingReason: "found"
  }),
  breakRow("A3-11: CLOSED, close again", "CLOSED", [close], "refused", [], {})
]
