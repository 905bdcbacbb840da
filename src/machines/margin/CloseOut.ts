/**
 * A close-out episode of an account (F9, F10; D23): from the moment at which too little is held until what was open is closed
 * and a shortfall is written off, or the account has recovered. Money is USDC as decimal strings with six places.
 */

import type { JsonObject } from "../shared/Json.ts"
import { minorOf } from "../shared/Money.ts"

export interface CloseOutInput {
  readonly closeOutId: number
  readonly clientId: number
  readonly startedAt: number
  /** As they were when it began (F7). */
  readonly closeOutEquity: string
  readonly marginBase: string
}

/** The last order of an episode in a market, and how long the next one waits where it has changed nothing. */
export interface Tried {
  /** When it was sent, Unix ms. */
  readonly at: number
  /** Until the next one, ms. */
  readonly pause: number
  /** The signed position that it was sent for. */
  readonly held: string
  /**
   * How many earlier orders the market did not fill whole, at most two. The count sets how far from the mark the order may trade.
   */
  readonly step: number
}

/** Why an episode can close nothing now: no fresh mark (F3), or no market that trades and has a counterparty. */
export type Missing = "MARK" | "MARKET"

/** The next ids of the client's withdrawals and swaps at the write-off. Ids grow in a mailbox, so a lower id is older. */
export interface Behind {
  readonly requestId: number
  readonly swapId: number
}

export interface CloseOutContext extends CloseOutInput {
  readonly endedAt: number | null
  /** Until then the cancelled requests and orders are waited for, Unix ms. */
  readonly cancelUntil: number | null
  /** When tear-ups were last asked for. */
  readonly tornAt: number | null
  /** Contracts that the venue was asked to tear up, each counted once. */
  readonly contracts: number
  /** Orders sent to close positions, and the last of them. */
  readonly orders: number
  readonly lastOrderId: number | null
  /** The last one in each market that still trades. */
  readonly tried: Readonly<Record<string, Tried>>
  /** How far from the mark staff let the orders trade, basis points; zero: only as far as the steps go. */
  readonly widenedBps: number
  /** What negative balance protection put back. */
  readonly writtenOff: string
  /** The ids that mark withdrawals and swaps as older: those stand behind the write-off. Null without a write-off. */
  readonly behind: Behind | null
  /** The repaid part of the write-off, out of money that stood behind it, and the number of postings that repaid it. */
  readonly repaid: string
  readonly repayments: number
}

export type CloseOutEvent =
  /** Its requests to open, and its orders that could, are being cancelled; they are waited for so long. */
  | { readonly type: "CANCEL"; readonly until: number }
  /** An order is sent that closes what is held in a market, or part of it; `orders` with those sent before. */
  | {
      readonly type: "CLOSE"
      readonly orderId: number
      readonly orders: number
      readonly tried: Readonly<Record<string, Tried>>
      /** What is done, as staff read it. */
      readonly reason: string
    }
  /** Tear-ups are asked for; `contracts` with those asked for before. */
  | { readonly type: "TEAR_UP"; readonly at: number; readonly contracts: number; readonly reason: string }
  /** Nothing of what is open can be closed now, and why (F3, F9). */
  | { readonly type: "WAIT"; readonly missing: Missing; readonly reason: string }
  /** Staff let its orders trade further from the mark. */
  | { readonly type: "WIDEN"; readonly bps: number; readonly reason: string }
  /** Nothing is open any more. */
  | { readonly type: "PROTECT" }
  /** Negative balance protection puts `amount` back (F10). */
  | { readonly type: "WRITE_OFF"; readonly amount: string; readonly behind: Behind }
  /** Money that stood behind the write-off has come back and repays it. `refs` name the withdrawal or the swap it comes from. */
  | { readonly type: "REPAY"; readonly amount: string; readonly refs: JsonObject; readonly reason: string }
  /** It is over: `recovered`, or closed out. */
  | { readonly type: "END"; readonly at: number; readonly recovered: boolean }

/**
 * Until a market, or a contract, is asked again that has not given all that it was asked for, ms (F9): the next look of the
 * monitor, and twice as long with each time that changed nothing, so that a market in which nobody trades is not written about
 * every second for hours.
 */
export const firstPauseMillis = 1_000
export const longestPauseMillis = 30_000

/** The last step that an episode takes without staff in a market. */
export const lastStep = 2

/** The pause behind one that has changed nothing, ms. */
export const longerPause = (pause: number): number => Math.min(pause * 2, longestPauseMillis)

/** The pause behind the n-th time that nothing was changed, ms; n from 1. */
export const pauseAfter = (times: number): number =>
  Math.min(firstPauseMillis * 2 ** Math.min(times - 1, 10), longestPauseMillis)

/** How an episode is named (F9). */
export const closeOutName = (closeOutId: number): string => `CO-${closeOutId}`

/** The part of the write-off that is not repaid yet, micro-USDC. */
export const unrepaidOf = ({ writtenOff, repaid }: Pick<CloseOutContext, "writtenOff" | "repaid">): bigint =>
  minorOf(writtenOff, "USDC") - minorOf(repaid, "USDC")

/** The states of an episode that goes on. */
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
