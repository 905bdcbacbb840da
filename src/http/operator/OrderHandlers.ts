/** Handlers of the order and position commands: each is one call of a service (operator surface). */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { cleanText } from "../../machines/shared/Text.ts"
import { OrderDesk } from "../../runtime/services/trading/order/OrderDesk.ts"
import { OrderGroup } from "../api/operator/OrderGroup.ts"
import { PositionGroup } from "../api/operator/PositionGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer } from "./toOperatorError.ts"

const usual = 100

const orderHandlers = HttpApiBuilder.group(
  OperatorApi,
  "order",
  Effect.fnUntraced(function* (handlers) {
    const desk = yield* OrderDesk
    return handlers.handleAll({
      list: ({ params, query: { limit = usual, open, ...rest } }) =>
        answer(desk.list(params.client, { limit, ...rest, open: open === "true" })),
      show: ({ params }) => answer(desk.show(params.orderId)),
      cancel: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) =>
          answer(desk.cancel(caller, params.orderId, cleanText(payload.reason)))
        )
    })
  })
)

const positionHandlers = HttpApiBuilder.group(
  OperatorApi,
  "position",
  Effect.fnUntraced(function* (handlers) {
    const desk = yield* OrderDesk
    return handlers.handleAll({ list: ({ params }) => answer(desk.positions(params.client)) })
  })
)

export const order = operatorFeature({ api: OrderGroup, layer: OrderDesk.layer, handlers: orderHandlers })
export const position = operatorFeature({ api: PositionGroup, layer: Layer.empty, handlers: positionHandlers })
