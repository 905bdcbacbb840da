/** One event per side of every guard of the deposit machine: path tests and diagrams use them (D9). */
import type { DepositEvent, DepositInput } from "./DepositNotice.ts"

export const depositInput: DepositInput = {
  noticeId: 1,
  partnerId: 1,
  clientId: 1,
  clientUid: "DEMO-00000001",
  partnerRef: "ref-1",
  currency: "EUR",
  amount: "100.00",
  method: "FIAT",
  evidenceRef: null,
  createdAt: 0
}

export const depositSamples: ReadonlyArray<DepositEvent> = [
  { type: "CONFIRM", at: 1, by: "FINANCE", note: null, refusal: null, ledgerTxId: 7 },
  { type: "CONFIRM", at: 1, by: "FINANCE", note: null, refusal: "The account is closed.", ledgerTxId: 7 },
  { type: "REJECT", at: 1, by: "FINANCE", reason: "no such transfer" }
]
