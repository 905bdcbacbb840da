/** The margin of one client, and the leverage of its perpetuals (doc 2, Margin picture). */
import { Effect, Layer } from "effect"
import { Margin } from "../../runtime/services/margin/Margin.ts"
import { Leverages } from "../../runtime/services/trading/order/Leverages.ts"
import { Orders } from "../../runtime/services/trading/order/Orders.ts"
import { MarginApi } from "../api/MarginApi.ts"
import { refusingPreview } from "../../machines/order/orderRefusals.ts"
import { feature, handlersOf } from "./feature.ts"
import { orRefused, sharedOrRefused, write } from "./handler.ts"

export const margin = feature({
  api: MarginApi,
  layer: Layer.mergeAll(Margin.layer, Leverages.layer, Orders.layer),
  handlers: Effect.map(Effect.all([Margin, Leverages, Orders]), ([service, leverages, orders]) =>
    handlersOf(MarginApi, {
      picture: ({ caller, params }) =>
        Effect.mapEager(service.picture(caller.partner.row.id, params.clientId), sharedOrRefused),
      preview: write(({ caller, params, body }) => orders.preview(caller, params.clientId, body), {
        refusing: refusingPreview
      }),
      leverage: ({ caller, params, query }) =>
        Effect.map(leverages.view(caller, params.clientId, query.symbol), orRefused),
      chooseLeverage: write(({ caller, params: { clientId }, body }, store) =>
        leverages.change(caller, { clientId, body, store })
      ),
      postLeverage: write(({ caller, params: { clientId }, body }, store) =>
        leverages.change(caller, { clientId, body, store })
      )
    })
  )
})
