/** Markets as whoever trades in them meets them now: on which terms, reachable, halted (A2-11, A2-114). */
import { Effect } from "effect"
import type { MarketTerms } from "../../../machines/market/marketTerms.ts"
import type { VenueMarket } from "../../../machines/venue/VenueMarket.ts"
import { Settings } from "../../Settings.ts"
import { VenueLink } from "../venue/VenueLink.ts"
import { MarketFeed } from "../market/MarketFeed.ts"
import { MarketHalts } from "../market/MarketHalts.ts"

export interface TradedMarkets {
  readonly terms: MarketTerms
  /** Whether the venue is reached: its market data and its events both. */
  readonly connected: () => boolean
  /** The message of what halts a market, ours or the venue's; null: it trades. */
  readonly haltOf: (market: VenueMarket) => string | null
}

/** What reading the markets takes. */
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
