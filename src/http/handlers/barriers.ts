/** Lists of knock-out contracts, and quotes for closing one (doc 2, Barrier contracts). */
import { Effect, Layer } from "effect"
import { Contracts } from "../../runtime/services/trading/contract/Contracts.ts"
import { Rfqs } from "../../runtime/services/trading/rfq/Rfqs.ts"
import { BarriersApi } from "../api/BarriersApi.ts"
import { feature, handlersOf } from "./feature.ts"
import { orUnknown, writeCall } from "./handler.ts"

export const barriers = feature({
  api: BarriersApi,
  layer: Layer.provide(Contracts.layer, Rfqs.layer),
  handlers: Effect.map(Contracts, (contracts) =>
    handlersOf(BarriersApi, {
      list: ({ caller, params, query: { state = "open", ...page } }) =>
        Effect.map(contracts.list(caller, params.clientId, { state, ...page }), orUnknown),
      close: writeCall(({ caller, params: { clientId, contractId }, body, key, form }) =>
        contracts.close(caller, contractId, { clientId, body, key, form })
      )
    })
  )
})
