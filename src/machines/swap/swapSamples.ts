/** Events of a staking swap, both sides of every guard: path tests and diagrams use them (D8). */
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

/** The maturity. Most samples use it as their time, because events that differ only in time lead to the same state. */
const at = 604_800_105

export const took: SwapEvent = {
  type: "TOOK",
  at,
  contractId: 9,
  tradeId: 77,
  notional: "10.00000000",
  rateBps: 400,
  tenorDays: 7,
  reward: "0.00767123",
  openedTs: 105,
  maturityTs: 604_800_105
}

/** The take as staff confirm it, before the venue has reported its ids. */
export const tookUnnamed: SwapEvent = { ...took, contractId: 0 } as SwapEvent
export const named: SwapEvent = {
  type: "NAMED",
  at,
  contractId: 9,
  tradeId: 77,
  openedTs: 106,
  maturityTs: 604_800_106
}

/** The writer pays principal and reward in full. */
export const paidAll: SwapEvent = {
  type: "PAID",
  at,
  paymentId: 1,
  amount: "10.00767123",
  final: false
}
/** The writer pays only a part of the principal. */
export const paidPart: SwapEvent = { ...paidAll, paymentId: 2, amount: "4.00000000" }
export const paidFinal: SwapEvent = { ...paidPart, final: true }

export const doubted: SwapEvent = { type: "DOUBT", at, of: "contract 12" }

export const swapSamples: ReadonlyArray<SwapEvent> = [
  took,
  tookUnnamed,
  named,
  { type: "REFUSED", at, reason: "unknown offer" },
  { type: "MISSED", at, releaseAt: 608_400_105 },
  { type: "RELEASE", at },
  { type: "FEE", at, correctionId: 1, fee: "0.00400000" },
  paidAll,
  paidPart,
  paidFinal,
  doubted,
  { type: "SHORT", at: 200 },
  { type: "SHORT", at },
  { type: "OVERDUE", at },
  { type: "DELISTED", at },
  // The samples have one partial write-off only: a repeatable event reaches many rows that differ in nothing else.
  { type: "WRITE_OFF", at, amount: "7.00000000", reason: "the writer is insolvent" },
  { type: "WRITE_OFF", at, amount: "10.00767123", reason: "the writer is insolvent" }
]
