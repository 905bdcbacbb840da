/** Market data of the direct API, by the handlers of the partner's routes (doc 2, Direct client API summary). */
import { Effect } from "effect"
import { MarketReads } from "../../../runtime/services/market/MarketReads.ts"
import type { DirectPrincipal } from "../../../runtime/services/partners/Principal.ts"
import { DirectMarketApi } from "../../api/direct/DirectMarketApi.ts"
import { partOf } from "../feature.ts"
import { marketHandlers } from "../market.ts"

export const directMarket = partOf<DirectPrincipal, typeof DirectMarketApi, MarketReads>({
  api: DirectMarketApi,
  handlers: Effect.map(MarketReads, marketHandlers)
})
