/** Results of a client's orders: positions, trades, closed positions (doc 2, Order). */
import { Effect } from "effect"
import { OrderReads } from "../../runtime/services/trading/order/OrderReads.ts"
import { PositionsApi } from "../api/PositionsApi.ts"
import { feature, handlersOf } from "./feature.ts"
import { orUnknown } from "./handler.ts"

export const positions = feature({
  api: PositionsApi,
  layer: OrderReads.layer,
  handlers: Effect.map(OrderReads, (reads) =>
    handlersOf(PositionsApi, {
      list: ({ caller, params }) => Effect.map(reads.positions(caller.partner.row.id, params.clientId), orUnknown),
      trades: ({ caller, params, query }) =>
        Effect.map(reads.trades(caller.partner.row.id, params.clientId, query), orUnknown),
      history: ({ caller, params, query }) =>
        Effect.map(reads.history(caller.partner.row.id, params.clientId, query), orUnknown)
    })
  )
})
