/**
 * The market as this process sees it: one connection to the venue's market data, whoever reads. What comes is checked and
 * kept in memory (MarketMirror), so that ticks take no turn and no commit; turns and readers see the newest (F3, A2-114).
 * Without a venue nothing is attached, and whatever needs a market answers so.
 */
import { Clock, Context, Effect, Layer } from "effect"
import type { Facts } from "../../../machines/market/Facts.ts"
import type { VenueOffer } from "../../../machines/venue/VenueMarket.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { Quarantine } from "../../ports/Quarantine.ts"
import { Venue, type VenueShape } from "../../ports/Venue.ts"
import { FeedSession, type Standing } from "./FeedSession.ts"
import { KlineReads } from "./KlineReads.ts"
import { aheadMillis, MarketMirror } from "./MarketMirror.ts"

/** The board of staking offers as it was last read. */
export interface OfferBoard {
  readonly offers: ReadonlyArray<VenueOffer>
  /** Business time at the venue. */
  readonly at: number
  /** Wall time at which it was read here. */
  readonly readAt: number
}

export interface FeedFigures {
  readonly connected: boolean
  /** Connections begun, and listings read, since the start. */
  readonly connections: number
  readonly listings: number
  readonly counts: MarketMirror["counts"]
}

export class MarketFeed extends Context.Service<
  MarketFeed,
  {
    readonly standing: () => Standing
    readonly mirror: MarketMirror
    /** What turns see; marks that were known before alone when no venue is attached. */
    readonly facts: () => Facts
    /** Null: it was never read. */
    readonly offers: () => OfferBoard | null
    /** Whether the offers were last read too long ago (A2-56). */
    readonly offersStale: () => boolean
    readonly klines: KlineReads
    readonly figures: () => FeedFigures
  }
>()("brokerage/runtime/services/market/MarketFeed") {
  /** Of a service that no venue is attached to. */
  static readonly none: Layer.Layer<MarketFeed> = Layer.sync(MarketFeed, () => {
    const mirror = new MarketMirror()
    return {
      standing: () => "unattached" as const,
      mirror,
      facts: () => mirror.factsAt(null),
      offers: () => null,
      offersStale: () => true,
      klines: KlineReads.none,
      figures: () => ({ connected: false, connections: 0, listings: 0, counts: mirror.counts })
    }
  })

  /** Over the venue; its connection lives as long as the layer. */
  static readonly layer: Layer.Layer<MarketFeed, never, Venue | Quarantine | BusinessClock> = Layer.effect(
    MarketFeed,
    Effect.gen(function* () {
      const venue = yield* Venue
      const wall = yield* Clock.Clock
      const business = yield* BusinessClock
      const mirror = new MarketMirror()
      const session = new FeedSession({
        venue,
        mirror,
        quarantine: yield* Quarantine,
        now: () => wall.currentTimeMillisUnsafe(),
        latest: () => business.horizon() + aheadMillis
      })
      const offers = yield* pollOffers(venue, () => wall.currentTimeMillisUnsafe())
      yield* Effect.forkScoped(session.forever)
      return MarketFeed.of({
        standing: () => session.standing(),
        mirror,
        facts: () => mirror.factsAt(business.now()),
        offers,
        offersStale: () => wall.currentTimeMillisUnsafe() - (offers()?.readAt ?? 0) > staleMillis,
        klines: new KlineReads(venue, () => wall.currentTimeMillisUnsafe()),
        figures: () => ({
          connected: session.connected,
          connections: session.connections,
          listings: session.listings,
          counts: mirror.counts
        })
      })
    })
  )
}

/** The offers are read so often, and count as stale when they were last read so long ago (A2-56), wall ms. */
const offersEvery = 2_000
const staleMillis = 10_000
/** A read that takes longer is given up, wall ms. */
const readLimit = 5_000

/** Reads the offers again and again; answers what was read last. */
const pollOffers = (venue: VenueShape, now: () => number) =>
  Effect.gen(function* () {
    let last: OfferBoard | null = null
    yield* venue.offers.pipe(
      Effect.timeout(readLimit),
      Effect.map(({ offers, at }) => {
        last = { offers, at, readAt: now() }
      }),
      Effect.catchCause((cause) => Effect.logDebug("the staking offers can not be read", cause)),
      Effect.andThen(Effect.sleep(offersEvery)),
      Effect.forever,
      Effect.forkScoped
    )
    return () => last
  })
