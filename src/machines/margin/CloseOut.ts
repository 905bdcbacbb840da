/**
 * A close-out episode of an account. It begins when the margin falls short. It ends when every exposure is closed and a
 * shortfall is written off, or when the account has recovered. Money is USDC as decimal strings with six places (F9, F10,
 * D23, F7, F3).
 */

import type { JsonObject } from "../shared/Json.ts"
import { minorOf } from "../shared/Money.ts"

export interface CloseOutInput {
  readonly closeOutId: number
  readonly clientId: number
  readonly startedAt: number
  /** Figures of the account when the episode began. */
  readonly closeOutEquity: string
  readonly marginBase: string
}

/** The last order of an episode in a market, and the pause before the next order if this one changes nothing. */
export interface Tried {
  /** When the order was sent, Unix ms. */
  readonly at: number
  /** The pause before the next order, ms. */
  readonly pause: number
  /** The signed position when the order was sent. */
  readonly held: string
  /**
   * The number of earlier orders that the market did not fill completely, at most two. It sets how far from the mark the
   * order may trade.
   */
  readonly step: number
}

/** The cause that an episode can close nothing now. MARK: no mark is fresh. MARKET: no market trades and has a counterparty. */
export type Missing = "MARK" | "MARKET"

/**
 * The client's next withdrawal id and next swap id at the write-off. Ids only grow, so a lower id is older than the
 * write-off.
 */
export interface Behind {
  readonly requestId: number
  readonly swapId: number
}

export interface CloseOutContext extends CloseOutInput {
  readonly endedAt: number | null
  /** The wait for cancelled requests and orders ends at this time, Unix ms. */
  readonly cancelUntil: number | null
  /** The time of the last tear-up requests, Unix ms; null before the first. */
  readonly tornAt: number | null
  /** Contracts with a requested tear-up, each counted once. */
  readonly contracts: number
  /** The number of orders sent to close positions, and the id of the last of them. */
  readonly orders: number
  readonly lastOrderId: number | null
  /** The episode's last order in each market that still trades, by symbol. */
  readonly tried: Readonly<Record<string, Tried>>
  /** The distance from the mark that staff allow the orders, basis points; zero: the steps alone limit it. */
  readonly widenedBps: number
  /** The amount that negative balance protection has credited. */
  readonly writtenOff: string
  /**
   * The first ids after the write-off. Withdrawals and swaps with a lower id are older, and money that returns from them
   * repays the write-off. Null without a write-off.
   */
  readonly behind: Behind | null
  /** The repaid part of the write-off, and the number of postings that repaid it. */
  readonly repaid: string
  readonly repayments: number
}

export type CloseOutEvent =
  /** Opening requests and orders of the account are being cancelled; `until` limits the wait for them. */
  | { readonly type: "CANCEL"; readonly until: number }
  /** The episode sends an order that closes a position or part of it; `orders` includes those sent before. */
  | {
      readonly type: "CLOSE"
      readonly orderId: number
      readonly orders: number
      readonly tried: Readonly<Record<string, Tried>>
      /** The action as a sentence, for staff. */
      readonly reason: string
    }
  /** The episode requests tear-ups; `contracts` includes those requested before. */
  | { readonly type: "TEAR_UP"; readonly at: number; readonly contracts: number; readonly reason: string }
  /** The episode can close no exposure now; `missing` gives the cause. */
  | { readonly type: "WAIT"; readonly missing: Missing; readonly reason: string }
  /** Staff let the episode's orders trade further from the mark. */
  | { readonly type: "WIDEN"; readonly bps: number; readonly reason: string }
  /** No exposure is left. The episode waits for its calls in flight; a shortfall is then written off. */
  | { readonly type: "PROTECT" }
  /** Negative balance protection credits `amount`. */
  | { readonly type: "WRITE_OFF"; readonly amount: string; readonly behind: Behind }
  /** Money of a withdrawal or swap older than the write-off has returned, and repays it. `refs` name the withdrawal or swap. */
  | { readonly type: "REPAY"; readonly amount: string; readonly refs: JsonObject; readonly reason: string }
  /** The episode is over: `recovered` is false when every exposure was closed out. */
  | { readonly type: "END"; readonly at: number; readonly recovered: boolean }

/**
 * Shortest and longest pause, ms, before the episode retries a market or contract that did not close in full. The first pause
 * is the monitor's next check. Each attempt that changes nothing doubles the pause, so that a market without trades does not
 * cause a log entry every second for hours.
 */
export const firstPauseMillis = 1_000
export const longestPauseMillis = 30_000

/** The last step that an episode takes by itself. Only staff can let its orders trade further from the mark (`WIDEN`). */
export const lastStep = 2

/** The next pause, ms, after an order that has changed nothing. */
export const longerPause = (pause: number): number => Math.min(pause * 2, longestPauseMillis)

/** The pause after the n-th attempt without a change, ms; n from 1. */
export const pauseAfter = (times: number): number =>
  Math.min(firstPauseMillis * 2 ** Math.min(times - 1, 10), longestPauseMillis)

export const closeOutName = (closeOutId: number): string => `CO-${closeOutId}`

/** The part of the write-off that is not repaid yet, micro-USDC. */
export const unrepaidOf = ({ writtenOff, repaid }: Pick<CloseOutContext, "writtenOff" | "repaid">): bigint =>
  minorOf(writtenOff, "USDC") - minorOf(repaid, "USDC")

export const liveCloseOutStates = [
  "STARTED",
  "CANCELLING",
  "CLOSING",
  "WAITING_MARK",
  "WAITING_MARKET",
  "TEARING_UP",
  "PROTECTING"
] as const

/**
 * Whether the episode is live. A finished episode stays in memory until its write-off is repaid, or can no longer be
 * repaid.
 */
export const isGoingOn = ({ state }: { readonly state: string }): boolean =>
  (liveCloseOutStates as ReadonlyArray<string>).includes(state)
