/** Handlers of the appropriateness commands. Each is one call of the service that serves the questionnaire (operator surface). */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Questionnaires } from "../../runtime/services/clients/appropriateness/Questionnaires.ts"
import { AppropriatenessGroup } from "../api/operator/AppropriatenessGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer } from "./toOperatorError.ts"

const appropriatenessHandlers = HttpApiBuilder.group(
  OperatorApi,
  "appropriateness",
  Effect.fnUntraced(function* (handlers) {
    const questionnaires = yield* Questionnaires
    return handlers.handleAll({
      publish: ({ payload }) =>
        Effect.flatMap(currentCaller, (caller) => answer(questionnaires.publish(caller, payload.questionnaire))),
      answers: ({ params }) => answer(Effect.sync(() => questionnaires.answers(params.outcome)))
    })
  })
)

export const appropriateness = operatorFeature({
  api: AppropriatenessGroup,
  layer: Layer.empty,
  handlers: appropriatenessHandlers
})
