/**
 * Quotes of open requests, kept beside the mailboxes: they are the venue's facts, heard with its events or read with its
 * requests, and gone with the process (A2-22). A decision is handed the quote it is to accept, and judges it under the lock.
 */
import { Context, Layer } from "effect"
import type { Heard } from "../../../../machines/rfq/Rfq.ts"
import type { VenueQuote } from "../../../../machines/venue/venueObjects.ts"
import { ShortLivedMap } from "../../../engine/ShortLivedMap.ts"

/** Quotes kept of a request: its newest (A2-22). */
export const quotesKept = 100

export interface BoardQuote {
  readonly quote: VenueQuote
  /** By this number the router takes the earliest: it grows in the order in which quotes came here (F18). */
  readonly arrival: number
}

interface Request {
  /** By id, in the order in which they came. */
  readonly quotes: Map<number, BoardQuote>
  /** What the router has to say of the request; null: nothing. */
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

  /** From now on the request's quotes are kept: until then, and after `close`, nothing is. */
  open(rfqId: number): void {
    if (!this.requests.has(rfqId)) this.requests.set(rfqId, { quotes: new Map(), note: null })
  }

  close(rfqId: number): void {
    this.requests.delete(rfqId)
  }

  /** A quote that came or changed. An end of it stands, whatever comes late. */
  hear(rfqId: number, quote: VenueQuote): void {
    if (this.keep(rfqId, quote)) this.say(rfqId)
  }

  /** The quotes of a request as the venue has them now, the newest last. */
  read(rfqId: number, quotes: ReadonlyArray<VenueQuote>): void {
    const changed = quotes.map((quote) => this.keep(rfqId, quote))
    if (changed.includes(true)) this.say(rfqId)
  }

  /** Sets what the router has to say of a request that nothing was tried for. */
  remark(rfqId: number, note: string | null): void {
    const request = this.requests.get(rfqId)
    if (request !== undefined) request.note = note
  }

  note(rfqId: number): string | null {
    return this.requests.get(rfqId)?.note ?? null
  }

  /** Newest last; none of a request that is not open. */
  of(rfqId: number): ReadonlyArray<BoardQuote> {
    return [...(this.requests.get(rfqId)?.quotes.values() ?? [])]
  }

  /** What an end of the request keeps: its quotes, newest last, and what the router has to say of it (A2-22). */
  heard(rfqId: number): Heard {
    return { quotes: this.of(rfqId).map(({ quote }) => quote), note: this.note(rfqId) }
  }

  one(rfqId: number, quoteId: number): BoardQuote | null {
    return this.requests.get(rfqId)?.quotes.get(quoteId) ?? null
  }

  /** Calls `listener` with the request whose quotes have changed. */
  onChange(listener: Listener): void {
    this.listeners.push(listener)
  }

  /** False when nothing has changed. */
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

  private say(rfqId: number): void {
    for (const listener of this.listeners) listener(rfqId)
  }
}

/** A dealer has one quote that counts, its newest: ids of quotes grow at the venue. */
const superseded = (quote: VenueQuote): VenueQuote => ({ ...quote, state: "SUPERSEDED" })
