/**
 * A close-out episode of an account: it begins when the margin falls short, and ends when every exposure is closed and a
 * shortfall is written off, or when the account has recovered. Money is USDC as decimal strings with six places (F9, F10, D23,
 * F7, F3).
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

/** The last order of an episode in a market, and the pause before the next one if it has changed nothing. */
export interface Tried {
  /** When the order was sent, Unix ms. */
  readonly at: number
  /** The pause before the next order, ms. */
  readonly pause: number
  /** The signed position that the order was to close. */
  readonly held: string
  /**
   * How many earlier orders the market did not fill whole, at most two. The count sets how far from the mark the order may trade.
   */
  readonly step: number
}

/** Why an episode can close nothing now: no fresh mark, or no market that trades and has a counterparty. */
export type Missing = "MARK" | "MARKET"

/** The next ids of the client's withdrawals and swaps at the write-off. Ids grow in a mailbox, so a lower id is older. */
export interface Behind {
  readonly requestId: number
  readonly swapId: number
}

export interface CloseOutContext extends CloseOutInput {
  readonly endedAt: number | null
  /** How long cancelled requests and orders are awaited, Unix ms. */
  readonly cancelUntil: number | null
  /** When tear-ups were last requested. */
  readonly tornAt: number | null
  /** Contracts with a requested tear-up, each counted once. */
  readonly contracts: number
  /** Orders sent to close positions, and the last of them. */
  readonly orders: number
  readonly lastOrderId: number | null
  /** The last order in each market that still trades. */
  readonly tried: Readonly<Record<string, Tried>>
  /** The distance from the mark that staff allow the orders, basis points; zero: the steps alone limit it. */
  readonly widenedBps: number
  /** The amount that negative balance protection has credited. */
  readonly writtenOff: string
  /**
   * The first ids after the write-off: withdrawals and swaps with a lower id are older and stand behind it. Null without a
   * write-off.
   */
  readonly behind: Behind | null
  /** The repaid part of the write-off, out of money that stood behind it, and the number of postings that repaid it. */
  readonly repaid: string
  readonly repayments: number
}

export type CloseOutEvent =
  /** The service cancels the account's opening requests and orders; `until` limits the wait for the cancels. */
  | { readonly type: "CANCEL"; readonly until: number }
  /** The service sends an order that closes a position or part of it; `orders` includes the orders sent before. */
  | {
      readonly type: "CLOSE"
      readonly orderId: number
      readonly orders: number
      readonly tried: Readonly<Record<string, Tried>>
      /** The action, for staff. */
      readonly reason: string
    }
  /** The service requests tear-ups; `contracts` includes those requested before. */
  | { readonly type: "TEAR_UP"; readonly at: number; readonly contracts: number; readonly reason: string }
  /** No exposure can be closed now; `missing` names the cause. */
  | { readonly type: "WAIT"; readonly missing: Missing; readonly reason: string }
  /** Staff let the episode's orders trade further from the mark. */
  | { readonly type: "WIDEN"; readonly bps: number; readonly reason: string }
  /** No exposure is open any more. */
  | { readonly type: "PROTECT" }
  /** Negative balance protection credits `amount`. */
  | { readonly type: "WRITE_OFF"; readonly amount: string; readonly behind: Behind }
  /** Money that stood behind the write-off has returned and repays it. `refs` name its withdrawal or swap. */
  | { readonly type: "REPAY"; readonly amount: string; readonly refs: JsonObject; readonly reason: string }
  /** The episode is over: `recovered`, or closed out. */
  | { readonly type: "END"; readonly at: number; readonly recovered: boolean }

/**
 * The pause before a market or a contract that did not close in full is tried again, ms. It starts with the monitor's next
 * check and doubles with each attempt that changed nothing, so that a market without trades does not cause a log entry every
 * second for hours.
 */
export const firstPauseMillis = 1_000
export const longestPauseMillis = 30_000

/** The last step that an episode takes without staff in a market. */
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

/** Whether the episode is live. A finished episode stays in memory until its write-off is repaid or cannot be repaid. */
export const isGoingOn = ({ state }: { readonly state: string }): boolean =>
  (liveCloseOutStates as ReadonlyArray<string>).includes(state)
