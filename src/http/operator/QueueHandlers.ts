/** The handler of `queue`: the waiting items, and whether the key of the caller may decide them (operator surface, queue). */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { OperatorCaller } from "../../runtime/services/shared/OperatorCaller.ts"
import { WaitingQueue, type WaitingItem } from "../../runtime/services/operations/operator/WaitingQueue.ts"
import { mayRun } from "../api/operator/commands.ts"
import { QueueGroup } from "../api/operator/QueueGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answerOf } from "./toOperatorError.ts"

const usual = 100

/** Whether the operator may decide the item. No operator may grant its own request, or a command that its role may not run. */
const mayDecide = ({ role, keyId }: OperatorCaller, { command, guards, requestedBy }: WaitingItem): boolean =>
  mayRun(role, command) && (guards === null || mayRun(role, guards)) && requestedBy !== keyId

const queueHandlers = HttpApiBuilder.group(
  OperatorApi,
  "queue",
  Effect.fnUntraced(function* (handlers) {
    const queue = yield* WaitingQueue
    return handlers.handleAll({
      show: ({ query: { limit = usual, ...rest } }) =>
        Effect.flatMap(currentCaller, (caller) =>
          answerOf(
            Effect.map(queue.read({ limit, ...rest }), ({ waiting, ...read }) => ({
              ...read,
              waiting: waiting.map(({ guards, requestedBy, ...item }) => ({
                ...item,
                mayDecide: mayDecide(caller, { ...item, guards, requestedBy })
              }))
            }))
          )
        )
    })
  })
)

export const queue = operatorFeature({ api: QueueGroup, layer: WaitingQueue.layer, handlers: queueHandlers })
