/** Handlers of the withdrawal and break commands: each is one call of a service (operator surface). */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { accept, type Verdict } from "../../machines/shared/Refusal.ts"
import { ActorHost, type DispatchError } from "../../runtime/engine/mailbox/ActorHost.ts"
import { findClient } from "../../runtime/services/account/findClient.ts"
import { Approvals } from "../../runtime/services/operations/operator/Approvals.ts"
import { MoneyReads } from "../../runtime/services/operations/operator/MoneyReads.ts"
import { Breaks } from "../../runtime/services/money/breaks/Breaks.ts"
import type { OperatorCaller } from "../../runtime/services/shared/OperatorCaller.ts"
import { Withdrawals } from "../../runtime/services/money/withdrawal/Withdrawals.ts"
import { WithdrawalGroup } from "../api/operator/WithdrawalGroup.ts"
import { BreakGroup } from "../api/operator/BreakGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { onObject } from "./onObject.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer, answerOf } from "./toOperatorError.ts"

/**
 * The steps of a withdrawal request that post money. Each is a part of the ledger key of its posting (withdrawalMachine).
 */
const withdrawalSteps = ["reserve", "out", "release", "fail"]

const maySeeDestinations = ({ role }: OperatorCaller): boolean => role === "ADMIN" || role === "FINANCE"

const withdrawalHandlers = HttpApiBuilder.group(
  OperatorApi,
  "withdrawal",
  Effect.fnUntraced(function* (handlers) {
    const withdrawals = yield* Withdrawals
    const reads = yield* MoneyReads
    const approvals = yield* Approvals
    const onRequest = <A>(
      segment: string,
      run: (caller: OperatorCaller, requestId: number) => Effect.Effect<Verdict<A>, DispatchError>
    ) => onObject("Withdrawal request", segment, run)
    return handlers.handleAll({
      list: ({ query: { limit = 100, ...rest } }) =>
        Effect.flatMap(currentCaller, (caller) =>
          answer(
            Effect.map(withdrawals.listAll({ limit, ...rest }), (verdict) =>
              !verdict.ok || maySeeDestinations(caller)
                ? verdict
                : accept({
                    ...verdict.value,
                    withdrawals: verdict.value.withdrawals.map((row) => ({ ...row, destination: null }))
                  })
            )
          )
        ),
      show: ({ params }) =>
        onRequest(params.requestId, (caller, requestId) =>
          Effect.flatMap(withdrawals.show(requestId), (found) => {
            if (!found.ok) return Effect.succeed(found)
            const request = maySeeDestinations(caller) ? found.value : { ...found.value, destination: null }
            const keys = withdrawalSteps.map((step) => `withdrawal:${requestId}:${step}`)
            return Effect.map(reads.booked(keys), (postings) => accept({ ...request, postings }))
          })
        ),
      approve: ({ params }) =>
        onRequest(params.requestId, (caller, requestId) =>
          approvals.submit(caller, "withdrawal approve", { requestId })
        ),
      pay: ({ params }) =>
        onRequest(params.requestId, (caller, requestId) => approvals.submit(caller, "withdrawal pay", { requestId })),
      reject: ({ params, payload }) =>
        onRequest(params.requestId, (caller, requestId) =>
          withdrawals.rule(caller, requestId, { to: "REJECTED", reason: payload.reason })
        ),
      fail: ({ params, payload }) =>
        onRequest(params.requestId, (caller, requestId) =>
          approvals.submit(caller, "withdrawal fail", { requestId, reason: payload.reason })
        )
    })
  })
)

export const withdrawal = operatorFeature({ api: WithdrawalGroup, layer: Layer.empty, handlers: withdrawalHandlers })

const breakHandlers = HttpApiBuilder.group(
  OperatorApi,
  "break",
  Effect.fnUntraced(function* (handlers) {
    const breaks = yield* Breaks
    const approvals = yield* Approvals
    const host = yield* ActorHost
    const sql = yield* PgClient.PgClient
    const clientNamed = (name: string) => findClient(host, sql, name)
    return handlers.handleAll({
      show: ({ params }) => onObject("Reconciliation break", params.breakId, (_, breakId) => breaks.show(breakId)),
      list: ({ query: { limit = 100, ...rest } }) =>
        answerOf(Effect.map(breaks.list({ limit, ...rest }), (found) => ({ breaks: found }))),
      open: ({ payload }) =>
        Effect.flatMap(currentCaller, (caller) => answer(breaks.open(caller, payload, clientNamed))),
      close: ({ params, payload }) =>
        onObject("Reconciliation break", params.breakId, (caller, breakId) =>
          approvals.submit(caller, "break close", { breakId, reason: payload.reason })
        )
    })
  })
)

export const breaks = operatorFeature({ api: BreakGroup, layer: Layer.empty, handlers: breakHandlers })
