/** The margin of one client (doc 2, Margin picture). */
import { Effect } from "effect"
import { Margin } from "../../runtime/services/margin/Margin.ts"
import { MarginApi } from "../api/MarginApi.ts"
import { feature, handlersOf } from "./feature.ts"
import { orRefused } from "./handler.ts"

export const margin = feature({
  api: MarginApi,
  layer: Margin.layer,
  handlers: Effect.map(Margin, (service) =>
    handlersOf(MarginApi, {
      picture: ({ caller, params }) => Effect.map(service.picture(caller.partner.row.id, params.clientId), orRefused)
    })
  )
})
