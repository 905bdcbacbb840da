/** Recorded risk states as literal rows (D23). */
import { rowsOf } from "./TransitionRow.ts"
import type { RiskMonitorEvent } from "../../../src/machines/margin/RiskMonitor.ts"
import { riskMonitorInput } from "../../../src/machines/margin/riskMonitorSamples.ts"

const row = rowsOf<RiskMonitorEvent>(riskMonitorInput)

const call = (at: number): RiskMonitorEvent => ({ type: "CALL", at })
const closeOut = (at: number): RiskMonitorEvent => ({ type: "CLOSE_OUT", at })
const recover: RiskMonitorEvent = { type: "RECOVER", at: 2_000 }
const said = (kind: string) => [`notify ${kind}`, "audit risk.state"]

export const riskMonitorRows = [
  row("D23: NORMAL, a margin call", "NORMAL", [], call(1_000), "MARGIN_CALL", said("MARGIN_CALL"), {
    calledAt: 1_000,
    closedOutAt: null
  }),
  row("D23: NORMAL, a close-out", "NORMAL", [], closeOut(1_000), "CLOSE_OUT", said("CLOSE_OUT"), {
    calledAt: null,
    closedOutAt: 1_000
  }),
  row("D23: MARGIN_CALL, a close-out", "MARGIN_CALL", [call(1_000)], closeOut(1_500), "CLOSE_OUT", said("CLOSE_OUT")),
  row("D23: MARGIN_CALL, recovered", "MARGIN_CALL", [call(1_000)], recover, "NORMAL", ["audit risk.state"]),
  row("D23: CLOSE_OUT, recovered", "CLOSE_OUT", [closeOut(1_000)], recover, "NORMAL", ["audit risk.state"]),
  row(
    "D23: CLOSE_OUT, a margin call is left",
    "CLOSE_OUT",
    [closeOut(1_000)],
    call(2_000),
    "MARGIN_CALL",
    said("MARGIN_CALL")
  ),
  row(
    "A2-105: NORMAL, called again within a minute",
    "NORMAL",
    [call(1_000), recover],
    call(60_999),
    "MARGIN_CALL",
    ["audit risk.state"],
    { calledAt: 1_000 }
  ),
  row(
    "A2-105: NORMAL, called again after a minute",
    "NORMAL",
    [call(1_000), recover],
    call(61_000),
    "MARGIN_CALL",
    said("MARGIN_CALL"),
    { calledAt: 61_000 }
  ),
  row(
    "A2-105: NORMAL, closed out again within a minute",
    "NORMAL",
    [closeOut(1_000), recover],
    closeOut(60_999),
    "CLOSE_OUT",
    ["audit risk.state"],
    { closedOutAt: 1_000 }
  ),
  row(
    "A2-105: MARGIN_CALL, closed out again within a minute",
    "MARGIN_CALL",
    [closeOut(1_000), call(1_500)],
    closeOut(2_000),
    "CLOSE_OUT",
    ["audit risk.state"]
  ),
  row(
    "A2-105: CLOSE_OUT, called again within a minute",
    "CLOSE_OUT",
    [call(1_000), closeOut(1_500)],
    call(2_000),
    "MARGIN_CALL",
    ["audit risk.state"]
  ),
  row("D23: NORMAL, nothing to recover from", "NORMAL", [], recover, "refused"),
  row("D23: MARGIN_CALL, called already", "MARGIN_CALL", [call(1_000)], call(90_000), "refused"),
  row("D23: CLOSE_OUT, closed out already", "CLOSE_OUT", [closeOut(1_000)], closeOut(90_000), "refused")
]
