/** The markets that the feed knows, including delisted ones (operator surface, market list). */
import { Effect, Layer } from "effect"
import { isFresh } from "../../../machines/market/Facts.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { ListedMarkets, type MarketPrices } from "../../ports/ListedMarkets.ts"
import { MarketFeed } from "./MarketFeed.ts"

export const layerListedMarkets: Layer.Layer<ListedMarkets, never, MarketFeed | BusinessClock> = Layer.effect(
  ListedMarkets,
  Effect.gen(function* () {
    const { mirror } = yield* MarketFeed
    const clock = yield* BusinessClock
    return ListedMarkets.of({
      all: () => {
        const { listing } = mirror
        if (listing === null) return null
        const now = clock.now()
        return [
          ...listing.markets.map(({ symbol, family, halt, delisted }): MarketPrices => {
            const ticker = mirror.markets.get(symbol)?.ticker
            const row = ticker?.row()
            const mark = ticker?.mark() ?? null
            return {
              symbol,
              family,
              last: row?.lastPrice ?? null,
              mark: row?.markPrice ?? null,
              index: row?.indexPrice ?? null,
              fresh: mark !== null && isFresh(mark, now),
              halted: halt !== null,
              delisted
            }
          }),
          ...listing.stakingMarkets.map(({ symbol, enabled, delisted }) => ({
            ...unpriced,
            symbol,
            halted: !enabled,
            delisted
          }))
        ]
      }
    })
  })
)

/** The row of a staking market, which has no price. */
const unpriced = { family: "STAKING", last: null, mark: null, index: null, fresh: false } as const
