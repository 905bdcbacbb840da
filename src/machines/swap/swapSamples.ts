/** What can happen to a staking swap, both sides of every guard: path tests and diagrams use it (D8). */
import type { SwapEvent, SwapInput } from "./Swap.ts"

/** Ten units at 4 percent for 7 days: reward floor(10 x 400 x 7 / 3,650,000), fee 5 basis points. */
export const swapInput: SwapInput = {
  swapId: 1,
  clientId: 1,
  account: "ACM-00000001",
  offerId: 5,
  symbol: "ETH-SWAP",
  name: "Ether staking",
  asset: "ETH",
  qty: "10.000",
  notional: "10.00000000",
  rateBps: 400,
  tenorDays: 7,
  reward: "0.00767123",
  estimatedFee: "0.00500000",
  hold: "10.00500000",
  commissionRewardBps: 1_000,
  createdAt: 100
}

export const took: SwapEvent = {
  type: "TOOK",
  at: 110,
  contractId: 9,
  tradeId: 77,
  notional: "10.00000000",
  rateBps: 400,
  tenorDays: 7,
  reward: "0.00767123",
  openedTs: 105,
  maturityTs: 604_800_105
}

/** By staff's word, before the venue has named it. */
export const tookUnnamed: SwapEvent = { ...took, contractId: 0 } as SwapEvent
export const named: SwapEvent = { type: "NAMED", at: 130, contractId: 9, openedTs: 106, maturityTs: 604_800_106 }

/** All that was expected. */
export const paidAll: SwapEvent = {
  type: "PAID",
  at: 604_800_105,
  paymentId: 1,
  amount: "10.00767123",
  final: false
}
/** Most of the principal. */
export const paidPart: SwapEvent = { ...paidAll, paymentId: 2, amount: "4.00000000" }
export const paidFinal: SwapEvent = { ...paidPart, paymentId: 3, final: true }

export const swapSamples: ReadonlyArray<SwapEvent> = [
  took,
  tookUnnamed,
  named,
  { type: "REFUSED", at: 110, reason: "unknown offer" },
  { type: "MISSED", at: 110, releaseAt: 300_110 },
  { type: "RELEASE", at: 300_110 },
  { type: "FEE", at: 120, correctionId: 1, fee: "0.00400000" },
  paidAll,
  paidPart,
  paidFinal,
  { type: "SHORT", at: 200 },
  { type: "SHORT", at: 604_800_105 },
  { type: "OVERDUE", at: 608_400_105 },
  { type: "DELISTED", at: 700 },
  { type: "WRITE_OFF", at: 604_900_000, amount: "1.00000000", reason: "the writer is insolvent" },
  { type: "WRITE_OFF", at: 604_900_000, amount: "10.00767123", reason: "the writer is insolvent" }
]
