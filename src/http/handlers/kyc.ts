/** A client's KYC package: reads the latest revision, files a further one (doc 1, KYC package and KYC update result). */
import { Effect } from "effect"
import { KycUpdates } from "../../runtime/services/clients/kyc/KycUpdates.ts"
import { KycApi } from "../api/KycApi.ts"
import { feature, handlersOf } from "./feature.ts"
import { orUnknown, write } from "./handler.ts"

export const kyc = feature({
  api: KycApi,
  layer: KycUpdates.layer,
  handlers: Effect.map(KycUpdates, (kyc) =>
    handlersOf(KycApi, {
      update: write(({ caller, params, body }, store) => kyc.update(caller, params.clientId, body, store)),
      get: ({ caller, params }) => Effect.map(kyc.latest(caller.partner.row.id, params.clientId), orUnknown)
    })
  )
})
