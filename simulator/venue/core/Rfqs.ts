/**
 * Requests for quotes on knock-out contracts at the simulated venue: dealers quote, the client accepts one quote, a
 * contract opens or, of a close request, ends. Each accept has the caller's own reference and is executed at most once; a
 * reference that was voided is never executed (A2-26).
 */
import type { Side } from "./Book.ts"
import type { Contract } from "./Contracts.ts"

export type QuoteState = "LIVE" | "EXPIRED" | "WITHDRAWN" | "ACCEPTED" | "SUPERSEDED"
export type RfqState = "OPEN" | "ACCEPTED" | "CANCELLED" | "EXPIRED" | "REJECTED"

export interface Quote {
  readonly id: number
  readonly dealer: string
  /** Ticks and lots. */
  readonly price: number
  readonly quantity: number
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
  /** When nobody may quote any more. */
  readonly windowEndsAt: number
  /** The contract that is to be closed, or null. */
  readonly closes: Contract | null
}

export interface Rfq extends RfqRequest {
  readonly id: number
  readonly requestedAt: number
  /** Newest last. */
  readonly quotes: Array<Quote>
  state: RfqState
}

/** What became of an accept. */
export type Accepted =
  | {
      readonly outcome: "EXECUTED"
      readonly tradeId: number
      readonly rfq: Rfq
      readonly quote: Quote
      readonly contract: Contract
    }
  | { readonly outcome: "REFUSED"; readonly reason: AcceptRefusal; readonly quote: Quote | null }
  /** The reference was voided before it came: it will never be executed. */
  | { readonly outcome: "VOID" }

export type AcceptRefusal =
  | "unknown request"
  | "request not open"
  | "unknown quote"
  | "quote not live"
  | "declined by the dealer"
  | "market halted"

/** Quotes that a request keeps; the oldest that are not live go first. */
const quoteLimit = 100

export class Rfqs {
  readonly byId = new Map<number, Rfq>()
  readonly byRef = new Map<string, Rfq>()
  private readonly open = new Set<Rfq>()
  private readonly accepts = new Map<string, Accepted>()
  private readonly onQuote: (rfq: Rfq, quote: Quote) => void
  private readonly onEnd: (rfq: Rfq) => void
  private ids = 0
  private quoteIds = 0

  constructor(listeners: { readonly onQuote: (rfq: Rfq, quote: Quote) => void; readonly onEnd: (rfq: Rfq) => void }) {
    this.onQuote = listeners.onQuote
    this.onEnd = listeners.onEnd
  }

  /** Opens a request; one whose reference is known is answered as it stands. */
  request(asked: RfqRequest, at: number): Rfq {
    const known = this.byRef.get(asked.ref)
    if (known !== undefined) return known
    const rfq: Rfq = { ...asked, id: ++this.ids, requestedAt: at, quotes: [], state: "OPEN" }
    this.byId.set(rfq.id, rfq)
    this.byRef.set(rfq.ref, rfq)
    this.open.add(rfq)
    return rfq
  }

  /** A dealer's quote; its older one is superseded. Null when the request takes none any more. */
  quote(rfq: Rfq, { dealer, price, quantity, validUntil }: Omit<Quote, "id" | "state">): Quote | null {
    if (rfq.state !== "OPEN" || (rfq.closes !== null && rfq.closes.dealer !== dealer)) return null
    for (const older of rfq.quotes) {
      if (older.dealer === dealer && older.state === "LIVE") this.turn(rfq, older, "SUPERSEDED")
    }
    const quote: Quote = { id: ++this.quoteIds, dealer, price, quantity, validUntil, state: "LIVE" }
    rfq.quotes.push(quote)
    if (rfq.quotes.length > quoteLimit)
      rfq.quotes.splice(
        rfq.quotes.findIndex(({ state }) => state !== "LIVE"),
        1
      )
    this.onQuote(rfq, quote)
    return quote
  }

  withdraw(rfq: Rfq, quoteId: number): void {
    const quote = rfq.quotes.find(({ id }) => id === quoteId)
    if (quote?.state === "LIVE") this.turn(rfq, quote, "WITHDRAWN")
  }

  /** Ends a request that is open; its live quotes end with it. */
  end(rfq: Rfq, state: "CANCELLED" | "EXPIRED" | "REJECTED" | "ACCEPTED"): boolean {
    if (rfq.state !== "OPEN") return false
    rfq.state = state
    this.open.delete(rfq)
    const left = state === "ACCEPTED" ? "SUPERSEDED" : "EXPIRED"
    for (const quote of rfq.quotes) if (quote.state === "LIVE") quote.state = left
    this.onEnd(rfq)
    return true
  }

  /** Lets time come: quotes pass their validity, requests their window. */
  pass(now: number): void {
    for (const rfq of this.open) {
      for (const quote of rfq.quotes) {
        if (quote.state === "LIVE" && quote.validUntil <= now) this.turn(rfq, quote, "EXPIRED")
      }
      if (rfq.windowEndsAt <= now) this.end(rfq, "EXPIRED")
    }
  }

  /**
   * Accepts a quote under the caller's reference, once. `execute` opens or ends the contract; `declines` is the dealer's
   * last look (A2-25).
   */
  accept(
    asked: { readonly ref: string; readonly rfqId: number; readonly quoteId: number; readonly now: number },
    act: {
      readonly halted: (rfq: Rfq) => boolean
      readonly declines: (rfq: Rfq, quote: Quote) => boolean
      readonly execute: (rfq: Rfq, quote: Quote) => { readonly tradeId: number; readonly contract: Contract }
    }
  ): Accepted {
    const known = this.accepts.get(asked.ref)
    if (known !== undefined) return known
    const answer = this.judge(asked, act)
    this.accepts.set(asked.ref, answer)
    return answer
  }

  /** What became of a reference; null: it never came. */
  acceptOf(ref: string): Accepted | null {
    return this.accepts.get(ref) ?? null
  }

  /** Makes sure that a reference which has not come is never executed; answers what became of it. */
  voidAccept(ref: string): Accepted {
    const known = this.accepts.get(ref)
    if (known !== undefined) return known
    const nothing: Accepted = { outcome: "VOID" }
    this.accepts.set(ref, nothing)
    return nothing
  }

  private judge(
    { rfqId, quoteId, now }: { readonly rfqId: number; readonly quoteId: number; readonly now: number },
    { halted, declines, execute }: Parameters<Rfqs["accept"]>[1]
  ): Accepted {
    const rfq = this.byId.get(rfqId)
    if (rfq === undefined) return { outcome: "REFUSED", reason: "unknown request", quote: null }
    const quote = rfq.quotes.find(({ id }) => id === quoteId) ?? null
    const refused = (reason: AcceptRefusal): Accepted => ({ outcome: "REFUSED", reason, quote })
    if (rfq.state !== "OPEN") return refused("request not open")
    if (quote === null) return refused("unknown quote")
    if (quote.state === "LIVE" && quote.validUntil <= now) this.turn(rfq, quote, "EXPIRED")
    if (quote.state !== "LIVE") return refused("quote not live")
    if (halted(rfq)) return refused("market halted")
    if (declines(rfq, quote)) {
      this.turn(rfq, quote, "EXPIRED")
      return refused("declined by the dealer")
    }
    const { tradeId, contract } = execute(rfq, quote)
    quote.state = "ACCEPTED"
    this.end(rfq, "ACCEPTED")
    return { outcome: "EXECUTED", tradeId, rfq, quote, contract }
  }

  private turn(rfq: Rfq, quote: Quote, state: QuoteState): void {
    quote.state = state
    this.onQuote(rfq, quote)
  }
}
