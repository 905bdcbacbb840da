/** A client's level, blocks and open requirements (doc 1, Verification view). */
import { Effect } from "effect"
import { Clients } from "../../runtime/services/clients/client/Clients.ts"
import { VerificationApi } from "../api/VerificationApi.ts"
import { feature, handlersOf } from "./feature.ts"
import { orUnknown } from "./handler.ts"

export const verification = feature({
  api: VerificationApi,
  layer: Clients.layer,
  handlers: Effect.map(Clients, (clients) =>
    handlersOf(VerificationApi, {
      get: ({ caller, params }) => Effect.map(clients.verification(caller.partner.row.id, params.clientId), orUnknown)
    })
  )
})
