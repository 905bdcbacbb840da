/**
 * Advances business time: ticks, and between them scheduled work, in order of time. Up to 10,000 ticks are played one by one,
 * more in longer steps. Funding times and points of price paths are steps of their own, so that none is missed. In a jump (more
 * than a minute of ticks at once) takers don't trade, and the makers' ladders are in the books only where they meet a client's
 * order. So a jump costs its events and a limited number of light steps (C4).
 */
import type { Contract } from "./Contracts.ts"
import type { Listing } from "./Exchange.ts"
import { nextStamp, premiumOf, rateUnit } from "./Funding.ts"
import { priceStamps, stampFunding } from "./fundingStamps.ts"
import { publishMarketData } from "./marketData.ts"
import { owedOf } from "./Staking.ts"
import type { VenueParts } from "./VenueParts.ts"
import { fillBoards, mature, removeOffer } from "./Writers.ts"

/** Limit on steps of one advance, without funding times and points of paths. */
const mostSteps = 10_000
/** More ticks than these at once are a jump. */
const jumpTicks = 60
const minute = 60_000

export class Passing {
  private readonly parts: VenueParts
  private readonly bases: ReadonlyArray<string>

  constructor(parts: VenueParts) {
    this.parts = parts
    this.bases = [...parts.listingsOf.keys()]
  }

  /** Opens the venue: first prices, books, one trade in each, and full boards. */
  open(): void {
    for (const base of this.bases) this.publish(base, false)
    this.settle(1)
    fillBoards(this.parts)
    publishMarketData(this.parts)
  }

  /** Advances to `to`, in at most `steps` price steps; an earlier time changes nothing. */
  pass(to: number, steps = mostSteps): void {
    const { clock, settings } = this.parts
    const tick = settings.tickMillis
    const ticks = Math.floor(to / tick) - Math.floor(clock.now / tick)
    const jump = ticks > jumpTicks
    const stride = Math.max(1, Math.ceil(ticks / Math.min(mostSteps, steps))) * tick
    const lastTick = Math.floor(to / tick) * tick
    if (jump) for (const listing of this.listings()) this.parts.makers.withdraw(listing)
    while (clock.now < to) {
      const next = nextMultiple(clock.now, stride)
      const regular = Math.min(next > lastTick ? lastTick : next, nextStamp(clock.now))
      // The last tick has passed: the next step ends at a funding time or at a point of a price path.
      const at = regular > clock.now ? regular : nextStamp(clock.now)
      const points = this.bases.map((base) => this.parts.prices.nextPoint(base, clock.now))
      const point = Math.min(...points)
      if (Math.min(at, point) > to) break
      if (at <= point) this.step(at, this.bases, jump)
      else
        this.step(
          point,
          this.bases.filter((_, n) => points[n] === point),
          jump
        )
    }
    this.fallDue(to, [])
    clock.now = Math.max(clock.now, to)
    if (jump) this.settle(1)
    if (ticks > 0) publishMarketData(this.parts)
  }

  /** Touches all levels between the old and the new prices of a base, whose prices were set from outside. */
  reprice(base: string): void {
    this.fallDue(this.parts.clock.now, this.move(base, this.parts.clock.now))
    this.publish(base, false)
  }

  /** Quotes the ladders at their marks, fires triggers, and lets a taker trade with the given probability. */
  private settle(takers: number): void {
    for (const listing of this.listings()) {
      this.parts.makers.quote(listing)
      this.parts.exchange.touch(listing, ["INDEX", "MARK", "LAST"])
      this.parts.makers.trade(listing, takers)
    }
  }

  private step(at: number, bases: ReadonlyArray<string>, jump: boolean): void {
    const { clock, settings, prices, exchange, makers } = this.parts
    const from = clock.now
    const ended: Array<Contract> = []
    for (const base of bases) {
      prices.step(base, at, this.premium(base))
      ended.push(...this.move(base, at))
    }
    this.fallDue(at, ended)
    clock.now = at
    const minutes = Math.floor(at / minute) - Math.floor(from / minute)
    if (minutes > 0) this.sample(minutes)
    for (const base of bases) this.publish(base, jump)
    stampFunding(this.parts)
    priceStamps(this.parts)
    if (jump) return
    for (const base of bases) {
      for (const listing of this.listings(base)) {
        exchange.touch(listing, ["LAST"])
        makers.trade(listing, settings.takers)
      }
    }
  }

  /**
   * Moves a base's open contracts from the last mark of their market to the base's mark at `at`. Returns the contracts that end
   * on the way.
   */
  private move(base: string, at: number): ReadonlyArray<Contract> {
    const { prices, contracts, clock } = this.parts
    const { mark } = prices.now(base)
    return this.listings(base).flatMap((listing) => {
      const open = contracts.get(listing.market.symbol)
      const before = { price: listing.prices.MARK ?? mark, at: clock.now }
      return open === undefined || open.size === 0 ? [] : open.move(before, { price: mark, at })
    })
  }

