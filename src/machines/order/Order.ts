/**
 * An order on a perpetual or a spot market (doc 2, Order; D6). What the machine keeps: what was asked for, what of it is in
 * flight at the venue, what was filled and paid, and how it ended. Prices and quantities are decimal strings on the market's
 * grid; money is a decimal string in the scale of its currency.
 */
import type { Currency } from "../shared/Currency.ts"
import type { Attached, Trigger } from "./OrderBody.ts"
import type { OrderSide, OrderType, TimeInForce } from "./orderTokens.ts"

/** States in which an order may still be filled; its margin or its reserve is held in each of them (F6, F20). */
export const workingStates = ["CHECKED", "SENT", "ACKED", "PARTIAL", "PENDING_TRIGGER", "PENDING_CANCEL"] as const

/** Whether an order may still be filled. */
export const isWorking = ({ state }: { readonly state: string }): boolean =>
  (workingStates as ReadonlyArray<string>).includes(state)

/** What is set aside for a spot order: quote cash and commission of a buy, the asset of a sell (F20). */
export interface Reserved {
  readonly currency: Currency
  readonly amount: string
}

export interface OrderInput {
  readonly orderId: number
  readonly clientId: number
  /** The client's account at the venue: its uid (A2-95). */
  readonly account: string
  readonly symbol: string
  readonly family: "PERP" | "SPOT"
  readonly side: OrderSide
  readonly type: OrderType
  readonly qty: string
  /** The limit as it was asked for. */
  readonly price: string | null
  /** The limit that the venue gets. An order at the market has its bound here (F13, F20). */
  readonly venuePrice: string | null
  /**
   * For a conditional perpetual order that is MARKET or reduce-only: how far it may trade from the mark at which it fires, basis
   * points.
   */
  readonly boundBps: number | null
  readonly tif: TimeInForce
  /** As the venue gets it (A2-35). */
  readonly venueTif: TimeInForce
  readonly reduceOnly: boolean
  /** A price at which a conditional order fires, with the limit that it has from then on; no limit: any price. */
  readonly trigger: Trigger | null
  /** The protection that the order asks for once it fills (A2-40). */
  readonly attach: Attached | null
  readonly ocoGroup: string | null
  /** The order whose protection this one is. */
  readonly parentOrderId: number | null
  readonly origin: "CLIENT" | "CLOSE_OUT" | "ATTACHED"
  readonly note: string | null
  /** In force when it was placed; null on spot (A2-106). */
  readonly leverage: number | null
  readonly reserved: Reserved | null
  readonly commissionBps: number
  readonly priceDecimals: number
  readonly qtyDecimals: number
  readonly createdAt: number
  readonly updatedAt: number
}

/** A cancel that the venue has not confirmed, and the state that the order goes back to when it is refused. */
export interface Cancelling {
  readonly attempt: number
  readonly from: "SENT" | "ACKED" | "PARTIAL" | "PENDING_TRIGGER"
}

/** The requested changes of an amendment. */
export interface Amendment {
  readonly qty: string
  /** Absent: the bound stays. */
  readonly boundBps?: number
}

export interface OrderContext extends OrderInput {
  readonly venueOrderId: number | null
  /** The sum of its trades. */
  readonly filledQty: string
  /** The highest of its trades' ids at the venue; zero: none. A later one is new without a look. */
  readonly lastTradeId: number
  /** Of the reserve: paid, and given back (F20). */
  readonly consumed: string
  readonly released: string
  /** Spot: the exact totals that its postings are rounded from: quote of all trades (F20). */
  readonly quoteTotal: string
  readonly cancelling: Cancelling | null
  /** Cancels asked for so far: each has a name of its own. */
  readonly cancels: number
  /** Another quantity or bound that the venue has not confirmed. */
  readonly amending: (Amendment & { readonly attempt: number }) | null
  readonly amends: number
  /** The number of these amendments that requested another bound only. Absent: none. */
  readonly boundAmends?: number
  /** The time at which a refused amendment of the bound is sent again, Unix ms. Absent: the venue has refused none. */
  readonly boundRetryAt?: number
  readonly triggeredAt: number | null
  readonly reject: string | null
  /** The orders that protect it. */
  readonly legs: ReadonlyArray<number>
}

