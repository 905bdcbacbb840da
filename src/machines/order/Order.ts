/**
 * An order on a perpetual or a spot market. The machine's context: the request, the calls in flight at the venue, fills and
 * payments, and the end. Prices and quantities are decimal strings on the market's grid; money is a decimal string in the scale
 * of its currency (doc 2, Order; D6, F6, F20, A2-95, F13, A2-35, A2-40, A2-106, F11, A2-97, F31, A2-111).
 */
import type { Currency } from "../shared/Currency.ts"
import type { Attached, Trigger } from "./OrderBody.ts"
import type { OrderSide, OrderType, TimeInForce } from "./orderTokens.ts"

/** States in which an order may still be filled; each of them holds its margin or its reserve. */
export const workingStates = ["CHECKED", "SENT", "ACKED", "PARTIAL", "PENDING_TRIGGER", "PENDING_CANCEL"] as const

/** True in a state in which the order may still be filled (`workingStates`). */
export const isWorking = ({ state }: { readonly state: string }): boolean =>
  (workingStates as ReadonlyArray<string>).includes(state)

/** The reserve of a spot order: quote cash and commission of a buy, the asset of a sell. */
export interface Reserved {
  readonly currency: Currency
  readonly amount: string
}

export interface OrderInput {
  readonly orderId: number
  readonly clientId: number
  /** The client's account at the venue: its uid. */
  readonly account: string
  readonly symbol: string
  readonly family: "PERP" | "SPOT"
  readonly side: OrderSide
  readonly type: OrderType
  readonly qty: string
  /** The limit price that the client requested; null without one. */
  readonly price: string | null
  /**
   * The limit price that was sent to the venue; for an order at the market it is the price bound. Null if the order may
   * trade at any price.
   */
  readonly venuePrice: string | null
  /**
   * For a conditional perpetual order that is MARKET or reduce-only: the allowed distance of its trades from the mark at
   * which it triggers, basis points.
   */
  readonly boundBps: number | null
  readonly tif: TimeInForce
  /** The time in force sent to the venue. */
  readonly venueTif: TimeInForce
  readonly reduceOnly: boolean
  /** The price at which a conditional order triggers, and its limit afterwards. Without a limit it trades at any price. */
  readonly trigger: Trigger | null
  /** The orders to place for protection once this order fills; null without any. */
  readonly attach: Attached | null
  readonly ocoGroup: string | null
  /** The order whose fills this order protects; null unless this order was attached to another. */
  readonly parentOrderId: number | null
  readonly origin: "CLIENT" | "CLOSE_OUT" | "ATTACHED"
  readonly note: string | null
  /** The leverage in force at placement; null on spot. */
  readonly leverage: number | null
  readonly reserved: Reserved | null
  readonly commissionBps: number
  readonly priceDecimals: number
  readonly qtyDecimals: number
  readonly createdAt: number
  readonly updatedAt: number
}

/** A cancel that the venue has not confirmed, and the state to which the order returns if the venue refuses the cancel. */
export interface Cancelling {
  readonly attempt: number
  readonly from: "SENT" | "ACKED" | "PARTIAL" | "PENDING_TRIGGER"
}

export interface Amendment {
  readonly qty: string
  /** The new bound of a conditional order, basis points; absent when the bound does not change. */
  readonly boundBps?: number
}

export interface OrderContext extends OrderInput {
  readonly venueOrderId: number | null
  /** The sum of the quantities of the order's trades. */
  readonly filledQty: string
  /** The highest venue id of the order's trades; zero: no trade. A trade with a higher id is new without a lookup. */
  readonly lastTradeId: number
  /** The part of the reserve that trades have consumed, and the part that has returned to cash. */
  readonly consumed: string
  readonly released: string
  /** SPOT only: the exact quote total of all trades; postings are rounded from it. */
  readonly quoteTotal: string
  readonly cancelling: Cancelling | null
  /** The number of cancels requested; each has its own ref. */
  readonly cancels: number
  /** An amendment of quantity or bound that the venue has not confirmed. */
  readonly amending: (Amendment & { readonly attempt: number }) | null
  readonly amends: number
  /** How many of the amendments changed only the bound; absent when none did. */
  readonly boundAmends?: number
  /** The time for repeating a refused amendment of the bound, Unix ms. Absent when the venue has refused none. */
  readonly boundRetryAt?: number
  readonly triggeredAt: number | null
  readonly reject: string | null
  /** The ids of the orders that protect this order; empty without any. */
  readonly legs: ReadonlyArray<number>
}

