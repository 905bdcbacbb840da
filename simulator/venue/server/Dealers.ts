/**
 * The RFQ dealers of the simulated venue. Each answers a request after its latency, at its spread from the mark, for the
 * validity of its quote, then again. It may withdraw, refuse an accept at its last look, or stay silent. Dealers run on wall
 * time and a seed of their own; their decisions are in the log (C1; A2-25).
 */
import type { VenueRequest } from "../../../src/machines/venue/venueCalls.ts"
import type { VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import type { VenueQuote, VenueRfq } from "../../../src/machines/venue/venueObjects.ts"
import { SeededRandom } from "../../partner/SeededRandom.ts"
import { unitsOf } from "../core/Market.ts"
import { textOf } from "../core/texts.ts"
import type { Venue } from "../core/Venue.ts"
import type { Dealer } from "../core/VenueKnobs.ts"
import type { VenueWriter } from "./VenueWriter.ts"

/** A request that is open, so that dealers still quote. */
interface Request {
  readonly rfq: typeof VenueRfq.Type
  readonly timers: Set<NodeJS.Timeout>
  /** The name of the dealer of each live quote, by the quote's id. */
  readonly quotes: Map<number, string>
}

/** How often a silent dealer checks whether it has to stay silent. */
const silenceMillis = 500
/** Limit on requests in progress; over it the oldest gets no further quotes. */
const requestLimit = 10_000

export class Dealers {
  /** `silent`: no dealer quotes until the mood is `normal` again. */
  mood: "silent" | "normal" = "normal"
  private readonly venue: Pick<Venue, "now" | "dealers" | "listing" | "snapshot">
  private readonly writer: Pick<VenueWriter, "offer">
  private readonly random: SeededRandom
  private readonly requests = new Map<string, Request>()
  private readonly ignored = new Set<string>()

  constructor(
    venue: Pick<Venue, "now" | "dealers" | "listing" | "snapshot">,
    writer: Pick<VenueWriter, "offer">,
    seed: number
  ) {
    this.venue = venue
    this.writer = writer
    this.random = new SeededRandom(seed)
  }

  /** Handles an event of the venue: a new request starts to get quotes, and a quote that has ended may be renewed. */
  happened({ fact }: VenueEvent): void {
    if (fact.type === "rfq") {
      if (fact.rfq.state === "OPEN") this.begin(fact.rfq)
      else this.end(fact.rfq.ref)
    }
    if (fact.type === "quote") this.quoted(fact.rfqRef, fact.quote)
  }

  /** Makes all dealers ignore this request. */
  ignore(ref: string): void {
    if (this.ignored.size < requestLimit) this.ignored.add(ref)
  }

  /** True if the dealer of the accepted quote refuses the accept at its last look. */
  declines({ target, quoteId }: VenueRequest<"acceptQuote">): boolean {
    const name = this.requests.get(target)?.quotes.get(quoteId)
    const dealer = this.venue.dealers().find((each) => each.name === name)
    return dealer !== undefined && this.random.chance(dealer.lastLookRefusal)
  }

  stop(): void {
    for (const ref of this.requests.keys()) this.end(ref)
  }

  private begin(rfq: typeof VenueRfq.Type): void {
    if (this.requests.has(rfq.ref)) return
    if (this.ignored.delete(rfq.ref)) return
    const [oldest] = this.requests.keys()
    if (this.requests.size >= requestLimit && oldest !== undefined) this.end(oldest)
    const live = rfq.quotes.filter(({ state }) => state === "LIVE")
    this.requests.set(rfq.ref, {
      rfq,
      timers: new Set(),
      quotes: new Map(live.map(({ id, dealer }) => [id, dealer] as const))
    })
    for (const dealer of this.venue.dealers()) {
      if (live.some((quote) => quote.dealer === dealer.name)) continue
      if (!this.random.chance(dealer.silence)) this.later(rfq.ref, dealer.latencyMillis, () => this.quote(rfq, dealer))
    }
  }

  private end(ref: string): void {
    for (const timer of this.requests.get(ref)?.timers ?? []) clearTimeout(timer)
    this.requests.delete(ref)
  }

  private quoted(ref: string, quote: typeof VenueQuote.Type): void {
    const request = this.requests.get(ref)
    const dealer = this.venue.dealers().find(({ name }) => name === quote.dealer)
    if (request === undefined || dealer === undefined) return
    if (quote.state !== "LIVE") {
      request.quotes.delete(quote.id)
      // The dealer quotes again after a quote has expired, but not after its withdrawal.
      if (quote.state === "EXPIRED") this.later(ref, dealer.latencyMillis, () => this.quote(request.rfq, dealer))
      return
    }
    request.quotes.set(quote.id, dealer.name)
    if (!this.random.chance(dealer.withdrawal)) return
    const after = Math.floor(this.random.next() * dealer.validityMillis)
    this.later(ref, after, () => {
      void this.writer.offer({ type: "withdraw", rfqRef: ref, quoteId: quote.id })
    })
  }

  private quote(rfq: typeof VenueRfq.Type, dealer: Dealer): void {
    if (this.mood === "silent") return this.later(rfq.ref, silenceMillis, () => this.quote(rfq, dealer))
    const terms = this.termsOf(rfq, dealer)
    if (terms === null) return
    const validUntil = Math.min(this.venue.now + dealer.validityMillis, rfq.windowEndsAt)
    void this.writer.offer({ type: "quote", rfqRef: rfq.ref, dealer: dealer.name, ...terms, validUntil })
  }

  /** Price and quantity of a dealer, on the market's grids; null while the market has no mark. */
  private termsOf(rfq: typeof VenueRfq.Type, { spreadBps, size }: Dealer) {
    const market = this.venue.listing().markets.find(({ symbol }) => symbol === rfq.symbol)
    const ticker = this.venue.snapshot("ticker", rfq.symbol)
    if (market === undefined || ticker?.channel !== "ticker" || ticker.mark === null) return null
    const [ticks, lots] = [decimalsOf(market.priceTick), decimalsOf(market.qtyStep)]
    const mark = unitsOf(ticker.mark, ticks)
    const requested = unitsOf(rfq.qty, lots)
    const largest = Math.floor((unitsOf(market.maxQty, lots) ?? 0) * size)
    if (mark === null || requested === null || largest === 0) return null
    // The dealer sells to a client who opens long or closes short, so the price is above the mark.
    const buys = (rfq.side === "BUY") === (rfq.closes === null)
    const price = buys
      ? Math.ceil((mark * (10_000 + spreadBps)) / 10_000)
      : Math.floor((mark * (10_000 - spreadBps)) / 10_000)
    return price <= 0 ? null : { price: textOf(price, ticks), qty: textOf(Math.min(requested, largest), lots) }
  }

  private later(ref: string, millis: number, act: () => void): void {
    const request = this.requests.get(ref)
    if (request === undefined) return
    const timer = setTimeout(() => {
      request.timers.delete(timer)
      act()
    }, millis).unref()
    request.timers.add(timer)
  }
}

/** Decimal places of a grid such as 0.001. */
const decimalsOf = (grid: string): number => grid.split(".")[1]?.length ?? 0
