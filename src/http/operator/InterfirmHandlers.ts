/** Handlers of the payments between the firms: each is one call of a service (operator surface). */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Interfirm } from "../../runtime/services/money/settlement/Interfirm.ts"
import { MoneyReads } from "../../runtime/services/operations/operator/MoneyReads.ts"
import { Approvals } from "../../runtime/services/operations/operator/Approvals.ts"
import { InterfirmGroup } from "../api/operator/InterfirmGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer } from "./toOperatorError.ts"

const usual = 100

const interfirmHandlers = HttpApiBuilder.group(
  OperatorApi,
  "interfirm",
  Effect.fnUntraced(function* (handlers) {
    const approvals = yield* Approvals
    const reads = yield* MoneyReads
    return handlers.handleAll({
      record: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) =>
          answer(approvals.submit(caller, "interfirm record", { ...payload, partner: params.partner }))
        ),
      list: ({ query: { limit = usual, ...rest } }) => answer(reads.settlements({ limit, ...rest }))
    })
  })
)

export const interfirm = operatorFeature({ api: InterfirmGroup, layer: Interfirm.layer, handlers: interfirmHandlers })