/** The money of a trade, for its postings, signed from the client's view. A zero amount is posted only for a settled exchange. */
export interface FillMoney {
  /** Realized PnL of the closed part. Null when the trade closes nothing, and on SPOT. */
  readonly pnl: string | null
  /** Commission charged, positive, in `quote`. */
  readonly commission: string
  readonly quote: Currency
  /** SPOT only: the exchanged amounts, and the part of the reserve that returns to cash to pay for them. */
  readonly spot: {
    readonly base: Currency
    readonly baseAmount: string
    readonly quoteAmount: string
    readonly unreserved: string
  } | null
}

export interface FillTotals {
  readonly filledQty: string
  readonly consumed: string
  readonly released: string
  readonly quoteTotal: string
}

export interface Filled {
  readonly at: number
  readonly tradeId: number
  readonly totals: FillTotals
  readonly complete: boolean
  readonly money: FillMoney
}

export type OrderEvent =
  /** Sends the order to the venue: the call is in flight from this commit on. */
  | { readonly type: "SEND"; readonly at: number }
  /** Adopts an order that the venue created and executed by itself, such as a deleveraging. */
  | { readonly type: "ADOPTED"; readonly at: number; readonly venueOrderId: number }
  /** The venue has accepted the order under this id. */
  | { readonly type: "ACKED"; readonly at: number; readonly venueOrderId: number }
  /** The venue refused the order, or never received it (`isVoid`). */
  | { readonly type: "REFUSED"; readonly at: number; readonly reason: string; readonly isVoid: boolean }
  | { readonly type: "TRIGGERED"; readonly at: number }
  | ({ readonly type: "FILL" } & Filled)
  /** The venue reports the order's end; all its trades are booked already. */
  | {
      readonly type: "ENDED"
      readonly at: number
      readonly how: "CANCELLED" | "REJECTED"
      readonly reason: string | null
    }
  /**
   * Requests a cancel from the venue; `attempt` grows and makes the call's ref. `note` names the author of a cancel that the
   * client did not request.
   */
  | { readonly type: "CANCEL"; readonly at: number; readonly attempt: number; readonly note: string | null }
  /**
   * The venue refused the cancel. `askAgainAt`: the time of the next attempt; null if there is none and the order continues
   * to work.
   */
  | {
      readonly type: "CANCEL_REFUSED"
      readonly at: number
      readonly reason: string
      readonly askAgainAt: number | null
    }
  /**
   * Requests another quantity (for an attached order that follows its parent) or another bound (for an order that waits for
   * its trigger).
   */
  | ({ readonly type: "AMEND"; readonly at: number; readonly attempt: number } & Amendment)
  | ({ readonly type: "AMENDED"; readonly at: number } & Amendment)
  /**
   * The venue refused the amendment. `askAgainAt`: the time of the next attempt to amend the bound; null if there is none.
   */
  | { readonly type: "AMEND_REFUSED"; readonly at: number; readonly askAgainAt: number | null }
  /** The legs that protect the order, and the failure of a leg that could not be placed. */
  | {
      readonly type: "ATTACHED"
      readonly at: number
      readonly legs: ReadonlyArray<number>
      readonly note: string | null
    }

/** The first words of the reason when a MARKET order ends because the book has no price within its bound; the bound follows. */
export const noLiquidity = "no liquidity within the bound"

/** The note of a leg from its second attempt on. The reason of the order's end replaces the note. */
export const attemptNote = (attempt: number): string => `attempt ${attempt}`
export const isLaterAttempt = ({ origin, note }: Pick<OrderInput, "origin" | "note">): boolean =>
  origin === "ATTACHED" && note !== null && /^attempt \d+$/.test(note)

/** The order's ref, for partners and at the venue. */
export const orderRef = (orderId: number): string => `O-${orderId}`
/** The ref of the n-th cancel of an order. */
export const cancelRef = (orderId: number, attempt: number): string => `O-${orderId}-c${attempt}`
export const amendRef = (orderId: number, attempt: number): string => `O-${orderId}-q${attempt}`

/** The kind of call that a ref belongs to. */
export const callOfRef = (ref: string): "place" | "cancel" | "amend" =>
  ref.includes("-c") ? "cancel" : ref.includes("-q") ? "amend" : "place"
