/** Requests for quotes on knock-out contracts (doc 2, Barrier contracts). */
import { Effect } from "effect"
import type { Explanation } from "../../runtime/services/shared/Explanation.ts"
import { Rfqs } from "../../runtime/services/trading/rfq/Rfqs.ts"
import { RfqApi } from "../api/RfqApi.ts"
import { wireExplanation } from "../explanationWire.ts"
import { toWire, type WireRefusal } from "../../machines/shared/wireRefusal.ts"
import { feature, handlersOf } from "./feature.ts"
import { done, orRefused, orUnknown, write, writeCall, writeAs } from "./handler.ts"
import type { Refusal } from "../../machines/shared/Refusal.ts"

export const rfq = feature({
  api: RfqApi,
  layer: Rfqs.layer,
  handlers: Effect.map(Rfqs, (rfqs) =>
    handlersOf(RfqApi, {
      request: writeCall(({ caller, params: { clientId }, body, key, form }) =>
        rfqs.request(caller, { clientId, body, key, form })
      ),
      preview: write(({ caller, params, body }) => rfqs.preview(caller, params.clientId, body)),
      explain: writeAs(
        (explained: Explanation) => done(wireExplanation(explained)),
        ({ caller, params, body }) => rfqs.explain(caller, params.clientId, body)
      ),
      list: ({ caller, params }) => Effect.map(rfqs.list(caller, params.clientId), orUnknown),
      get: ({ caller, params }) => Effect.map(rfqs.get(caller, params.clientId, params.rfqId), orRefused),
      accept: writeCall(({ caller, params: { clientId, rfqId }, body, key, form }) =>
        rfqs.accept(caller, rfqId, { clientId, body, key, form })
      ),
      cancel: write(({ caller, params }) => rfqs.cancel(caller, params.clientId, params.rfqId), {
        lookUp: ({ caller, params }) => Effect.map(rfqs.missing(caller, params.clientId, params.rfqId), wireOf)
      })
    })
  )
})

const wireOf = (refusal: Refusal | null): WireRefusal | null => (refusal === null ? null : toWire(refusal))
