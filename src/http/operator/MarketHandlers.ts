/** Handlers of the market commands: each is one call of a service (operator surface, market). */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { MarketHalts } from "../../runtime/services/market/MarketHalts.ts"
import { MarketGroup } from "../api/operator/MarketGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer, answerOf } from "./toOperatorError.ts"

const marketHandlers = HttpApiBuilder.group(
  OperatorApi,
  "market",
  Effect.fnUntraced(function* (handlers) {
    const halts = yield* MarketHalts
    return handlers.handleAll({
      list: () => answerOf(Effect.sync(halts.list)),
      halt: ({ payload: { until = null, ...request } }) =>
        Effect.flatMap(currentCaller, (caller) => answer(halts.halt(caller, { ...request, until }))),
      resume: ({ payload }) => Effect.flatMap(currentCaller, (caller) => answer(halts.resume(caller, payload.scope)))
    })
  })
)

export const market = operatorFeature({ api: MarketGroup, layer: Layer.empty, handlers: marketHandlers })
