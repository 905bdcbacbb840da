/** One event per transition of the settlement machine: path tests and diagrams use them (D12). */
import type { SettlementEvent, SettlementInput } from "./SettlementItem.ts"

export const settlementInput: SettlementInput = {
  itemId: 1,
  clientId: 1,
  clientUid: "DEMO-00000001",
  partnerClientRef: "client-1",
  type: "MANUAL",
  currency: "USDC",
  amount: "-1.500000",
  refs: {},
  occurredAt: 0,
  ledgerTxId: 7,
  createdAt: 0
}

export const settlementSamples: ReadonlyArray<SettlementEvent> = [
  { type: "REPORT_SETTLED", at: 1, partnerTxRef: "tx-1", settledAt: 1, note: null },
  { type: "REPORT_FAILED", at: 1, partnerTxRef: null, settledAt: null, note: "bank closed" }
]