/** A trade's money as it is posted, signed from the client's view; zero amounts are not posted but for a settled exchange. */
export interface FillMoney {
  /** Realised by what the trade closes (F11); null: it closes nothing, or on spot. */
  readonly pnl: string | null
  /** Charged, a positive figure in `quote`. */
  readonly commission: string
  readonly quote: Currency
  /** Spot: what changes hands, and what of the reserve comes back to cash to pay for it. */
  readonly spot: {
    readonly base: Currency
    readonly baseAmount: string
    readonly quoteAmount: string
    readonly unreserved: string
  } | null
}

/** What the order's totals are after a trade. */
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
  /** Nothing is left to fill. */
  readonly complete: boolean
  readonly money: FillMoney
}

export type OrderEvent =
  /** It goes to the venue; in flight from this commit on. */
  | { readonly type: "SEND"; readonly at: number }
  /** The venue made it by itself, and executed it (A2-97). */
  | { readonly type: "ADOPTED"; readonly at: number; readonly venueOrderId: number }
  /** The venue has it. */
  | { readonly type: "ACKED"; readonly at: number; readonly venueOrderId: number }
  /** The venue took it and refused it, or never had it (`void`). */
  | { readonly type: "REFUSED"; readonly at: number; readonly reason: string; readonly isVoid: boolean }
  | { readonly type: "TRIGGERED"; readonly at: number }
  | ({ readonly type: "FILL" } & Filled)
  /** The venue says that it ended there, all its trades being booked. */
  | {
      readonly type: "ENDED"
      readonly at: number
      readonly how: "CANCELLED" | "REJECTED"
      readonly reason: string | null
    }
  /** Asks the venue to cancel it; `attempt` names the call and grows. `note`: who, where it was not its client. */
  | { readonly type: "CANCEL"; readonly at: number; readonly attempt: number; readonly note: string | null }
  /** `askAgainAt`: when it is asked for once more; null: the order works on. */
  | {
      readonly type: "CANCEL_REFUSED"
      readonly at: number
      readonly reason: string
      readonly askAgainAt: number | null
    }
  /** Another quantity of an attached order that follows its parent (A2-40), or another bound of a waiting order (F13). */
  | ({ readonly type: "AMEND"; readonly at: number; readonly attempt: number } & Amendment)
  | ({ readonly type: "AMENDED"; readonly at: number } & Amendment)
  /** `askAgainAt`: the time at which the amendment of a bound is sent again; null: it is not repeated. */
  | { readonly type: "AMEND_REFUSED"; readonly at: number; readonly askAgainAt: number | null }
  /** The orders that protect it, and what became of one that could not be placed. */
  | {
      readonly type: "ATTACHED"
      readonly at: number
      readonly legs: ReadonlyArray<number>
      readonly note: string | null
    }

/** The reason of a MARKET order that ends because the book has no price within its bound; the bound follows this text. */
export const noLiquidity = "no liquidity within the bound"

/** The note of a leg's order from the second attempt on. The reason of the order's end replaces it. */
export const attemptNote = (attempt: number): string => `attempt ${attempt}`
export const isLaterAttempt = ({ origin, note }: Pick<OrderInput, "origin" | "note">): boolean =>
  origin === "ATTACHED" && note !== null && /^attempt \d+$/.test(note)

/** The name of an order, for partners and at the venue (F31, A2-111). */
export const orderRef = (orderId: number): string => `O-${orderId}`
/** The name of its n-th cancel, and of its n-th amendment. */
export const cancelRef = (orderId: number, attempt: number): string => `O-${orderId}-c${attempt}`
export const amendRef = (orderId: number, attempt: number): string => `O-${orderId}-q${attempt}`

/** What an order's ref is of. */
export const callOfRef = (ref: string): "place" | "cancel" | "amend" =>
  ref.includes("-c") ? "cancel" : ref.includes("-q") ? "amend" : "place"
