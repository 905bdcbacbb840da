/**
 * A knock-out contract: its terms, frozen when its quote was executed, and its end. Money is USDC as decimal strings with six
 * places; prices and quantities are decimal strings on the market's grid. The grid's decimals are frozen too, so that history
 * reads the same after a delisting (doc 2, Barrier contract; D5, A2-112, A2-95, F17, F9, A2-31, A2-111).
 */
import type { ContractEnd } from "./contractFigures.ts"

export interface ContractInput {
  readonly contractId: number
  readonly rfqId: number
  readonly venueRfqId: number
  readonly quoteId: number
  readonly clientId: number
  /** The client's account at the venue: its uid. */
  readonly account: string
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  readonly qty: string
  readonly entry: string
  readonly barrier: string
  readonly takeProfit: string | null
  readonly expiryTs: number
  readonly expiryDefaulted: boolean
  readonly strict: boolean
  readonly premiumBps: number
  readonly premium: string
  readonly potentialProfit: string | null
  readonly commission: string
  readonly leverage: string
  readonly notional: string
  readonly priceDecimals: number
  readonly qtyDecimals: number
  readonly venueContractId: number
  readonly tradeId: number
  readonly openedAt: number
}

/** How a contract ended, as partners read it. */
export type CloseReason = "knockOut" | "takeProfit" | "expiry" | "earlyClose" | "liquidation" | "finalSettlement"

export const closeReasonOf: { readonly [E in ContractEnd]: CloseReason } = {
  KNOCKED_OUT: "knockOut",
  TAKE_PROFIT: "takeProfit",
  EXPIRED: "expiry",
  EARLY_CLOSE: "earlyClose",
  TORN_UP: "liquidation",
  CLOSED: "finalSettlement"
}

export interface ContractContext extends ContractInput {
  readonly closedAt: number | null
  readonly settlePrice: string | null
  readonly pnl: string | null
  readonly closeReason: CloseReason | null
  /** The last request for quotes to close the contract; null before the first. */
  readonly closeRfqId: number | null
  /** True while a tear-up call is in flight at the venue. */
  readonly tearing: boolean
  /** Tear-ups sent so far: each has its own ref. */
  readonly tearUps: number
  /** True: a tear-up call is in doubt, so the venue may still report its execution. A refused tear-up is final. */
  readonly isTearUpLost: boolean
  /**
   * Levels whose approach was already notified. Stored, so that a restart does not repeat the notice while the mark stays
   * near.
   */
  readonly said: ReadonlyArray<Level>
}

export type Level = "BARRIER" | "TAKE_PROFIT"

/** One event per way in which a contract ends, with the result. */
type Ended = {
  readonly [E in ContractEnd]: {
    readonly type: E
    readonly at: number
    readonly settlePrice: string
    readonly pnl: string
    /** The reason of an end that the service or staff requested; null when the venue ended the contract by itself. */
    readonly reason: string | null
  }
}[ContractEnd]

export type ContractEvent =
  | Ended
  | { readonly type: "CLOSE_REQUESTED"; readonly closeRfqId: number }
  /** Requests that the venue end the contract at the mark; `attempt` grows and makes the call's ref. */
  | { readonly type: "TEAR_UP"; readonly attempt: number }
  | { readonly type: "TEAR_UP_FAILED"; readonly reason: string; readonly isLost: boolean }
  /** The mark is near the barrier (NEAR_KO) or near the take profit (NEAR_TP). */
  | { readonly type: "NEAR_KO" }
  | { readonly type: "NEAR_TP" }
  | { readonly type: "EXPIRY_SOON" }
  /** The contract expired a minute ago, and the venue has reported no end. */
  | { readonly type: "OVERDUE"; readonly askAgainAt: number }
  | { readonly type: "UNKNOWN_AT_VENUE" }

/** The client is notified this long before the expiry, ms. */
export const expirySoonMillis = 20 * 60_000
/** The venue's report counts as overdue this long after the expiry, ms. */
export const overdueMillis = 60_000

/** The venue ref of the n-th tear-up. */
export const tearUpRef = (contractId: number, attempt: number): string =>
  attempt === 1 ? `T-${contractId}` : `T-${contractId}-${attempt}`
