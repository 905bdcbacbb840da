/** The one event of the reconciliation break: path tests and diagrams use it (A3-11). */
import type { ReconBreakEvent, ReconBreakInput } from "./ReconBreak.ts"

export const reconBreakInput: ReconBreakInput = {
  breakId: 1,
  scope: "ALL",
  partnerId: null,
  clientId: null,
  currency: "USDC",
  amount: "-1.500000",
  pausesMoneyOut: true,
  reason: "the bank shows less",
  openedAt: 0
}

export const reconBreakSamples: ReadonlyArray<ReconBreakEvent> = [{ type: "CLOSE", at: 1, reason: "found" }]
