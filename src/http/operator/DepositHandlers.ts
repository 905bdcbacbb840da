/** Handlers of the deposit commands: each is one call of the service that partners use too (operator surface). */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { accept } from "../../machines/shared/Refusal.ts"
import { Deposits } from "../../runtime/services/money/deposit/Deposits.ts"
import { MoneyReads } from "../../runtime/services/operations/operator/MoneyReads.ts"
import { DepositGroup } from "../api/operator/DepositGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { onObject } from "./onObject.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { answer } from "./toOperatorError.ts"

const depositHandlers = HttpApiBuilder.group(
  OperatorApi,
  "deposit",
  Effect.fnUntraced(function* (handlers) {
    const deposits = yield* Deposits
    const reads = yield* MoneyReads
    return handlers.handleAll({
      list: ({ query: { limit = 100, ...rest } }) => answer(deposits.listAll({ limit, ...rest })),
      show: ({ params }) =>
        onObject("Deposit notice", params.noticeId, (_, noticeId) =>
          Effect.flatMap(deposits.show(noticeId), (found) =>
            found.ok
              ? Effect.map(reads.booked([`deposit:${noticeId}`]), (postings) => accept({ ...found.value, postings }))
              : Effect.succeed(found)
          )
        ),
      confirm: ({ params, payload }) =>
        onObject("Deposit notice", params.noticeId, (caller, noticeId) =>
          deposits.confirm(caller, noticeId, payload.note ?? null)
        ),
      reject: ({ params, payload }) =>
        onObject("Deposit notice", params.noticeId, (caller, noticeId) =>
          deposits.reject(caller, noticeId, payload.reason)
        )
    })
  })
)

export const deposit = operatorFeature({ api: DepositGroup, layer: Layer.empty, handlers: depositHandlers })
