/** The present markets of knock-out contracts for requests: listing, halts and the venue connection (A2-11, A2-114). */
import { Effect } from "effect"
import { accept, notOffered, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import type { VenueMarket } from "../../../../machines/venue/VenueMarket.ts"
import { MarketFeed } from "../../market/MarketFeed.ts"
import { unreached } from "../../market/MarketReads.ts"
import { type MarketServices, type TradedMarkets, tradedMarkets } from "../tradedMarkets.ts"

export interface ContractMarkets extends TradedMarkets {
  /** The listed market. Refused if it is not listed, or if no listing is known. */
  readonly find: (symbol: string) => Verdict<VenueMarket>
}

export const contractMarkets: Effect.Effect<ContractMarkets, never, MarketServices> = Effect.gen(function* () {
  const feed = yield* MarketFeed
  return {
    ...(yield* tradedMarkets),
    find: (symbol) => {
      const refusal = unreached(feed)
      if (refusal !== null) return refuse(refusal)
      const listed = feed.mirror.markets.get(symbol)
      return listed?.market.family === "BARRIER" ? accept(listed.market) : refuse(notOffered)
    }
  }
})
