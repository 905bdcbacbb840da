/** What can happen to a close-out episode, both sides of every guard: path tests and diagrams use it (D23). */
import type { CloseOutEvent, CloseOutInput } from "./CloseOut.ts"

export const closeOutInput: CloseOutInput = {
  closeOutId: 8,
  clientId: 1,
  startedAt: 100,
  closeOutEquity: "-1.500000",
  marginBase: "28.500000"
}

export const closeOutSamples: ReadonlyArray<CloseOutEvent> = [
  { type: "CANCEL", until: 2_100 },
  { type: "CLOSE", at: 150, orderId: 40, symbol: "BTC-USDC-PERP", orders: 1 },
  { type: "TEAR_UP", at: 200, contracts: 2 },
  { type: "WAIT" },
  { type: "PROTECT" },
  { type: "WRITE_OFF", amount: "1.500000" },
  { type: "END", at: 300, recovered: false },
  { type: "END", at: 300, recovered: true }
]
