/** The routes behind level MICA_MIFID (doc 1, Appropriateness and MiFID blocks). */
import { Effect } from "effect"
import { Appropriateness } from "../../runtime/services/clients/appropriateness/Appropriateness.ts"
import { AppropriatenessApi } from "../api/AppropriatenessApi.ts"
import { feature, handlersOf } from "./feature.ts"
import { done, write } from "./handler.ts"

export const appropriateness = feature({
  api: AppropriatenessApi,
  layer: Appropriateness.layer,
  handlers: Effect.map(Appropriateness, (service) =>
    handlersOf(AppropriatenessApi, {
      questionnaire: () => Effect.sync(() => done(service.questionnaire())),
      submit: write(({ caller, params, body }, store) => service.submit(caller, params.clientId, body, store)),
      acknowledge: write(({ caller, params, body }, store) =>
        service.acknowledge(caller, params.clientId, body, store)
      ),
      mifid: write(({ caller, params, body }, store) => service.writeMifid(caller, params.clientId, body, store))
    })
  )
})
