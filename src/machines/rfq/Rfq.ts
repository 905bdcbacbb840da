/**
 * A request for quotes to open a knock-out contract, or to close one. The machine's context: the request, the calls in flight
 * at the venue, and the end. The quotes of an open request are the venue's, never rows. Money is USDC as decimal strings with
 * six places; prices and quantities are decimal strings on the market's grid (doc 2, RFQ; D4, A2-22, F15, A2-95, A2-62,
 * A2-111).
 */
import type { VenueQuote } from "../venue/venueObjects.ts"

/** States of an unfinished request. CREATING: the venue has not answered yet, and lists do not show the request. */
export const openRfqStates = ["CREATING", "OPEN"] as const

/** The request, and its figures at the mark of its creation. A request to close lacks some figures; they are null. */
export interface RfqInput {
  readonly rfqId: number
  readonly clientId: number
  /** The client's account at the venue: its uid. */
  readonly account: string
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  readonly qty: string
  readonly barrierLevel: string
  readonly takeProfit: string | null
  readonly expiryTs: number
  readonly expiryDefaulted: boolean
  readonly strict: boolean
  readonly premiumBudget: string | null
  readonly premiumBps: number
  readonly commissionBps: number
  readonly maxLossAtRequest: string | null
  readonly markAtRequest: string | null
  readonly impliedLeverage: string | null
  readonly potentialProfit: string | null
  /** The estimated commission in USDC, or the charged one once a quote is executed; null for a request to close. */
  readonly commission: string | null
  readonly windowEndsAt: number
  readonly autoAccept: boolean
  /** The contract to close, with its entry and its venue id; null when the request opens one. */
  readonly closes: { readonly contractId: number; readonly entry: string; readonly venueContractId: number } | null
  readonly priceDecimals: number
  readonly qtyDecimals: number
  readonly createdAt: number
  readonly updatedAt: number
}

/** An accept that the venue has not answered; its money is held at the quote's price. */
export interface Accepting {
  readonly quoteId: number
  readonly price: string
  /** The premium of the contract to open; zero for a request to close. */
  readonly premium: string
  readonly commission: string
  readonly at: number
  /** Ledger actor of the accept: the router, or a partner. */
  readonly by: string
}

/** A quote whose accept the venue refused. The same request does not accept it again. */
export interface RefusedQuote {
  readonly quoteId: number
  readonly reason: string
}

export interface RfqContext extends RfqInput {
  readonly venueRfqId: number | null
  readonly accepting: Accepting | null
  /** The call in flight that withdraws the request from the venue. */
  readonly cancelling: { readonly attempt: number } | null
  /** The number of withdrawals requested; each has its own ref. */
  readonly withdrawals: number
  readonly refusedQuotes: ReadonlyArray<RefusedQuote>
  /** True while the request may still be open at the venue: the venue has reported neither its end nor that it never arrived. */
  readonly venueOpen: boolean
  readonly autoAcceptNote: string | null
  readonly rejectReason: string | null
  readonly acceptedQuoteId: number | null
  readonly contractId: number | null
  readonly entryPrice: string | null
  /** The frozen premium, USDC; null until a quote is executed. */
  readonly premium: string | null
  /** For an ended request: the accepted quote, and the newest of the others. */
  readonly quotes: ReadonlyArray<VenueQuote>
}

/** Quotes received for a request that ends: they are stored with it. */
export interface ReceivedQuotes {
  readonly quotes: ReadonlyArray<VenueQuote>
  /** The router's reason for accepting no quote, as a sentence; null keeps the stored note. */
  readonly note: string | null
}

export type RfqEvent =
  /** The venue confirms the request under this id. */
  | { readonly type: "CONFIRMED"; readonly at: number; readonly venueRfqId: number }
  /** The venue has not answered in time: lists show the request from now on, and the service polls the venue for it. */
  | { readonly type: "UNANSWERED"; readonly at: number }
  /** The venue refused the request, or never received it. */
  | { readonly type: "REFUSED"; readonly at: number; readonly reason: string }
  /** Executes a quote; the caller has checked it under the client's lock. */
  | ({ readonly type: "ACCEPT" } & Accepting)
  | { readonly type: "ACCEPT_REFUSED"; readonly at: number; readonly quoteId: number; readonly reason: string }
  /**
   * The venue executed an accept. For a request to close, `premium` and `commission` are null. The quote is null too when
   * only the end of the contract shows the execution.
   */
  | {
      readonly type: "EXECUTED"
      readonly at: number
      readonly quoteId: number | null
      readonly contractId: number
      readonly entryPrice: string
      readonly premium: string | null
      readonly commission: string | null
      readonly quotes: ReadonlyArray<VenueQuote>
    }
  /** Requests the withdrawal from the venue; `attempt` grows and makes the call's ref. */
  | { readonly type: "CANCEL"; readonly at: number; readonly attempt: number }
  /** A rule of the service ends the request, whatever the venue reports, and withdraws it there. */
  | { readonly type: "DROP"; readonly at: number; readonly reason: string; readonly attempt: number }
  /** The contract to close has ended, so the request ends here and at the venue. */
  | ({ readonly type: "CONTRACT_ENDED"; readonly at: number } & ReceivedQuotes)
  | { readonly type: "WINDOW_ELAPSED"; readonly at: number }
  /** The venue reports the request's end without an accept. */
  | ({
      readonly type: "VENUE_ENDED"
      readonly at: number
      readonly how: "CANCELLED" | "EXPIRED" | "REJECTED"
      readonly reason: string | null
    } & ReceivedQuotes)
  /** The withdrawal ended without effect: the venue has not received the request yet, or has executed it. */
  | { readonly type: "NOT_WITHDRAWN" }
  /** The venue still has a request open that has ended here: the service withdraws it there. */
  | { readonly type: "FOUND"; readonly at: number; readonly venueRfqId: number; readonly attempt: number }

/** An ended request keeps this many quotes besides the accepted one. */
export const quotesKept = 20

/** The accepted quote and the newest of the others, in the venue's order. */
export const keptQuotes = (quotes: ReadonlyArray<VenueQuote>, acceptedId: number | null): ReadonlyArray<VenueQuote> => {
  const others = new Set(quotes.filter(({ id }) => id !== acceptedId).slice(-quotesKept))
  return quotes.filter((quote) => quote.id === acceptedId || others.has(quote))
}

/** The ref under which the venue receives a request for quotes. */
export const requestRef = (rfqId: number): string => `R-${rfqId}`
/** The ref of the n-th withdrawal of a request. */
export const withdrawalRef = (rfqId: number, attempt: number): string => `R-${rfqId}-c${attempt}`
/** The ref of an accept. A contract has the ref of the accept that opened it. */
export const acceptRef = (rfqId: number, quoteId: number): string => `A-${rfqId}-${quoteId}`

const acceptShape = /^A-[0-9]+-([1-9][0-9]{0,15})$/

/** The quote id in an accept's ref; null for any other ref. */
export const quoteOfRef = (ref: string): number | null => {
  const [, quoteId] = acceptShape.exec(ref) ?? []
  return quoteId === undefined ? null : Number(quoteId)
}
