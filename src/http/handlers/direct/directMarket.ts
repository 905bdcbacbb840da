/** Market data of the direct API, by the handlers of the partner's routes (doc 2, Direct client API summary). */
import { Effect } from "effect"
import { MarketReads } from "../../../runtime/services/market/MarketReads.ts"
import type { DirectPrincipal } from "../../../runtime/services/partners/Principal.ts"
import { DirectMarketApi } from "../../api/direct/DirectMarketApi.ts"
import { directFeature } from "../feature.ts"
import type { Handlers } from "../handler.ts"
import { marketHandlers } from "../market.ts"

export const directMarket = directFeature({
  api: DirectMarketApi,
  handlers: Effect.map(MarketReads, (reads): Handlers<typeof DirectMarketApi, DirectPrincipal> => marketHandlers(reads))
})
