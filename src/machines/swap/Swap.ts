/**
 * A staking swap: a writer receives the notional, and owes it back with a reward at maturity. The terms are frozen at the
 * take; the paid, written-off and charged amounts grow with the venue's reports. Amounts are decimal strings in the asset's
 * scale, initially "0" (doc 2, Swap; D8, STS-7, STS-6, A2-95, STS-2, A2-57, A2-59, A2-111).
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

/** States in which payments may still come; a defaulted swap counts while it has a claim. */
export const liveSwapStates = ["ACCEPTING", "OPEN", "DEFAULTED"] as const

/** The reasons why a swap ended, as partners read them. */
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
  /** The requested quantity, on the market's lot grid. */
  readonly qty: string
  readonly notional: string
  readonly rateBps: number
  readonly tenorDays: number
  readonly reward: string
  /** The venue's taker fee as estimated when the money was reserved. */
  readonly estimatedFee: string
  /** The amount reserved until the venue answers: notional plus estimated fee. */
  readonly hold: string
  readonly commissionRewardBps: number
  readonly createdAt: number
}

/** A payment by the writer, with the venue's id. */
export interface SwapPayment {
  readonly id: number
  readonly amount: string
  readonly at: number
}

/**
 * A part of a claim that staff wrote off. `at`: business time, Unix ms. `paid`: the total received before the write-off,
 * which gives its position among the payments.
 */
export interface SwapWriteOff {
  readonly amount: string
  readonly at: number
  readonly paid: string
}

export interface SwapContext extends SwapInput {
  /** The venue's ids of the contract and of its trade. Null until the take is known; zero when only staff have confirmed it. */
  readonly contractId: number | null
  readonly tradeId: number | null
  readonly openedTs: number | null
  readonly maturityTs: number | null
  readonly defaultedTs: number | null
  readonly closedTs: number | null
  /** The venue's taker fee, as last corrected. */
  readonly fee: string
  /** Ids of the booked corrections; id zero stands for the fee of the take itself. */
  readonly corrections: ReadonlyArray<number>
  readonly payments: ReadonlyArray<SwapPayment>
  /** Impossible reports of the venue on this swap. Each is reported to staff once. */
  readonly doubts: ReadonlyArray<string>
  readonly paid: string
  readonly writtenOff: string
  /** All write-offs in order, including those that later payments have reversed. */
  readonly writeOffs: ReadonlyArray<SwapWriteOff>
  /** Payments received after the default. */
  readonly recovered: string
  /** Commission charged, and the number of postings that charged it. */
  readonly commission: string
  readonly charges: number
  readonly settleReason: SettleReason | null
  readonly rejectReason: string | null
  /** The last change of the swap, Unix ms. */
  readonly ts: number
}

/** The venue's execution of a take. */
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
  /** The venue now reports ids and times of a contract that staff had resolved without it. */
  | {
      readonly type: "NAMED"
      readonly at: number
      readonly contractId: number
      readonly tradeId: number
      readonly openedTs: number
      readonly maturityTs: number
    }
  /** The venue sent an impossible report: another contract, or another amount for a booked payment. */
  | { readonly type: "DOUBT"; readonly at: number; readonly of: string }
  /**
   * The venue definitely does not have the take. The reservation is released after a while, because the take may still
   * arrive.
   */
  | { readonly type: "MISSED"; readonly at: number; readonly releaseAt: number }
  | { readonly type: "RELEASE"; readonly at: number }
  /** The venue corrected the taker fee; each correction applies once. */
  | { readonly type: "FEE"; readonly at: number; readonly correctionId: number; readonly fee: string }
  /** The writer paid. `final`: the last payment of a delisted market. */
  | ({ readonly type: "PAID"; readonly final: boolean } & Payment)
  /** The venue reports at or after maturity that the writer can't pay everything. */
  | { readonly type: "SHORT"; readonly at: number }
  /** An hour has passed since maturity by the service's clock. */
  | { readonly type: "OVERDUE"; readonly at: number }
  /** The market is delisted, and no further payment will come. */
  | { readonly type: "DELISTED"; readonly at: number }
  | { readonly type: "WRITE_OFF"; readonly at: number; readonly amount: string; readonly reason: string }

interface Payment {
  readonly at: number
  readonly paymentId: number
  readonly amount: string
}

/** A take that the venue does not know stays in flight for this long, ms. */
export const releaseMillis = 300_000
/** A swap that is not fully paid this long after maturity is in default by the service's clock, ms. */
export const overdueMillis = 3_600_000

/** Limit of the doubts that one swap records; more would add no information. */
export const doubtsAtMost = 32

/** The venue ref of a take. */
export const swapRef = (swapId: number): string => `S-${swapId}`

/** The terms of a swap in minor units, for its figures. */
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
