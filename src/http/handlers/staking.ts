/** The staking markets and the board of offers (doc 2, Staking). */
import { Effect } from "effect"
import { StakingReads } from "../../runtime/services/market/StakingReads.ts"
import { StakingApi } from "../api/StakingApi.ts"
import { feature, handlersOf } from "./feature.ts"
import { orRefused } from "./handler.ts"

export const staking = feature({
  api: StakingApi,
  layer: StakingReads.layer,
  handlers: Effect.map(StakingReads, (reads) =>
    handlersOf(StakingApi, {
      markets: () => Effect.succeed(orRefused(reads.markets())),
      offers: ({ query }) => Effect.succeed(orRefused(reads.offers(query)))
    })
  )
})
