/** Handlers of the quarantine's commands: each is one call of a service (operator surface, venue quarantine). */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { parseId } from "../../machines/shared/Ids.ts"
import { refuse, unknown } from "../../machines/shared/Refusal.ts"
import { QuarantineDesk } from "../../runtime/services/venue/QuarantineDesk.ts"
import { QuarantineGroup } from "../api/operator/QuarantineGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer, answerOf } from "./toOperatorError.ts"

const quarantineHandlers = HttpApiBuilder.group(
  OperatorApi,
  "quarantine",
  Effect.fnUntraced(function* (handlers) {
    const desk = yield* QuarantineDesk
    return handlers.handleAll({
      list: ({ query: { limit = 50, before } }) =>
        answerOf(
          Effect.map(desk.list({ limit, ...(before === undefined ? {} : { before }) }), (events) => ({ events }))
        ),
      drop: ({ params }) =>
        Effect.flatMap(currentCaller, (caller) => {
          const id = parseId(params.quarantineId)
          return answer(id === undefined ? Effect.succeed(refuse(unknown("Quarantined event"))) : desk.drop(caller, id))
        })
    })
  })
)

export const quarantine = operatorFeature({
  api: QuarantineGroup,
  layer: QuarantineDesk.layer,
  handlers: quarantineHandlers
})
