/** One event per transition of the reliance machine: path tests and diagrams use them (D16). */
import { type RelianceEvent, type RelianceInput, relianceMoves } from "./Reliance.ts"

export const relianceInput: RelianceInput = { partnerId: 1 }

export const relianceSamples: ReadonlyArray<RelianceEvent> = relianceMoves.map((type) => ({
  type,
  at: 1,
  reason: "decided by compliance"
}))
