/** Events of a close-out episode, both sides of every guard: path tests and diagrams use them (D23). */
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
  {
    type: "CLOSE",
    orderId: 40,
    orders: 1,
    tried: { "BTC-USDC-PERP": { at: 150, pause: 1_000, held: "0.1", step: 0 } },
    reason: "O-40 SELL 0.1 BTC-USDC-PERP"
  },
  { type: "TEAR_UP", at: 200, contracts: 2, reason: "2 contracts" },
  { type: "WAIT", missing: "MARK", reason: "BTC-USDC-PERP has no live price" },
  { type: "WAIT", missing: "MARKET", reason: "BTC-USDC-PERP is halted" },
  { type: "WIDEN", bps: 700, reason: "the book is thin" },
  { type: "PROTECT" },
  { type: "WRITE_OFF", amount: "1.500000", behind: { requestId: 8, swapId: 10 } },
  { type: "END", at: 300, recovered: false },
  { type: "END", at: 300, recovered: true },
  { type: "REPAY", amount: "1.000000", refs: { requestId: 7 }, reason: "1.000000 USDC of withdrawal 7" },
  { type: "REPAY", amount: "1.600000", refs: { swapId: 9 }, reason: "1.600000 USDC of swap 9" }
]
