/** Handlers of the encryption keys: each is one call of the service that rotates them (operator surface). */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { KeyRotation } from "../../runtime/services/operator/KeyRotation.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer, answerOf } from "./toOperatorError.ts"

export const EncryptionHandlersLayer = HttpApiBuilder.group(
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
