/** Handlers of the encryption keys: each is one call of the service that rotates them (operator surface). */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { KeyRotation } from "../../runtime/services/operations/operator/KeyRotation.ts"
import { EncryptionGroup } from "../api/operator/EncryptionGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer, answerOf } from "./toOperatorError.ts"

const encryptionHandlers = HttpApiBuilder.group(
  OperatorApi,
  "encryption",
  Effect.fnUntraced(function* (handlers) {
    const rotation = yield* KeyRotation
    return handlers.handleAll({
      show: () => answerOf(rotation.show),
      rotate: () => Effect.flatMap(currentCaller, (caller) => answer(rotation.rotate(caller)))
    })
  })
)

export const encryption = operatorFeature({ api: EncryptionGroup, layer: Layer.empty, handlers: encryptionHandlers })
