/**
 * The listed markets as they stand now, for operators: what may be halted, and what `market list` shows. A service that no
 * venue has ever spoken to knows none.
 */
import { Context } from "effect"
import type { haltFamilies } from "../../machines/market/TradingHalt.ts"

export interface MarketPrices {
  readonly symbol: string
  readonly family: (typeof haltFamilies)[number]
  /** Decimal strings; null: the market has none (yet). */
  readonly last: string | null
  readonly mark: string | null
  readonly index: string | null
  /** Whether the mark may be judged on (F3). */
  readonly fresh: boolean
  /** By the venue. */
  readonly halted: boolean
  readonly delisted: boolean
}

export class ListedMarkets extends Context.Service<
  ListedMarkets,
  {
    /** Null: no list has come from a venue since the start. */
    readonly all: () => ReadonlyArray<MarketPrices> | null
  }
>()("brokerage/runtime/ports/ListedMarkets") {}
