/** One event per side of every guard of the withdrawal machine: path tests and diagrams use them (D10). */
import type { WithdrawalEvent, WithdrawalInput } from "./WithdrawalRequest.ts"

export const withdrawalInput: WithdrawalInput = {
  requestId: 1,
  partnerId: 1,
  clientId: 1,
  clientUid: "DEMO-00000001",
  partnerRef: "ref-1",
  currency: "EUR",
  amount: "100.00",
  createdAt: 0,
  destinationFingerprint: "f".repeat(64)
}

export const withdrawalSamples: ReadonlyArray<WithdrawalEvent> = [
  { type: "REQUEST", at: 1 },
  { type: "APPROVE", at: 2, by: "FINANCE", refusal: null, ledgerTxId: 7 },
  { type: "APPROVE", at: 2, by: "FINANCE", refusal: "The account is frozen.", ledgerTxId: 7 },
  { type: "PAY", at: 3 },
  { type: "REJECT", at: 3, by: "FINANCE", reason: "no such account" },
  { type: "CANCEL", at: 3 },
  { type: "FAIL", at: 3, by: "FINANCE", reason: "refused by the bank" }
]
