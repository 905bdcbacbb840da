/** Markets of knock-out contracts as requests for quotes meet them now: listed or not, halted, reachable (A2-11, A2-114). */
import { Effect } from "effect"
import type { MarketTerms } from "../../../machines/market/marketTerms.ts"
import { accept, notOffered, refuse, type Verdict } from "../../../machines/shared/Refusal.ts"
import type { VenueMarket } from "../../../machines/venue/VenueMarket.ts"
import { Settings } from "../../Settings.ts"
import { MarketFeed } from "../market/MarketFeed.ts"
import { MarketHalts } from "../market/MarketHalts.ts"
import { unreached } from "../market/MarketReads.ts"
import { VenueLink } from "../venue/VenueLink.ts"

export interface BarrierMarkets {
  readonly terms: MarketTerms
  /** Whether the venue is reached: its market data and its events both. */
  readonly connected: () => boolean
  /** The listed market; refused where there is none, or nothing is known of any. */
  readonly find: (symbol: string) => Verdict<VenueMarket>
  /** The message of what halts a market, ours or the venue's; null: it trades. */
  readonly haltOf: (market: VenueMarket) => string | null
}

export const barrierMarkets: Effect.Effect<BarrierMarkets, never, MarketFeed | MarketHalts | VenueLink | Settings> =
  Effect.gen(function* () {
    const feed = yield* MarketFeed
    const halts = yield* MarketHalts
    const link = yield* VenueLink
    const { marketTerms: terms } = yield* Settings
    return {
      terms,
      connected: () => feed.figures().connected && link.state().connected,
      find: (symbol) => {
        const refusal = unreached(feed)
        if (refusal !== null) return refuse(refusal)
        const listed = feed.mirror.markets.get(symbol)
        return listed?.market.family === "BARRIER" ? accept(listed.market) : refuse(notOffered)
      },
      haltOf: ({ symbol, family, halt }) =>
        halts.active().find(({ scope }) => scope === "ALL" || scope === family || scope === symbol)?.message ??
        halt?.message ??
        null
    }
  })
