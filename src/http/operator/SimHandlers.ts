/** Handlers of the sandbox's checks and its reset (operator surface, sim verify, sim reset). */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { accept } from "../../machines/shared/Refusal.ts"
import { Settings } from "../../runtime/Settings.ts"
import { SandboxReset } from "../../runtime/services/operations/system/SandboxReset.ts"
import { VenueAgreement } from "../../runtime/services/operations/system/VenueAgreement.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { SimGroup } from "../api/operator/SimGroup.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer } from "./toOperatorError.ts"

const simHandlers = HttpApiBuilder.group(
  OperatorApi,
  "sim",
  Effect.fnUntraced(function* (handlers) {
    const agreement = yield* VenueAgreement
    const sandbox = yield* SandboxReset
    const fourEyes = [...(yield* Settings).fourEyes]
    return handlers.handleAll({
      verify: () => answer(agreement.verify),
      life: () => answer(Effect.map(sandbox.show, (state) => accept({ ...state, fourEyes }))),
      reset: () => Effect.flatMap(currentCaller, (caller) => answer(sandbox.reset(caller)))
    })
  })
)

export const sim = operatorFeature({
  api: SimGroup,
  layer: Layer.merge(VenueAgreement.layer, SandboxReset.layer),
  handlers: simHandlers
})
