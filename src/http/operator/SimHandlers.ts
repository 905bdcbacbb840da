/** The handler of the sandbox's proofs (operator surface, sim verify). */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { VenueAgreement } from "../../runtime/services/system/VenueAgreement.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { SimGroup } from "../api/operator/SimGroup.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { answer } from "./toOperatorError.ts"

const simHandlers = HttpApiBuilder.group(
  OperatorApi,
  "sim",
  Effect.fnUntraced(function* (handlers) {
    const agreement = yield* VenueAgreement
    return handlers.handleAll({ verify: () => answer(agreement.verify) })
  })
)

export const sim = operatorFeature({ api: SimGroup, layer: VenueAgreement.layer, handlers: simHandlers })