  /** Publishes a base's prices to its markets. Ladders move first, so that triggered orders trade at the new market. */
  private publish(base: string, jump: boolean): void {
    const { prices, exchange, makers, klines, clock } = this.parts
    const { index, mark } = prices.now(base)
    const { last } = prices.heldOf(base)
    for (const listing of this.listings(base)) {
      listing.prices.INDEX = index
      listing.prices.MARK = mark
      listing.lastHeld = last !== null
      if (listing.market.family === "BARRIER") {
        listing.prices.LAST = last ?? mark
        klines.get(listing.market.symbol)?.mark(clock.now, mark)
        continue
      }
      if (last !== null) listing.prices.LAST = last
      if (jump && !this.meets(listing)) continue
      makers.quote(listing)
      exchange.touch(listing, ["INDEX", "MARK", "LAST"])
      if (jump) makers.withdraw(listing)
    }
  }

  /** Whether the ladder would trade with a resting order, or a price fires a trigger. */
  private meets(listing: Listing): boolean {
    const { book, waiting, prices } = listing
    for (const source of ["INDEX", "MARK", "LAST"] as const) {
      const price = prices[source]
      if (price !== null && waiting[source].reaches(price)) return true
    }
    const top = this.parts.makers.top(listing)
    if (top === null) return false
    const [bid, ask] = [book.best("BUY"), book.best("SELL")]
    return (bid !== null && bid >= top.ask) || (ask !== null && ask <= top.bid)
  }

  /** Runs scheduled work up to a time, ending contracts included, in order of time. */
  private fallDue(to: number, ended: ReadonlyArray<Contract>): void {
    const { agenda, clock } = this.parts
    const contracts = [...ended, ...this.expired(to)].toSorted(
      (one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0)
    )
    let at = 0
    for (;;) {
      const contract = contracts[at]
      const endedAt = contract?.endedAt ?? Number.POSITIVE_INFINITY
      if (Math.min(endedAt, agenda.next) > to) return
      clock.now = Math.max(clock.now, Math.min(endedAt, agenda.next))
      if (contract !== undefined && endedAt <= agenda.next) {
        this.parts.contractEnded(contract)
        at++
      } else this.playDue()
    }
  }

  /** The contracts that expire up to a time, if marks stay as they are. */
  private expired(to: number): ReadonlyArray<Contract> {
    return [...this.parts.contracts].flatMap(([symbol, open]) => {
      const mark = this.parts.listing(symbol).prices.MARK
      if (open.size === 0 || mark === null) return []
      return open.move({ price: mark, at: this.parts.clock.now }, { price: mark, at: to })
    })
  }

  private playDue(): void {
    const { agenda, rfqs, staking, clock } = this.parts
    const due = agenda.take()
    if (due === null) return
    if (due.type === "offer") return removeOffer(this.parts, due.offerId)
    if (due.type === "noun") return this.parts.nouns.find(({ name }) => name === due.noun)?.books.fallDue?.(due.id)
    if (due.type === "maturity" || due.type === "payment") {
      const swap = staking.swaps.get(due.swapId)
      if (swap === undefined || swap.end !== null) return
      if (due.type === "maturity") mature(this.parts, swap)
      else staking.pay(swap, owedOf(swap), clock.now)
      return
    }
    const rfq = rfqs.byId.get(due.rfqId)
    if (rfq === undefined) return
    if (due.type === "quote") rfqs.expire(rfq, due.quoteId)
    else rfqs.end(rfq, "EXPIRED", "window over")
  }

  /** The premium of a perpetual's book over its index, in hundred-millionths; 0 for an empty book. */
  private premiumOf(listing: Listing): number {
    const { book, prices } = listing
    if (prices.INDEX === null) return 0
    const top = this.parts.makers.top(listing)
    return premiumOf(prices.INDEX, larger(book.best("BUY"), top?.bid), smaller(book.best("SELL"), top?.ask))
  }

  /** The premium of a base's perpetual as a share of the index; 0 for a base without a perpetual. */
  private premium(base: string): number {
    const perpetual = this.listings(base).find(({ market }) => market.family === "PERP")
    return perpetual === undefined ? 0 : this.premiumOf(perpetual) / rateUnit
  }

  private sample(minutes: number): void {
    for (const [symbol, funding] of this.parts.funding) {
      const listing = this.parts.listing(symbol)
      if (!listing.delisted) funding.sample(this.premiumOf(listing), minutes)
    }
  }

  /** The listed markets of a base; of all bases when none is given. */
  private listings(base?: string): ReadonlyArray<Listing> {
    const found =
      base === undefined ? [...this.parts.exchange.listings.values()] : (this.parts.listingsOf.get(base) ?? [])
    return found.filter(({ delisted }) => !delisted)
  }
}

const nextMultiple = (time: number, of: number): number => (Math.floor(time / of) + 1) * of

const larger = (one: number | null, other: number | undefined): number | null =>
  one === null || other === undefined ? (other ?? one) : Math.max(one, other)

const smaller = (one: number | null, other: number | undefined): number | null =>
  one === null || other === undefined ? (other ?? one) : Math.min(one, other)
