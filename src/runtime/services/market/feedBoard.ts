/** The listed markets for operators, from the feed (operator surface, market list). */
import { Effect, Layer } from "effect"
import { isFresh } from "../../../machines/market/Facts.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { type BoardMarket, MarketBoard } from "../../ports/MarketBoard.ts"
import { MarketFeed } from "./MarketFeed.ts"

const noPrices = { last: null, mark: null, index: null, fresh: false, halted: false, delisted: false }

export const layerFeedBoard: Layer.Layer<MarketBoard, never, MarketFeed | BusinessClock> = Layer.effect(
  MarketBoard,
  Effect.gen(function* () {
    const { mirror } = yield* MarketFeed
    const clock = yield* BusinessClock
    const listed = (symbol: string): Pick<BoardMarket, "last" | "mark" | "index" | "fresh"> => {
      const ticker = mirror.markets.get(symbol)?.ticker
      const mark = ticker?.mark() ?? null
      const { lastPrice: last = null, markPrice = null, indexPrice: index = null } = ticker?.row() ?? {}
      return { last, mark: markPrice, index, fresh: mark !== null && isFresh(mark, clock.now()) }
    }
    return {
      markets: () => {
        const { listing } = mirror
        if (listing === null) return null
        return [
          ...listing.markets.map(({ symbol, family, halt, delisted }) => ({
            symbol,
            family,
            halted: halt !== null,
            delisted,
            ...listed(symbol)
          })),
          ...listing.stakingMarkets.map(({ symbol, delisted }) => ({
            ...noPrices,
            symbol,
            family: "STAKING" as const,
            delisted
          }))
        ]
      }
    }
  })
)
