/** Handlers of the deposit commands: each is one call of the service the partner surface uses too (operator surface). */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { DepositNotice } from "../../machines/deposit/DepositNotice.ts"
import { parseId } from "../../machines/shared/Ids.ts"
import { refuse, unknown, type Verdict } from "../../machines/shared/Refusal.ts"
import type { DispatchError } from "../../runtime/engine/mailbox/ActorHost.ts"
import { Deposits } from "../../runtime/services/deposit/Deposits.ts"
import type { OperatorCaller } from "../../runtime/services/operator/OperatorKeys.ts"
import { DepositGroup } from "../api/operator/DepositGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer } from "./toOperatorError.ts"

const depositHandlers = HttpApiBuilder.group(
  OperatorApi,
  "deposit",
  Effect.fnUntraced(function* (handlers) {
    const deposits = yield* Deposits
    /** Runs a ruling on the notice that the path names. */
    const onNotice = (
      segment: string,
      run: (caller: OperatorCaller, noticeId: number) => Effect.Effect<Verdict<DepositNotice>, DispatchError>
    ) =>
      Effect.flatMap(currentCaller, (caller) => {
        const noticeId = parseId(segment)
        return answer(
          noticeId === undefined ? Effect.succeed(refuse(unknown("Deposit notice"))) : run(caller, noticeId)
        )
      })
    return handlers.handleAll({
      list: ({ query: { limit = 100, ...rest } }) => answer(deposits.listAll({ limit, ...rest })),
      confirm: ({ params, payload }) =>
        onNotice(params.noticeId, (caller, noticeId) => deposits.confirm(caller, noticeId, payload.note ?? null)),
      reject: ({ params, payload }) =>
        onNotice(params.noticeId, (caller, noticeId) => deposits.reject(caller, noticeId, payload.reason))
    })
  })
)

export const deposit = operatorFeature({ api: DepositGroup, layer: Layer.empty, handlers: depositHandlers })
