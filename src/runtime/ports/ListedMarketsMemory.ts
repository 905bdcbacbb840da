/** Given markets, for tests, simulations, and a service without a venue. */
import { Layer } from "effect"
import { type MarketPrices, ListedMarkets } from "./ListedMarkets.ts"

/** Null: no venue has sent a list. */
export const layerListedMarketsMemory = (
  all: () => ReadonlyArray<MarketPrices> | null = () => null
): Layer.Layer<ListedMarkets> => Layer.succeed(ListedMarkets, ListedMarkets.of({ all }))
