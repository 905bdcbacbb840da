/** Staking swaps of a client: take, explain, read (doc 2, Staking). */
import { Effect } from "effect"
import type { Explanation } from "../../runtime/services/shared/Explanation.ts"
import { Swaps } from "../../runtime/services/trading/swap/Swaps.ts"
import { SwapsApi } from "../api/StakingApi.ts"
import { wireExplanation } from "../explanationWire.ts"
import { feature, handlersOf } from "./feature.ts"
import { done, orRefused, orUnknown, writeCall, writeAs } from "./handler.ts"

export const swaps = feature({
  api: SwapsApi,
  layer: Swaps.layer,
  handlers: Effect.map(Swaps, (service) =>
    handlersOf(SwapsApi, {
      accept: writeCall(({ caller, params: { clientId, offerId }, body, key, form }) =>
        service.take(caller, offerId, { clientId, body, key, form })
      ),
      explain: writeAs(
        (explained: Explanation) => done(wireExplanation(explained)),
        ({ caller, params, body }) => service.explain(caller, params.clientId, params.offerId, body)
      ),
      list: ({ caller, params, query: { state = "live", ...page } }) =>
        Effect.map(service.list(caller, params.clientId, { state, ...page }), orUnknown),
      get: ({ caller, params }) => Effect.map(service.get(caller, params.clientId, params.swapId), orRefused)
    })
  )
})
