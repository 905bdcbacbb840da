/**
 * A knock-out contract (doc 2, Barrier contract; D5): its terms, frozen when its quote was executed, and its end. Money is
 * USDC as decimal strings with six places; prices and quantities are decimal strings on the market's grid, whose decimals are
 * frozen too, so that history reads the same after a delisting (A2-112).
 */
import type { ContractEnd } from "./barrierFigures.ts"

export interface BarrierContractInput {
  readonly contractId: number
  readonly rfqId: number
  readonly venueRfqId: number
  readonly quoteId: number
  readonly clientId: number
  /** The client's account at the venue: its uid (A2-95). */
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

/** How a contract ended, as partners read it (doc 2). */
export type CloseReason = "knockOut" | "takeProfit" | "expiry" | "earlyClose" | "liquidation" | "finalSettlement"

export const closeReasonOf: { readonly [E in ContractEnd]: CloseReason } = {
  KNOCKED_OUT: "knockOut",
  TAKE_PROFIT: "takeProfit",
  EXPIRED: "expiry",
  EARLY_CLOSE: "earlyClose",
  TORN_UP: "liquidation",
  CLOSED: "finalSettlement"
}

export interface BarrierContractContext extends BarrierContractInput {
  readonly closedAt: number | null
  readonly settlePrice: string | null
  readonly pnl: string | null
  readonly closeReason: CloseReason | null
  /** The last request to close it. */
  readonly closeRfqId: number | null
  /** A tear-up is in flight at the venue. */
  readonly tearing: boolean
  /** Tear-ups asked for so far: each has a name of its own. */
  readonly tearUps: number
  /** The venue never received a tear-up, so its execution may still be reported. A refused tear-up is final. */
  readonly isTearUpLost: boolean
  /** The levels that the client was told the mark is near to: not again after a restart before the mark has gone away. */
  readonly said: ReadonlyArray<Level>
}

/** A level at which a contract ends. */
export type Level = "BARRIER" | "TAKE_PROFIT"

/** How it ended; `pnl` by F17. */
type Ended = {
  readonly [E in ContractEnd]: {
    readonly type: E
    readonly at: number
    readonly settlePrice: string
    readonly pnl: string
    /** Who says so, where it is not the venue by itself. */
    readonly reason: string | null
  }
}[ContractEnd]

export type BarrierContractEvent =
  | Ended
  | { readonly type: "CLOSE_REQUESTED"; readonly closeRfqId: number }
  /** Asks the venue to end it at the mark (F9); `attempt` names the call and grows. */
  | { readonly type: "TEAR_UP"; readonly attempt: number }
  | { readonly type: "TEAR_UP_FAILED"; readonly reason: string; readonly isLost: boolean }
  /** The mark has come near to its barrier, or to its take profit (A2-31). */
  | { readonly type: "NEAR_KO" }
  | { readonly type: "NEAR_TP" }
  | { readonly type: "EXPIRY_SOON" }
  /** Its expiry passed a minute ago, and the venue has said nothing. */
  | { readonly type: "OVERDUE"; readonly askAgainAt: number }
  /** The venue does not know it. */
  | { readonly type: "UNKNOWN_AT_VENUE" }

/** How long before its expiry a client is told, ms (A2-31). */
export const expirySoonMillis = 20 * 60_000
/** How long after its expiry the venue's word is missed, ms (D5). */
export const overdueMillis = 60_000

/** The name of the n-th tear-up at the venue (A2-111). */
export const tearUpRef = (contractId: number, attempt: number): string =>
  attempt === 1 ? `T-${contractId}` : `T-${contractId}-${attempt}`
