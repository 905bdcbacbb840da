/** Events of a recorded risk state, both sides of every guard: path tests and diagrams use them (D23). */
import type { RiskMonitorEvent, RiskMonitorInput } from "./RiskMonitor.ts"

export const riskMonitorInput: RiskMonitorInput = { clientId: 1 }

export const riskMonitorSamples: ReadonlyArray<RiskMonitorEvent> = [
  { type: "CALL", at: 1_000 },
  { type: "CALL", at: 70_000 },
  { type: "CLOSE_OUT", at: 1_000 },
  { type: "CLOSE_OUT", at: 70_000 },
  { type: "RECOVER", at: 2_000 }
]
