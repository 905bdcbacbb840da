/** Orders of a client: place, read, cancel, explain (doc 2, Orders). */
import { Effect, Layer } from "effect"
import { type Refusal } from "../../machines/shared/Refusal.ts"
import type { Explanation } from "../../runtime/services/shared/Explanation.ts"
import { OrderReads } from "../../runtime/services/trading/order/OrderReads.ts"
import { Orders } from "../../runtime/services/trading/order/Orders.ts"
import { OrdersApi } from "../api/OrdersApi.ts"
import { wireExplanation } from "../explanationWire.ts"
import { refusingOrder } from "../../machines/order/orderRefusals.ts"
import { toWire, type WireRefusal } from "../../machines/shared/wireRefusal.ts"
import { feature, handlersOf } from "./feature.ts"
import { done, orUnknown, write, writeCall, writeAs } from "./handler.ts"

export const orders = feature({
  api: OrdersApi,
  layer: Layer.merge(Orders.layer, OrderReads.layer),
  handlers: Effect.map(Effect.all([Orders, OrderReads]), ([service, reads]) =>
    handlersOf(OrdersApi, {
      place: writeCall(
        ({ caller, params: { clientId }, body, key, form }) => service.place(caller, { clientId, body, key, form }),
        { refusing: refusingOrder }
      ),
      list: ({ caller, params, query }) =>
        Effect.map(reads.list(caller.partner.row.id, params.clientId, query), orUnknown),
      open: ({ caller, params }) => Effect.map(reads.open(caller.partner.row.id, params.clientId), orUnknown),
      cancel: write(({ caller, params }) => service.cancel(caller, params.clientId, params.orderId), {
        lookUp: ({ caller, params }) => Effect.map(service.missing(caller, params.clientId, params.orderId), wireOf)
      }),
      explain: writeAs(
        (explained: Explanation) => done(wireExplanation(explained)),
        ({ caller, params, body }) => service.explain(caller, params.clientId, body)
      )
    })
  )
})

const wireOf = (refusal: Refusal | null): WireRefusal | null => (refusal === null ? null : toWire(refusal))
