/**
 * A request for quotes to open a knock-out contract, or to close one (doc 2, RFQ; D4). What the machine keeps: what was asked
 * for, what of it is in flight at the venue, and how it ended. The quotes of an open request are the venue's, never rows
 * (A2-22). Money is USDC as decimal strings with six places; prices and quantities are decimal strings on the market's grid.
 */
import type { VenueQuote } from "../venue/venueObjects.ts"

/** States in which a request waits for something; CREATING: the venue has not answered yet, and lists do not show it. */
export const openRfqStates = ["CREATING", "OPEN"] as const

/** What is asked for, and its figures at the mark of that moment (F15); those that a request to close has not are null. */
export interface RfqInput {
  readonly rfqId: number
  readonly clientId: number
  /** The client's account at the venue: its uid (A2-95). */
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
  /** The estimate; once executed what was charged. */
  readonly commission: string | null
  readonly windowEndsAt: number
  readonly autoAccept: boolean
  /** The contract that it is to close, with its entry and its id at the venue; null: it is to open one. */
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
  /** Zero of a request to close. */
  readonly premium: string
  readonly commission: string
  readonly at: number
  /** Ledger actor of whoever accepts: the router, or a partner (A2-62). */
  readonly by: string
}

/** A quote whose accept the venue refused: it is not tried again under this request. */
export interface RefusedQuote {
  readonly quoteId: number
  readonly reason: string
}

export interface RfqContext extends RfqInput {
  readonly venueRfqId: number | null
  readonly accepting: Accepting | null
  /** The withdrawal that is in flight at the venue. */
  readonly cancelling: { readonly attempt: number } | null
  /** Withdrawals asked for so far: each has a name of its own. */
  readonly withdrawals: number
  readonly refusedQuotes: ReadonlyArray<RefusedQuote>
  /** The venue may still have it open: it has not said that it ended there, nor that it never came. */
  readonly venueOpen: boolean
  readonly autoAcceptNote: string | null
  readonly rejectReason: string | null
  readonly acceptedQuoteId: number | null
  readonly contractId: number | null
  readonly entryPrice: string | null
  /** The frozen premium, once executed. */
  readonly premium: string | null
  /** Of an ended request: the accepted one and the newest others. */
  readonly quotes: ReadonlyArray<VenueQuote>
}

/** What was heard of a request that ends: it is kept with it (A2-22). */
export interface Heard {
  readonly quotes: ReadonlyArray<VenueQuote>
  /** Why the router took none of them, in words; null: nothing but what is kept already. */
  readonly note: string | null
}

export type RfqEvent =
  /** The venue has it under this id. */
  | { readonly type: "CONFIRMED"; readonly at: number; readonly venueRfqId: number }
  /** The venue has not answered in time: the request is shown, and asked for (D4). */
  | { readonly type: "UNANSWERED"; readonly at: number }
  /** The venue refused it, or never had it. */
  | { readonly type: "REFUSED"; readonly at: number; readonly reason: string }
  /** A quote is to be executed; it was judged under the client's lock. */
  | ({ readonly type: "ACCEPT" } & Accepting)
  | { readonly type: "ACCEPT_REFUSED"; readonly at: number; readonly quoteId: number; readonly reason: string }
  /**
   * The venue executed an accept. Of a request to close `premium` and `commission` are null, and so is the quote where the end
   * of the contract alone shows it.
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
  /** Asks the venue to withdraw it; `attempt` names the call and grows. */
  | { readonly type: "CANCEL"; readonly at: number; readonly attempt: number }
  /** Ends it by a rule of ours, whatever the venue says, and withdraws it there. */
  | { readonly type: "DROP"; readonly at: number; readonly reason: string; readonly attempt: number }
  /** The contract that it was to close has ended: nothing is left to close, here and at the venue. */
  | ({ readonly type: "CONTRACT_ENDED"; readonly at: number } & Heard)
  | { readonly type: "WINDOW_ELAPSED"; readonly at: number }
  /** The venue says that it ended there without an accept. */
  | ({
      readonly type: "VENUE_ENDED"
      readonly at: number
      readonly how: "CANCELLED" | "EXPIRED" | "REJECTED"
      readonly reason: string | null
    } & Heard)
  /** A withdrawal has ended, and the request has not: the request is still on its way, or the venue has executed it. */
  | { readonly type: "NOT_WITHDRAWN" }
  /** The venue has it open although it has ended here: it is withdrawn there. */
  | { readonly type: "FOUND"; readonly at: number; readonly venueRfqId: number; readonly attempt: number }

/** Quotes that an ended request keeps besides the accepted one (A2-22). */
export const quotesKept = 20

/** The accepted quote and the newest others, in the venue's order. */
export const keptQuotes = (quotes: ReadonlyArray<VenueQuote>, acceptedId: number | null): ReadonlyArray<VenueQuote> => {
  const others = new Set(quotes.filter(({ id }) => id !== acceptedId).slice(-quotesKept))
  return quotes.filter((quote) => quote.id === acceptedId || others.has(quote))
}

/** The name of a request at the venue (A2-111). */
export const requestRef = (rfqId: number): string => `R-${rfqId}`
/** The name of its n-th withdrawal. */
export const withdrawalRef = (rfqId: number, attempt: number): string => `R-${rfqId}-c${attempt}`
/** The name of an accept; a contract has the name of the accept that opened it. */
export const acceptRef = (rfqId: number, quoteId: number): string => `A-${rfqId}-${quoteId}`

const acceptShape = /^A-[0-9]+-([1-9][0-9]{0,15})$/

/** The quote that an accept's name is of; null for another name. */
export const quoteOfRef = (ref: string): number | null => {
  const [, quoteId] = acceptShape.exec(ref) ?? []
  return quoteId === undefined ? null : Number(quoteId)
}
