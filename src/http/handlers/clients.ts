/**
 * Routes of clients: onboarding, list, one client, and search by reference (doc 1, Client row and Onboarding request; A1-14).
 */
import { Effect, Layer } from "effect"
import { Clients } from "../../runtime/services/clients/client/Clients.ts"
import { Onboarding } from "../../runtime/services/clients/client/Onboarding.ts"
import { ClientsApi } from "../api/ClientsApi.ts"
import { feature, handlersOf } from "./feature.ts"
import { done, orUnknown, write } from "./handler.ts"

export const clients = feature({
  api: ClientsApi,
  layer: Layer.merge(Clients.layer, Onboarding.layer),
  handlers: Effect.gen(function* () {
    const clients = yield* Clients
    const onboarding = yield* Onboarding
    return handlersOf(ClientsApi, {
      // An empty search text counts as absent.
      list: ({ caller, query: { q = "", ...rest } }) =>
        Effect.map(clients.list(caller.partner.row.id, q === "" ? rest : { ...rest, q }), done),
      get: ({ caller, params }) => Effect.map(clients.get(caller.partner.row.id, params.clientId), orUnknown),
      getByRef: ({ caller, params }) =>
        Effect.map(clients.byRef(caller.partner.row.id, params.partnerClientRef), orUnknown),
      create: write(({ caller, body }, store) => onboarding.onboard(caller, body, store))
    })
  })
})
