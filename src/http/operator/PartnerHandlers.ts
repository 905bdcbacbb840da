/** Handlers of partners, their keys and the operator's own keys: each is one call of a service (operator surface). */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { parseId } from "../../machines/shared/Ids.ts"
import { refuse, unknown } from "../../machines/shared/Refusal.ts"
import { currentDryRun } from "../../runtime/engine/mailbox/dryRun.ts"
import { Approvals } from "../../runtime/services/operations/operator/Approvals.ts"
import { OperatorKeys } from "../../runtime/services/operations/operator/OperatorKeys.ts"
import { Partners } from "../../runtime/services/lifecycle/Partners.ts"
import { PartnerGroup } from "../api/operator/PartnerGroup.ts"
import { KeyGroup } from "../api/operator/KeyGroup.ts"
import { OperatorGroup } from "../api/operator/OperatorGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { onObject } from "./onObject.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer, answerOf } from "./toOperatorError.ts"

const partnerHandlers = HttpApiBuilder.group(
  OperatorApi,
  "partner",
  Effect.fnUntraced(function* (handlers) {
    const partners = yield* Partners
    const approvals = yield* Approvals
    return handlers.handleAll({
      create: ({ payload }) => Effect.flatMap(currentCaller, (caller) => answer(partners.create(caller, payload))),
      list: () => answerOf(Effect.map(partners.list, (list) => ({ partners: list }))),
      show: ({ params }) => answer(partners.show(params.partner)),
      status: ({ params, payload: { status, reason } }) =>
        currentDryRun() !== null && status === "CLOSED"
          ? answer(partners.closingBlockers(params.partner))
          : Effect.flatMap(currentCaller, (caller) => answer(partners.status(caller, params.partner, status, reason))),
      custody: ({ params, payload }) =>
        currentDryRun() !== null
          ? answer(partners.custodyBlockers(params.partner, payload))
          : Effect.flatMap(currentCaller, (caller) =>
              answer(approvals.submit(caller, "partner custody", { ...payload, partner: params.partner }))
            ),
      reliance: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) =>
          answer(partners.reliance(caller, params.partner, payload.status, payload.reason))
        ),
      limits: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) => answer(partners.limits(caller, params.partner, payload))),
      cidrs: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) => answer(partners.cidrs(caller, params.partner, payload.cidrs)))
    })
  })
)

export const partner = operatorFeature({ api: PartnerGroup, layer: Layer.empty, handlers: partnerHandlers })

const keyHandlers = HttpApiBuilder.group(
  OperatorApi,
  "key",
  Effect.fnUntraced(function* (handlers) {
    const partners = yield* Partners
    const approvals = yield* Approvals
    return handlers.handleAll({
      issue: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) =>
          answer(approvals.submit(caller, "key issue", { ...payload, partner: params.partner }))
        ),
      list: ({ params }) =>
        answer(
          Effect.map(partners.keys(params.partner), (verdict) =>
            verdict.ok ? { ...verdict, value: { keys: verdict.value } } : verdict
          )
        ),
      show: ({ params }) => onObject("Key", params.keyId, (_, keyId) => partners.key(keyId)),
      revoke: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) => {
          const keyId = parseId(params.keyId)
          return answer(
            keyId === undefined
              ? Effect.succeed(refuse(unknown("Key")))
              : partners.revokeKey(caller, keyId, payload.reason ?? revoked)
          )
        })
    })
  })
)

export const key = operatorFeature({ api: KeyGroup, layer: Layer.empty, handlers: keyHandlers })

const operatorHandlers = HttpApiBuilder.group(
  OperatorApi,
  "operator",
  Effect.fnUntraced(function* (handlers) {
    const operators = yield* OperatorKeys
    return handlers.handleAll({
      create: ({ payload }) => Effect.flatMap(currentCaller, (caller) => answerOf(operators.create(caller, payload))),
      list: () => answerOf(Effect.map(operators.list, (list) => ({ operators: list }))),
      revoke: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) => {
          const operatorId = parseId(params.operatorId)
          return answer(
            operatorId === undefined
              ? Effect.succeed(refuse(unknown("Operator key")))
              : operators.revoke(caller, operatorId, payload.reason ?? revoked)
          )
        })
    })
  })
)

export const operator = operatorFeature({ api: OperatorGroup, layer: Layer.empty, handlers: operatorHandlers })

/** The reason that the machine requires; the command has no field for one. */
const revoked = "revoked by the operator"
