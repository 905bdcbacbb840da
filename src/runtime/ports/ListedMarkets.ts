/**
 * The current listed markets, for operators: markets that may be halted, and the rows of `market list`. Unknown until a venue has
 * sent them.
 */
import { Context } from "effect"
import type { haltFamilies } from "../../machines/market/TradingHalt.ts"

export interface MarketPrices {
  readonly symbol: string
  readonly family: (typeof haltFamilies)[number]
  /** The price of the last trade. All prices are decimal strings, null if the market has none (yet). */
  readonly last: string | null
  readonly mark: string | null
  readonly index: string | null
  /** True if the mark price is recent enough for risk decisions (F3). */
  readonly fresh: boolean
  /** True if the venue has halted the market. */
  readonly halted: boolean
  readonly delisted: boolean
}

export class ListedMarkets extends Context.Service<
  ListedMarkets,
  {
    /** Every known market; null if no venue has sent a list since the start. */
    readonly all: () => ReadonlyArray<MarketPrices> | null
  }
>()("brokerage/runtime/ports/ListedMarkets") {}
