/** Handlers of clients, screening, KYC decisions and cases: each is one call of a service (operator surface). */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { parseId } from "../../machines/shared/Ids.ts"
import { refuse, unknown, type Verdict } from "../../machines/shared/Refusal.ts"
import { type DispatchError, Unavailable } from "../../runtime/engine/ActorHost.ts"
import { Compliance } from "../../runtime/services/Compliance.ts"
import { type ClientView, Inspect } from "../../runtime/services/Inspect.ts"
import type { OperatorCaller } from "../../runtime/services/OperatorKeys.ts"
import { WatchLists } from "../../runtime/services/WatchLists.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer, answerOf } from "./toOperatorError.ts"

/** A page as the query names it: the default size where none is asked for. */
const page = (query: { readonly limit?: number; readonly before?: number }, size: number) => ({
  limit: query.limit ?? size,
  ...(query.before === undefined ? {} : { before: query.before })
})

type Decision = (caller: OperatorCaller) => Effect.Effect<Verdict<number>, DispatchError>

/** Runs a decision and answers the client as it is afterwards. */
const decideAndShow = (inspect: Inspect["Service"], decide: Decision) =>
  Effect.flatMap(currentCaller, (caller) =>
    answer(
      Effect.flatMap(decide(caller), (verdict): Effect.Effect<Verdict<ClientView>, DispatchError> =>
        verdict.ok
          ? // The decision is in: a client that can't be shown now must not be answered as "try again".
            Effect.mapError(inspect.client(String(verdict.value)), () => new Unavailable({ unknown: true }))
          : Effect.succeed(verdict)
      )
    )
  )

const ClientHandlers = HttpApiBuilder.group(
  OperatorApi,
  "client",
  Effect.fnUntraced(function* (handlers) {
    const inspect = yield* Inspect
    const compliance = yield* Compliance
    return handlers.handleAll({
      list: ({ query }) =>
        answer(
          inspect.clients({
            ...page(query, 50),
            ...(query.partner === undefined ? {} : { partner: query.partner }),
            ...(query.state === undefined ? {} : { state: query.state })
          })
        ),
      show: ({ params }) => answer(inspect.client(params.client)),
      restrict: ({ params, payload }) =>
        decideAndShow(inspect, (caller) =>
          compliance.restrict(caller, params.client, payload.restriction, payload.reason)
        ),
      lift: ({ params, payload }) =>
        decideAndShow(inspect, (caller) =>
          compliance.lift(caller, params.client, payload.restriction, payload.reason ?? "lifted by the operator")
        )
    })
  })
)

const KycHandlers = HttpApiBuilder.group(
  OperatorApi,
  "kyc",
  Effect.fnUntraced(function* (handlers) {
    const inspect = yield* Inspect
    const compliance = yield* Compliance
    return handlers.handleAll({
      clear: ({ params, payload }) =>
        decideAndShow(inspect, (caller) => compliance.clear(caller, params.client, payload.note ?? null)),
      reject: ({ params, payload }) =>
        decideAndShow(inspect, (caller) => compliance.reject(caller, params.client, payload.reason))
    })
  })
)

const CaseHandlers = HttpApiBuilder.group(
  OperatorApi,
  "case",
  Effect.fnUntraced(function* (handlers) {
    const compliance = yield* Compliance
    return handlers.handleAll({
      list: ({ query }) => answerOf(compliance.cases({ ...page(query, 100), open: query.open === "true" })),
      show: ({ params }) => {
        const caseId = parseId(params.caseId)
        return answer(caseId === undefined ? Effect.succeed(refuse(unknown("Case"))) : compliance.case(caseId))
      }
    })
  })
)

const ScreeningHandlers = HttpApiBuilder.group(
  OperatorApi,
  "screening",
  Effect.fnUntraced(function* (handlers) {
    const watchLists = yield* WatchLists
    return handlers.handleAll({
      add: ({ payload }) => Effect.flatMap(currentCaller, (caller) => answerOf(watchLists.add(caller, payload))),
      list: ({ query }) => answerOf(watchLists.list(page(query, 1_000))),
      remove: ({ params }) =>
        Effect.flatMap(currentCaller, (caller) => {
          const entryId = parseId(params.entryId)
          return answer(
            entryId === undefined
              ? Effect.succeed(refuse(unknown("Watch list entry")))
              : watchLists.remove(caller, entryId)
          )
        })
    })
  })
)

export const ComplianceHandlersLayer = Layer.mergeAll(ClientHandlers, KycHandlers, CaseHandlers, ScreeningHandlers)
