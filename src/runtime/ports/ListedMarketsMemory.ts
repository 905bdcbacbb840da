/** A fixed list of markets, for tests, simulations, and a service without a venue. */
import { Layer } from "effect"
import { type MarketPrices, ListedMarkets } from "./ListedMarkets.ts"

/** Provides this list of markets; null stands for a service whose venue has sent no list. */
export const layerListedMarketsMemory = (
  all: () => ReadonlyArray<MarketPrices> | null = () => null
): Layer.Layer<ListedMarkets> => Layer.succeed(ListedMarkets, ListedMarkets.of({ all }))
