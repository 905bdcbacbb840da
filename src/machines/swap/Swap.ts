/**
 * A staking swap: a writer takes the notional and owes it back with a reward at maturity. Its terms are frozen at the take;
 * what was paid, written off and charged grows with the venue's word. Amounts are decimal strings in the asset's scale, "0"
 * until there is any (doc 2, Swap; D8, STS-7, STS-6, A2-95, STS-2, A2-57, A2-59, A2-111).
 */
import type { Currency } from "../shared/Currency.ts"
import { minorOf } from "../shared/Money.ts"
import type { SwapProgress, SwapTerms } from "./swapFigures.ts"

export const swapStates = [
  "ACCEPTING",
  "OPEN",
  "REJECTED",
  "MATURED",
  "DEFAULTED",
  "CURED",
  "FINAL_SETTLEMENT"
] as const
export type SwapState = (typeof swapStates)[number]

/** States in which something may still be expected; a default counts while a claim stands. */
export const liveSwapStates = ["ACCEPTING", "OPEN", "DEFAULTED"] as const

/** Why a swap ended, as partners read it. */
export const settleReasons = ["matured", "default", "cured", "finalSettlement"] as const
export type SettleReason = (typeof settleReasons)[number]

export interface SwapInput {
  readonly swapId: number
  readonly clientId: number
  /** The client's account at the venue: its uid. */
  readonly account: string
  readonly offerId: number
  readonly symbol: string
  readonly name: string
  readonly asset: Currency
  /** What was asked for, on the market's lot grid. */
  readonly qty: string
  readonly notional: string
  readonly rateBps: number
  readonly tenorDays: number
  readonly reward: string
  /** The venue's taker fee, as it was estimated when it was reserved. */
  readonly estimatedFee: string
  /** What is set aside until the venue has answered: notional and estimated fee. */
  readonly hold: string
  readonly commissionRewardBps: number
  readonly createdAt: number
}

/** A payment of the writer, by the venue's id of it. */
export interface SwapPayment {
  readonly id: number
  readonly amount: string
  readonly at: number
}

/** What staff gave up of a claim, by the business clock; `paid` is what had come by then, so that its place among payments is known. */
export interface SwapWriteOff {
  readonly amount: string
  readonly at: number
  readonly paid: string
}

export interface SwapContext extends SwapInput {
  /** The venue's id of the contract, and of the trade that made it; null until the take is known. Zero: by staff's word alone. */
  readonly contractId: number | null
  readonly tradeId: number | null
  readonly openedTs: number | null
  readonly maturityTs: number | null
  readonly defaultedTs: number | null
  readonly closedTs: number | null
  /** The taker fee as the venue has it now. */
  readonly fee: string
  /** Ids of the corrections that are booked; zero is the fee of the take itself. */
  readonly corrections: ReadonlyArray<number>
  readonly payments: ReadonlyArray<SwapPayment>
  /** What the venue has said of it that can't be, each told to staff once. */
  readonly doubts: ReadonlyArray<string>
  readonly paid: string
  readonly writtenOff: string
  /** All write-offs in their order; what later money undid of them stands in them too. */
  readonly writeOffs: ReadonlyArray<SwapWriteOff>
  /** What came after the default. */
  readonly recovered: string
  /** Charged so far, in so many postings. */
  readonly commission: string
  readonly charges: number
  readonly settleReason: SettleReason | null
  readonly rejectReason: string | null
  /** Its last change, Unix ms. */
  readonly ts: number
}

/** A take as the venue executed it. */
export interface Taken {
  readonly at: number
  readonly contractId: number
  readonly tradeId: number
  readonly notional: string
  readonly rateBps: number
  readonly tenorDays: number
  readonly reward: string
  readonly openedTs: number
  readonly maturityTs: number
}

export type SwapEvent =
  | ({ readonly type: "TOOK" } & Taken)
  | { readonly type: "REFUSED"; readonly at: number; readonly reason: string }
  /** The venue's word on a contract that staff had resolved: its ids and its times. */
  | {
      readonly type: "NAMED"
      readonly at: number
      readonly contractId: number
      readonly tradeId: number
      readonly openedTs: number
      readonly maturityTs: number
    }
  /** The venue says something of it that can't be: another contract, or a payment that is booked of another amount. */
  | { readonly type: "DOUBT"; readonly at: number; readonly of: string }
  /** The venue is certain that it does not have the take: it is released after a while. */
  | { readonly type: "MISSED"; readonly at: number; readonly releaseAt: number }
  | { readonly type: "RELEASE"; readonly at: number }
  /** The taker fee is another one; each correction of the venue's once. */
  | { readonly type: "FEE"; readonly at: number; readonly correctionId: number; readonly fee: string }
  /** The writer paid; `final`: the last payment of a market that is delisted. */
  | ({ readonly type: "PAID"; readonly final: boolean } & Payment)
  /** The venue says at or after maturity that the writer falls short. */
  | { readonly type: "SHORT"; readonly at: number }
  /** An hour has passed since maturity by our own clock. */
  | { readonly type: "OVERDUE"; readonly at: number }
  /** The market is delisted, and nothing more will be paid. */
  | { readonly type: "DELISTED"; readonly at: number }
  | { readonly type: "WRITE_OFF"; readonly at: number; readonly amount: string; readonly reason: string }

interface Payment {
  readonly at: number
  readonly paymentId: number
  readonly amount: string
}

/** How long a take that the venue does not know stays in flight, ms. */
export const releaseMillis = 300_000
/** How long after maturity a swap without full payment is in default by our own clock, ms. */
export const overdueMillis = 3_600_000

/** Of one swap; more of them tell nothing new. */
export const doubtsAtMost = 32

/** The name of a take at the venue. */
export const swapRef = (swapId: number): string => `S-${swapId}`

/** The terms of a swap as its figures are worked out from them. */
export const termsOfSwap = ({
  asset,
  notional,
  reward,
  commissionRewardBps
}: Pick<SwapInput, "asset" | "notional" | "reward" | "commissionRewardBps">): SwapTerms => ({
  notional: minorOf(notional, asset),
  reward: minorOf(reward, asset),
  commissionRewardBps
})

export const progressOfSwap = ({
  asset,
  paid,
  writtenOff
}: Pick<SwapContext, "asset" | "paid" | "writtenOff">): SwapProgress => ({
  paid: minorOf(paid, asset),
  writtenOff: minorOf(writtenOff, asset)
})
