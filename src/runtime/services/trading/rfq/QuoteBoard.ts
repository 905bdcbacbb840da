/**
 * The quotes of open requests, in memory beside the mailboxes. They come from the venue's events and queries; after a
 * restart they are queried again. An accept takes its quote from the board, and the client's turn checks it (A2-22,
 * F18).
 */
import { Context, Layer } from "effect"
import type { ReceivedQuotes } from "../../../../machines/rfq/Rfq.ts"
import type { VenueQuote } from "../../../../machines/venue/venueObjects.ts"
import { ShortLivedMap } from "../../../engine/ShortLivedMap.ts"

/** Limit on the quotes of a request. A further quote replaces the oldest. */
export const quotesKept = 100

export interface BoardQuote {
  readonly quote: VenueQuote
  /** The number of this quote in the order of arrival at this process. The router takes the earliest acceptable quote. */
  readonly arrival: number
}

interface Request {
  /** The quotes by the venue's id, in the order of arrival. */
  readonly quotes: Map<number, BoardQuote>
  /** The reason that the router has accepted no quote; null if there is no reason yet. */
  note: string | null
}

type Listener = (rfqId: number) => void

export class QuoteBoard extends Context.Service<QuoteBoard, Board>()(
  "brokerage/runtime/services/trading/rfq/QuoteBoard"
) {
  static readonly layer = Layer.sync(QuoteBoard, () => new Board())
}

export class Board {
  private readonly requests = new ShortLivedMap<number, Request>()
  private readonly listeners: Array<Listener> = []
  private arrivals = 0

  /**
   * Creates the entry of a request, which collects its quotes until `close`. Quotes of requests without an entry are
   * dropped.
   */
  open(rfqId: number): void {
    if (!this.requests.has(rfqId)) this.requests.set(rfqId, { quotes: new Map(), note: null })
  }

  close(rfqId: number): void {
    this.requests.delete(rfqId)
  }

  /** Applies a new or changed quote. A quote that has ended never becomes live again. */
  receive(rfqId: number, quote: VenueQuote): void {
    if (this.keep(rfqId, quote)) this.notify(rfqId)
  }

  /** Applies all quotes of a request from a venue query, newest last. */
  read(rfqId: number, quotes: ReadonlyArray<VenueQuote>): void {
    const changed = quotes.map((quote) => this.keep(rfqId, quote))
    if (changed.includes(true)) this.notify(rfqId)
  }

  /** Sets the reason why the router accepted no quote of a request; null clears it. */
  remark(rfqId: number, note: string | null): void {
    const request = this.requests.get(rfqId)
    if (request !== undefined) request.note = note
  }

  note(rfqId: number): string | null {
    return this.requests.get(rfqId)?.note ?? null
  }

  /** The quotes of a request, newest last; empty if the request has no entry here. */
  of(rfqId: number): ReadonlyArray<BoardQuote> {
    return [...(this.requests.get(rfqId)?.quotes.values() ?? [])]
  }

  /** The data that the end of a request stores: its quotes, newest last, and the router's note. */
  received(rfqId: number): ReceivedQuotes {
    return { quotes: this.of(rfqId).map(({ quote }) => quote), note: this.note(rfqId) }
  }

  one(rfqId: number, quoteId: number): BoardQuote | null {
    return this.requests.get(rfqId)?.quotes.get(quoteId) ?? null
  }

  /** Calls `listener` with the id of each request whose quotes have changed. */
  onChange(listener: Listener): void {
    this.listeners.push(listener)
  }

  /** Stores a quote. Returns true if the board has changed. */
  private keep(rfqId: number, quote: VenueQuote): boolean {
    const quotes = this.requests.get(rfqId)?.quotes
    if (quotes === undefined) return false
    const known = quotes.get(quote.id)
    if (known !== undefined) {
      if (known.quote.state !== "LIVE" || quote.state === "LIVE") return false
      quotes.set(quote.id, { ...known, quote })
      return true
    }
    let isLatest = true
    for (const [id, kept] of quotes) {
      if (kept.quote.dealer !== quote.dealer) continue
      if (id > quote.id) isLatest = false
      else if (kept.quote.state === "LIVE") quotes.set(id, { ...kept, quote: superseded(kept.quote) })
    }
    const stands = isLatest || quote.state !== "LIVE"
    quotes.set(quote.id, { quote: stands ? quote : superseded(quote), arrival: ++this.arrivals })
    if (quotes.size > quotesKept) quotes.delete(quotes.keys().next().value as number)
    return true
  }

  private notify(rfqId: number): void {
    for (const listener of this.listeners) listener(rfqId)
  }
}

/**
 * The quote, superseded by a newer quote of the same dealer. The venue's quote ids increase, so the quote with the
 * higher id is the newer one.
 */
const superseded = (quote: VenueQuote): VenueQuote => ({ ...quote, state: "SUPERSEDED" })
