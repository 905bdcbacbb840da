/** Handlers of clients, KYC decisions and cases: each is one service call (operator surface). */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { parseId } from "../../machines/shared/Ids.ts"
import { accept, refuse, unknown, type Verdict } from "../../machines/shared/Refusal.ts"
import { type DispatchError, Unavailable } from "../../runtime/engine/mailbox/ActorHost.ts"
import { Payouts } from "../../runtime/services/money/ledger/Payouts.ts"
import { Approvals } from "../../runtime/services/operations/operator/Approvals.ts"
import { Compliance } from "../../runtime/services/clients/compliance/Compliance.ts"
import { type ClientView, Inspect } from "../../runtime/services/operations/operator/Inspect.ts"
import { KycFiles } from "../../runtime/services/clients/kyc/KycFiles.ts"
import { Lifecycle } from "../../runtime/services/lifecycle/Lifecycle.ts"
import type { Categorized } from "../../runtime/services/lifecycle/lifecycleDecisions.ts"
import type { OperatorCaller } from "../../runtime/services/shared/OperatorCaller.ts"
import { ClientGroup } from "../api/operator/ClientGroup.ts"
import { KycGroup } from "../api/operator/KycGroup.ts"
import { CaseGroup } from "../api/operator/CaseGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer } from "./toOperatorError.ts"

/** A page of the query, with the default size when none was sent. */
const page = (query: { readonly limit?: number; readonly before?: number }, size: number) => ({
  limit: query.limit ?? size,
  ...(query.before === undefined ? {} : { before: query.before })
})

type Ruling = (caller: OperatorCaller) => Effect.Effect<Verdict<number>, DispatchError>

/** Reads the client after a decision. The decision is committed already, so a failed read must not invite a retry. */
const decidedOn = (inspect: Inspect["Service"], clientId: number) =>
  Effect.mapError(inspect.client(String(clientId)), () => new Unavailable({ unknown: true }))

/** Runs a decision and returns the client afterwards. */
const ruleAndShow = (inspect: Inspect["Service"], rule: Ruling) =>
  Effect.flatMap(currentCaller, (caller) =>
    answer(
      Effect.flatMap(rule(caller), (verdict): Effect.Effect<Verdict<ClientView>, DispatchError> =>
        verdict.ok ? decidedOn(inspect, verdict.value) : Effect.succeed(verdict)
      )
    )
  )

/** Like `ruleAndShow`, with the effects of a categorization on the account. */
const categorize = (
  inspect: Inspect["Service"],
  rule: (caller: OperatorCaller) => Effect.Effect<Verdict<Categorized>, DispatchError>
) =>
  Effect.flatMap(currentCaller, (caller) =>
    answer(
      Effect.gen(function* () {
        const verdict = yield* rule(caller)
        if (!verdict.ok) return verdict
        const { clientId, change } = verdict.value
        const shown = yield* decidedOn(inspect, clientId)
        return shown.ok ? accept({ ...shown.value, change }) : shown
      })
    )
  )

const clientHandlers = HttpApiBuilder.group(
  OperatorApi,
  "client",
  Effect.fnUntraced(function* (handlers) {
    const inspect = yield* Inspect
    const compliance = yield* Compliance
    const lifecycle = yield* Lifecycle
    const approvals = yield* Approvals
    return handlers.handleAll({
      list: ({ query }) =>
        answer(
          inspect.clients({
            ...page(query, 50),
            ...(query.partner === undefined ? {} : { partner: query.partner }),
            ...(query.state === undefined ? {} : { state: query.state }),
            ...(query.q === undefined ? {} : { q: query.q })
          })
        ),
      show: ({ params }) => answer(inspect.client(params.client)),
      restrict: ({ params, payload }) =>
        ruleAndShow(inspect, (caller) =>
          compliance.restrict(caller, params.client, payload.restriction, payload.reason)
        ),
      lift: ({ params, payload }) =>
        ruleAndShow(inspect, (caller) =>
          compliance.lift(caller, params.client, payload.restriction, payload.reason ?? "lifted by the operator")
        ),
      payout: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) =>
          answer(approvals.submit(caller, "client payout", { ...payload, client: params.client }))
        ),
      close: ({ params, payload }) =>
        ruleAndShow(inspect, (caller) => lifecycle.close(caller, params.client, payload.reason)),
      reopen: ({ params, payload }) =>
        ruleAndShow(inspect, (caller) => lifecycle.reopen(caller, params.client, payload.reason)),
      downgrade: ({ params, payload }) =>
        ruleAndShow(inspect, (caller) => lifecycle.downgrade(caller, params.client, payload.reason)),
      categorize: ({ params, payload }) =>
        categorize(inspect, (caller) => lifecycle.categorize(caller, params.client, { force: false, ...payload }))
    })
  })
)

export const client = operatorFeature({
  api: ClientGroup,
  layer: Layer.merge(Lifecycle.layer, Payouts.layer),
  handlers: clientHandlers
})

const kycHandlers = HttpApiBuilder.group(
  OperatorApi,
  "kyc",
  Effect.fnUntraced(function* (handlers) {
    const inspect = yield* Inspect
    const compliance = yield* Compliance
    const lifecycle = yield* Lifecycle
    const files = yield* KycFiles
    return handlers.handleAll({
      show: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) => answer(files.show(caller, params.client, payload.reason))),
      clear: ({ params, payload }) =>
        ruleAndShow(inspect, (caller) => {
          const { note = null, ...reviewed } = payload
          return compliance.clear(caller, params.client, note, reviewed)
        }),
      reject: ({ params, payload }) =>
        ruleAndShow(inspect, (caller) => compliance.reject(caller, params.client, payload.reason, payload.revision)),
      "reject-person": ({ params, payload }) =>
        ruleAndShow(inspect, (caller) => lifecycle.rejectPerson(caller, params.client, payload.reason)),
      "request-documents": ({ params, payload }) =>
        ruleAndShow(inspect, (caller) => compliance.requestDocuments(caller, params.client, payload.note)),
      sample: ({ params }) => ruleAndShow(inspect, (caller) => compliance.sample(caller, params.client))
    })
  })
)

export const kyc = operatorFeature({ api: KycGroup, layer: KycFiles.layer, handlers: kycHandlers })

const caseHandlers = HttpApiBuilder.group(
  OperatorApi,
  "case",
  Effect.fnUntraced(function* (handlers) {
    const compliance = yield* Compliance
    return handlers.handleAll({
      list: ({ query }) =>
        answer(
          compliance.cases({
            ...page(query, 100),
            open: query.open === "true",
            ...(query.client === undefined ? {} : { client: query.client })
          })
        ),
      show: ({ params }) => {
        const caseId = parseId(params.caseId)
        return answer(caseId === undefined ? Effect.succeed(refuse(unknown("Case"))) : compliance.case(caseId))
      }
    })
  })
)

export const cases = operatorFeature({ api: CaseGroup, layer: Compliance.layer, handlers: caseHandlers })
