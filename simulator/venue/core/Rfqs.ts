/**
 * Requests for quotes on knock-out contracts at the simulated venue: dealers quote, the client accepts a quote, a contract
 * opens or, for a close request, ends.
 */
import type { Side } from "./Book.ts"
import { Line } from "./Line.ts"

export type QuoteState = "LIVE" | "EXPIRED" | "WITHDRAWN" | "ACCEPTED" | "SUPERSEDED"
export type RfqState = "OPEN" | "ACCEPTED" | "CANCELLED" | "EXPIRED" | "REJECTED"

export interface Quote {
  readonly id: number
  readonly dealer: string
  /** Price in ticks, quantity in lots. */
  readonly price: number
  readonly quantity: number
  readonly at: number
  readonly validUntil: number
  state: QuoteState
}

export interface RfqRequest {
  readonly ref: string
  readonly accountId: number
  readonly symbol: string
  readonly side: Side
  readonly quantity: number
  readonly barrier: number
  readonly takeProfit: number | null
  readonly expiryAt: number
  readonly strict: boolean
  readonly premiumBps: number
  /** End of the period in which dealers may quote, Unix ms. */
  readonly windowEndsAt: number
  /** The contract to close and the dealer who wrote it; null for a request to open. */
  readonly closes: { readonly id: number; readonly dealer: string } | null
}

export interface Rfq extends RfqRequest {
  readonly id: number
  readonly requestedAt: number
  /** The request's quotes, newest last. */
  readonly quotes: Array<Quote>
  state: RfqState
  /** The reason that the request ended without an accept; null while it is open, and after an accept. */
  reason: string | null
}

/** The reasons that an accept is refused, in the venue's own words. */
export type AcceptRefusal =
  | "request not open"
  | "unknown quote"
  | "quote not live"
  | "market halted"
  | "quantity not offered"
  | "price beyond the barrier"
  | "price beyond the take profit"

/** Limit on quotes kept for a request; the oldest ended ones are dropped first. */
const quoteLimit = 100

export class Rfqs {
  readonly byId = new Map<number, Rfq>()
  readonly byRef = new Map<string, Rfq>()
  private readonly open = new Set<Rfq>()
  /** Number of open requests by account id. */
  private readonly counts = new Map<number, number>()
  /** Ended requests in the order of their end. Over the limit the oldest are dropped. */
  private readonly ended = new Line<Rfq>()
  private readonly kept: number
  private readonly onQuote: (rfq: Rfq, quote: Quote) => void
  private readonly onEnd: (rfq: Rfq) => void
  /** The ids given last, of a request and of a quote. */
  readonly ids = { rfq: 0, quote: 0 }

  constructor(
    listeners: { readonly onQuote: (rfq: Rfq, quote: Quote) => void; readonly onEnd: (rfq: Rfq) => void },
    kept = Number.POSITIVE_INFINITY
  ) {
    this.kept = kept
    this.onQuote = listeners.onQuote
    this.onEnd = listeners.onEnd
  }

  /** Opens a request; a known reference returns the existing one. */
  request(wanted: RfqRequest, at: number): Rfq {
    const known = this.byRef.get(wanted.ref)
    if (known !== undefined) return known
    const rfq: Rfq = { ...wanted, id: ++this.ids.rfq, requestedAt: at, quotes: [], state: "OPEN", reason: null }
    this.byId.set(rfq.id, rfq)
    this.byRef.set(rfq.ref, rfq)
    this.begin(rfq)
    return rfq
  }

  /** Adds a request of a stored state, without any event. */
  adopt(rfq: Rfq): void {
    this.byId.set(rfq.id, rfq)
    this.byRef.set(rfq.ref, rfq)
    if (rfq.state === "OPEN") this.begin(rfq)
    else this.ended.push(rfq)
  }

