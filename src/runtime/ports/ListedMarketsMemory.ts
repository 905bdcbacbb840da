/** Markets as they are given: of tests, simulations, and a service without a venue. */
import { Layer } from "effect"
import { type MarketPrices, ListedMarkets } from "./ListedMarkets.ts"

/** Null: no venue has spoken. */
export const layerListedMarketsMemory = (
  all: () => ReadonlyArray<MarketPrices> | null = () => null
): Layer.Layer<ListedMarkets> => Layer.succeed(ListedMarkets, ListedMarkets.of({ all }))
