/**
 * Checks whether a venue event is plausible: its time, its market's present grid, and the mark and rate of a funding
 * stamp (A2-115, F14).
 */
import { Effect, Latch } from "effect"
import { fundingFault } from "../../../machines/funding/fundingRules.ts"
import { isLess, scaled, unitsWith } from "../../../machines/shared/Exact.ts"
import type { AccountFact, VenueFunding } from "../../../machines/venue/VenueEvent.ts"
import { fundingHoursOf, type VenueMarket } from "../../../machines/venue/VenueMarket.ts"
import type { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import type { Venue } from "../../ports/Venue.ts"
import type { LastListing } from "../market/LastListing.ts"
import type { AccountEvent } from "./AccountLane.ts"

/** The age from which the known grids are read again, business ms. */
const listedFor = 1_000

export interface EventJudgeParts {
  readonly venue: Venue["Service"]
  readonly clock: BusinessClock["Service"]
  readonly listing: LastListing["Service"]
}

export class EventJudge {
  private markets: ReadonlyMap<string, VenueMarket> = new Map()
  /** The business time at which the listing behind `markets` was requested. */
  private listedAt = -Infinity
  /** Opens when the read in progress ends; null: no read is in progress. */
  private reading: Latch.Latch | null = null
  private readonly venue: Venue["Service"]
  private readonly clock: BusinessClock["Service"]
  private readonly listing: LastListing["Service"]

  constructor({ venue, clock, listing }: EventJudgeParts) {
    this.venue = venue
    this.clock = clock
    this.listing = listing
  }

  /** Whether the known data, without a query, show that an event is plausible. */
  believes(event: AccountEvent): boolean {
    const { at, fact } = event
    if (this.isAhead(at) || timeFaultOf(fact, at) !== null || this.lacksListing(event)) return false
    return !hasGrid(fact) || (this.clock.now() - this.listedAt < listedFor && this.gridFault(fact) === null)
  }

  /**
   * The reason why an event is implausible; null: it is plausible. Before an event fails on a grid, the listing is read
   * again.
   */
  wrongWith(event: AccountEvent): Effect.Effect<string | null> {
    return Effect.suspend(() => {
      const { at, fact } = event
      if (this.isAhead(at)) return Effect.succeed("it lies more than 5 s ahead of the venue's clock")
      const fault = timeFaultOf(fact, at)
      if (fault !== null) return Effect.succeed(fault)
      const begunBefore = this.reading !== null
      if (this.lacksListing(event)) {
        const later = Effect.suspend(() => (begunBefore && this.lacksListing(event) ? this.read : Effect.void))
        return Effect.as(Effect.andThen(this.read, later), null)
      }
      if (!hasGrid(fact) || this.believes(event)) return Effect.succeed(null)
      const judge = Effect.sync(() => (this.markets.size === 0 ? null : this.gridFault(fact)))
      // A read that began before the event may miss a recent change, so only a later read can fail the event.
      return Effect.flatMap(Effect.andThen(this.read, judge), (fault) =>
        begunBefore && fault !== null ? Effect.andThen(this.read, judge) : Effect.succeed(fault)
      )
    })
  }

  /** Reads the listing again if the event settles a market after the time of the known listing. At most once a second. */
  listAfter(event: AccountEvent): Effect.Effect<void> {
    return Effect.suspend(() => {
      const isDue = this.clock.now() - this.listedAt >= listedFor
      return this.lacksListing(event) && (isDue || this.reading !== null) ? this.read : Effect.void
    })
  }

  /** Whether an event settles a market and the known listing is not later than the event. */
  private lacksListing({ at, fact }: AccountEvent): boolean {
    const symbol = settledMarket(fact)
    return symbol !== null && this.listing.isListed(symbol, at) === null
  }

  /** Reads the listing, or waits for the read in progress. If the venue does not answer, the known listing stays. */
  private readonly read: Effect.Effect<void> = Effect.suspend(() => {
    if (this.reading !== null) return this.reading.await
    const reading = Latch.makeUnsafe(false)
    this.reading = reading
    this.listedAt = this.clock.now()
    return Effect.catch(this.venue.listing, () => Effect.succeed(null)).pipe(
      Effect.map((listing) => {
        // The feed may have read a newer listing in the meantime.
        if (listing === null || listing.at < this.listing.readAt()) return
        const { markets } = this.listing.believe(listing).listing
        this.markets = new Map(markets.map((market) => [market.symbol, market]))
      }),
      Effect.ensuring(
        Effect.sync(() => {
          this.reading = null
          reading.openUnsafe()
        })
      )
    )
  })

  private isAhead(at: number): boolean {
    return at > this.clock.venueTime().latest
  }

  /** The reason why an order, a fill or a funding stamp is off its market's grid; null: it is on the grid. */
  private gridFault(fact: GriddedFact): string | null {
    if (fact.type === "funding") return stampFault(fact.funding, this.markets.get(fact.funding.symbol))
    const market = this.markets.get(fact.order.symbol)
    if (market === undefined) return "its market is not listed"
    const { qty, price } = fact.type === "fill" ? fact.fill : fact.order
    if (!fits(qty, market.qtyStep)) return "its quantity is off the market's grid"
    if (isLess(scaled(market.maxQty), scaled(qty))) return "its quantity is beyond the market's limit"
    return price === null || fits(price, market.priceTick) ? null : "its price is off the market's grid"
  }
}

/**
 * The reason why a fact's time is later than its message, or why a stamp's mark or rate is impossible; null: there is
 * no such fault.
 */
const timeFaultOf = (fact: AccountFact, at: number): string | null => {
  switch (fact.type) {
    case "fill":
      return fact.fill.at > at ? "its trade lies ahead of it" : null
    case "funding":
      return fact.funding.settledAt > at ? "its stamp lies ahead of it" : fundingFault(fact.funding)
    case "contract":
      return Math.max(fact.contract.openedAt, fact.contract.endedAt ?? 0) > at ? "its contract lies ahead of it" : null
    case "swap":
      return fact.swap.openedAt > at ? "its swap lies ahead of it" : null
    default:
      return null
  }
}

/** The market whose final settlement a fact reports; null: the fact reports none. */
const settledMarket = (fact: AccountFact): string | null => {
  if (fact.type === "contract") return fact.contract.state === "CLOSED" ? fact.contract.symbol : null
  return fact.type === "swap" && fact.swap.end === "FINAL_SETTLEMENT" ? fact.swap.symbol : null
}

const hourMillis = 3_600_000

/** The reason why the market pays no funding at this time; null: it does, or the market is unknown. */
const stampFault = ({ settledAt }: VenueFunding, market: VenueMarket | undefined): string | null => {
  if (market === undefined) return null
  const hours = fundingHoursOf(market)
  return hours === 0 || settledAt % (hours * hourMillis) !== 0 ? "its stamp is not a funding time of its market" : null
}

type GriddedFact = Extract<AccountFact, { readonly type: "order" | "fill" | "funding" }>

const hasGrid = (fact: AccountFact): fact is GriddedFact =>
  fact.type === "fill" || fact.type === "order" || fact.type === "funding"

/** Whether a value is a whole multiple of the step. */
const fits = (value: string, step: string): boolean => {
  const [one, other] = [scaled(value), scaled(step)]
  const places = Math.max(one.places, other.places)
  return unitsWith(one, places) % unitsWith(other, places) === 0n
}