  /**
   * Adds a dealer's quote and supersedes the dealer's older quote. Null if the request takes no quotes now, or none
   * from this dealer.
   */
  quote(rfq: Rfq, { dealer, price, quantity, at, validUntil }: Omit<Quote, "id" | "state">): Quote | null {
    if (rfq.state !== "OPEN" || (rfq.closes !== null && rfq.closes.dealer !== dealer)) return null
    if (rfq.quotes.length >= quoteLimit && rfq.quotes.every((one) => one.state === "LIVE" && one.dealer !== dealer))
      return null
    for (const older of rfq.quotes) {
      if (older.dealer === dealer && older.state === "LIVE") this.turn(rfq, older, "SUPERSEDED")
    }
    const quote: Quote = { id: ++this.ids.quote, dealer, price, quantity, at, validUntil, state: "LIVE" }
    rfq.quotes.push(quote)
    if (rfq.quotes.length > quoteLimit)
      rfq.quotes.splice(
        rfq.quotes.findIndex(({ state }) => state !== "LIVE"),
        1
      )
    this.onQuote(rfq, quote)
    return quote
  }

  /** The dealer withdraws a live quote; false if it is not live. */
  withdraw(rfq: Rfq, quoteId: number): boolean {
    const quote = rfq.quotes.find(({ id }) => id === quoteId)
    if (quote?.state !== "LIVE") return false
    this.turn(rfq, quote, "WITHDRAWN")
    return true
  }

  /** Ends an open request with its live quotes. */
  end(rfq: Rfq, state: "CANCELLED" | "EXPIRED" | "REJECTED" | "ACCEPTED", reason: string | null): boolean {
    if (rfq.state !== "OPEN") return false
    rfq.state = state
    rfq.reason = reason
    this.open.delete(rfq)
    this.count(rfq, -1)
    this.keep(rfq)
    const left = state === "ACCEPTED" ? "SUPERSEDED" : "EXPIRED"
    for (const quote of rfq.quotes) if (quote.state === "LIVE") quote.state = left
    this.onEnd(rfq)
    return true
  }

  expire(rfq: Rfq, quoteId: number): void {
    const quote = rfq.quotes.find(({ id }) => id === quoteId)
    if (quote?.state === "LIVE") this.turn(rfq, quote, "EXPIRED")
  }

  /** The quote that an accept would execute, or why it is refused. */
  judge(rfq: Rfq, quoteId: number, now: number): Quote | AcceptRefusal {
    const quote = rfq.quotes.find(({ id }) => id === quoteId)
    if (rfq.state !== "OPEN") return "request not open"
    if (quote === undefined) return "unknown quote"
    if (quote.state !== "LIVE" || quote.validUntil <= now) return "quote not live"
    if (quote.quantity < rfq.quantity) return "quantity not offered"
    return rfq.closes === null ? (levelRefusal(rfq, quote.price) ?? quote) : quote
  }

  /** Ends the request of a quote that was executed, and the request's other quotes. */
  accepted(rfq: Rfq, quote: Quote): void {
    quote.state = "ACCEPTED"
    this.end(rfq, "ACCEPTED", null)
  }

  /** Number of open requests of an account. */
  openOf(accountId: number): number {
    return this.counts.get(accountId) ?? 0
  }

  /** All open requests, in the order in which they were opened. */
  openOnes(): ReadonlyArray<Rfq> {
    return [...this.open]
  }

  /** All requests: the open ones, then the ended ones, each in order. */
  all(): ReadonlyArray<Rfq> {
    return [...this.open, ...this.ended.all()]
  }

  private begin(rfq: Rfq): void {
    this.open.add(rfq)
    this.count(rfq, 1)
  }

  private count({ accountId }: Rfq, by: number): void {
    const count = this.openOf(accountId) + by
    if (count === 0) this.counts.delete(accountId)
    else this.counts.set(accountId, count)
  }

  private keep(rfq: Rfq): void {
    this.ended.push(rfq)
    const oldest = this.ended.size > this.kept ? this.ended.shift() : undefined
    if (oldest === undefined) return
    this.byId.delete(oldest.id)
    this.byRef.delete(oldest.ref)
  }

  private turn(rfq: Rfq, quote: Quote, state: QuoteState): void {
    quote.state = state
    this.onQuote(rfq, quote)
  }
}

/** A price must lie between the contract's levels, or the contract would end at once. */
const levelRefusal = ({ side, barrier, takeProfit }: Rfq, price: number): AcceptRefusal | null => {
  const sign = side === "BUY" ? 1 : -1
  if ((price - barrier) * sign <= 0) return "price beyond the barrier"
  return takeProfit !== null && (takeProfit - price) * sign <= 0 ? "price beyond the take profit" : null
}
