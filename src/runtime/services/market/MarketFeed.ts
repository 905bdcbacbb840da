/**
 * The market as this process knows it: one connection to the venue's market data for all readers. Messages are checked
 * and stored in memory (MarketMirror), so ticks need no turn and no commit. Turns and readers use the newest state.
 * Without a venue the feed has no connection, and requests that need a market are refused with `noVenue` (F3, A2-114).
 */
import { Clock, Context, Effect, Layer } from "effect"
import type { Facts } from "../../../machines/market/Facts.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { Quarantine } from "../../ports/Quarantine.ts"
import { Venue } from "../../ports/Venue.ts"
import { Settings } from "../../Settings.ts"
import { FeedSession, type Standing } from "./FeedSession.ts"
import { LastListing } from "./LastListing.ts"
import { KlineReads } from "./KlineReads.ts"
import { MarketMirror } from "./MarketMirror.ts"
import { type JudgedBoard, type OfferBoard, pollOffers, staleMillis } from "./OfferPoll.ts"
import { QuarantineRate } from "./QuarantineRate.ts"
import { klineFault } from "./readFaults.ts"

export interface FeedFigures {
  readonly connected: boolean
  /** The numbers of begun connections and of listing reads since the start. */
  readonly connections: number
  readonly listings: number
  /** The number of markets that keep their last possible state, because the last listing is impossible for them. */
  readonly kept: number
  readonly counts: MarketMirror["counts"]
}

export class MarketFeed extends Context.Service<
  MarketFeed,
  {
    readonly standing: () => Standing
    readonly mirror: MarketMirror
    /** The facts for turns. Without a venue they contain only stored marks. */
    readonly facts: () => Facts
    /** The board of staking offers; null: it was never read. */
    readonly offers: () => OfferBoard | null
    /** The board of staking offers. It is read again if it is too old for the check of a take (STS-1). */
    readonly recentOffers: Effect.Effect<JudgedBoard | null>
    /** True if the offers were last read too long ago (A2-56). */
    readonly offersStale: () => boolean
    readonly klines: KlineReads
    readonly figures: () => FeedFigures
  }
>()("brokerage/runtime/services/market/MarketFeed") {
  /** The feed of a service without a venue. */
  static readonly none: Layer.Layer<MarketFeed, never, Settings> = Layer.effect(
    MarketFeed,
    Effect.map(Settings, ({ marketTerms }) => {
      const mirror = new MarketMirror(marketTerms)
      return MarketFeed.of({
        standing: () => "unattached" as const,
        mirror,
        facts: () => mirror.factsAt(null),
        offers: () => null,
        recentOffers: Effect.succeed(null),
        offersStale: () => true,
        klines: KlineReads.none,
        figures: () => ({ connected: false, connections: 0, listings: 0, kept: 0, counts: mirror.counts })
      })
    })
  )

  /** The feed of a service with a venue. Its connection lives as long as the layer. */
  static readonly layer: Layer.Layer<MarketFeed, never, Venue | Quarantine | BusinessClock | Settings | LastListing> =
    Layer.effect(
      MarketFeed,
      Effect.gen(function* () {
        const venue = yield* Venue
        const wall = yield* Clock.Clock
        const business = yield* BusinessClock
        const mirror = new MarketMirror((yield* Settings).marketTerms, yield* LastListing)
        const now = () => wall.currentTimeMillisUnsafe()
        const latest = () => business.venueTime().latest
        const rate = new QuarantineRate(yield* Quarantine, now)
        const session = new FeedSession({ venue, mirror, rate, now, latest, measure: business.measure })
        yield* Effect.forkScoped(session.forever)
        const offers = yield* pollOffers({ venue, mirror, rate, now, latest })
        return MarketFeed.of({
          standing: () => session.standing(),
          mirror,
          facts: () => mirror.factsAt(business.now(), business.venueTime()),
          offers: offers.last,
          recentOffers: offers.recent,
          offersStale: () => now() - (offers.last()?.readAt ?? 0) > staleMillis,
          klines: new KlineReads({
            venue,
            now,
            isAway: () => session.isAway(),
            faultOf: (page, window) => klineFault(page, window, latest()),
            quarantine: rate
          }),
          figures: () => ({
            connected: session.connected,
            connections: session.connections,
            listings: session.listings,
            kept: mirror.kept,
            counts: mirror.counts
          })
        })
      })
    )
}
