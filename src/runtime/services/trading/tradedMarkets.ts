/** The present state of markets for trading: terms, the venue connection, and halts (A2-11, A2-114). */
import { Effect } from "effect"
import type { MarketTerms } from "../../../machines/market/marketTerms.ts"
import type { VenueMarket } from "../../../machines/venue/VenueMarket.ts"
import { Settings } from "../../Settings.ts"
import { VenueLink } from "../venue/VenueLink.ts"
import { MarketFeed } from "../market/MarketFeed.ts"
import { MarketHalts } from "../market/MarketHalts.ts"

export interface TradedMarkets {
  readonly terms: MarketTerms
  /** Whether both the venue's market data and its events are connected. */
  readonly connected: () => boolean
  /** The message of our or the venue's halt of a market; null: no halt. */
  readonly haltOf: (market: VenueMarket) => string | null
}

/** The services that `tradedMarkets` needs. */
export type MarketServices = MarketFeed | MarketHalts | VenueLink | Settings

export const tradedMarkets: Effect.Effect<TradedMarkets, never, MarketServices> = Effect.gen(function* () {
  const feed = yield* MarketFeed
  const halts = yield* MarketHalts
  const link = yield* VenueLink
  const { marketTerms: terms } = yield* Settings
  return {
    terms,
    connected: () => feed.figures().connected && link.state().connected,
    haltOf: ({ symbol, family, halt }) =>
      halts.active().find(({ scope }) => scope === "ALL" || scope === family || scope === symbol)?.message ??
      halt?.message ??
      null
  }
})
