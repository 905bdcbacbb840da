/** Handlers of the swap commands: each is one call of a service (operator surface). */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { cleanText } from "../../machines/shared/Text.ts"
import { Approvals } from "../../runtime/services/operations/operator/Approvals.ts"
import { SwapDesk } from "../../runtime/services/trading/swap/SwapDesk.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { SwapGroup } from "../api/operator/SwapGroup.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { onObject } from "./onObject.ts"
import { answer } from "./toOperatorError.ts"

const usual = 100

const swapHandlers = HttpApiBuilder.group(
  OperatorApi,
  "swap",
  Effect.fnUntraced(function* (handlers) {
    const desk = yield* SwapDesk
    const approvals = yield* Approvals
    return handlers.handleAll({
      list: ({ query: { limit = usual, ...rest } }) => answer(desk.list({ limit, ...rest })),
      show: ({ params }) => answer(desk.show(params.swapId)),
      writeoff: ({ params, payload: { amount, reason } }) =>
        onObject("Swap", params.swapId.replace(/^S-/, ""), (caller, swapId) =>
          approvals.submit(caller, "swap writeoff", { swapId, amount, reason: cleanText(reason) })
        )
    })
  })
)

export const swap = operatorFeature({ api: SwapGroup, layer: SwapDesk.layer, handlers: swapHandlers })
