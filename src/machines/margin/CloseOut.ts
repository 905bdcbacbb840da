/**
 * A close-out episode of an account (F9, F10; D23): from the moment at which too little is held until what was open is closed
 * and a shortfall is written off, or the account has recovered. Money is USDC as decimal strings with six places.
 */

export interface CloseOutInput {
  readonly closeOutId: number
  readonly clientId: number
  readonly startedAt: number
  /** As they were when it began (F7). */
  readonly closeOutEquity: string
  readonly marginBase: string
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
  /** When the last one was sent in each market, Unix ms. */
  readonly tried: Readonly<Record<string, number>>
  /** What negative balance protection put back. */
  readonly writtenOff: string
}

export type CloseOutEvent =
  /** Its requests to open, and its orders that could, are being cancelled; they are waited for so long. */
  | { readonly type: "CANCEL"; readonly until: number }
  /** An order is sent that closes what is held in a market, or part of it; `orders` with those sent before. */
  | {
      readonly type: "CLOSE"
      readonly at: number
      readonly orderId: number
      readonly symbol: string
      readonly orders: number
    }
  /** Tear-ups are asked for; `contracts` with those asked for before. */
  | { readonly type: "TEAR_UP"; readonly at: number; readonly contracts: number }
  /** Nothing of what is open has a fresh mark in a market that trades (F3, F9). */
  | { readonly type: "WAIT" }
  /** Nothing is open any more. */
  | { readonly type: "PROTECT" }
  /** Negative balance protection puts `amount` back (F10). */
  | { readonly type: "WRITE_OFF"; readonly amount: string }
  /** It is over: `recovered`, or closed out. */
  | { readonly type: "END"; readonly at: number; readonly recovered: boolean }

/** How long cancelled requests and orders are waited for, ms (F9). */
export const cancelMillis = 2_000
/** Between two tear-ups of a contract that the venue refused, ms. */
export const tearAgainMillis = 1_000
/** Between two orders in a market of which the first was not filled whole, ms: the next look of the monitor (F9). */
export const closeAgainMillis = 1_000

/** How an episode is named (F9). */
export const closeOutName = (closeOutId: number): string => `CO-${closeOutId}`

/** The states of an episode that goes on. */
export const liveCloseOutStates = [
  "STARTED",
  "CANCELLING",
  "CLOSING",
  "WAITING_MARK",
  "TEARING_UP",
  "PROTECTING"
] as const
