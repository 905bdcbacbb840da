/**
 * The partner surface of a simulated process without sockets. It checks credential, suspension, reliance, client and
 * Idempotency-Key in the order of the dispatcher, with the real middleware and handlers (A1-02, A1-51..A1-53).
 */
import { Cause, Effect, Exit, Option } from "effect"
import { createHash } from "node:crypto"
import { renderRefusal, isKept, type Rendered } from "../../src/machines/shared/answerText.ts"
import { partnerPrefix } from "../../src/http/api/PartnerApi.ts"
import { handlersByOperation } from "../../src/http/handlers/handlersByOperation.ts"
import { appropriateness } from "../../src/http/handlers/appropriateness.ts"
import { barriers } from "../../src/http/handlers/barriers.ts"
import { clients } from "../../src/http/handlers/clients.ts"
import { collateral } from "../../src/http/handlers/collateral.ts"
import { deposits } from "../../src/http/handlers/deposits.ts"
import { documents } from "../../src/http/handlers/documents.ts"
import type { AnyHandlers, AnyWrite, Served } from "../../src/http/handlers/feature.ts"
import { kyc } from "../../src/http/handlers/kyc.ts"
import { margin } from "../../src/http/handlers/margin.ts"
import { orders } from "../../src/http/handlers/orders.ts"
import { rfq } from "../../src/http/handlers/rfq.ts"
import { SettlementReports } from "../../src/runtime/services/money/settlement/SettlementReports.ts"
import { settlement } from "../../src/http/handlers/settlement.ts"
import { swaps } from "../../src/http/handlers/swaps.ts"
import { withdrawals } from "../../src/http/handlers/withdrawals.ts"
import { webhook } from "../../src/http/handlers/webhook.ts"
import { type Ended, fingerprintOf, type Idempotency } from "../../src/http/middleware/idempotency.ts"
import { type RouteMatch, RouteTable } from "../../src/http/middleware/routes.ts"
import { defect, gateRefusals, type WireRefusal } from "../../src/machines/shared/wireRefusal.ts"
import { ActorHost, CallerBarred, type DispatchError, Unavailable } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { type Caller, partnerAttribution } from "../../src/runtime/services/partners/Caller.ts"
import { Clients } from "../../src/runtime/services/clients/client/Clients.ts"
import { type KeyedRequest, answerRow } from "../../src/runtime/services/shared/KeyedRequest.ts"
import type { PartnerPrincipal } from "../../src/runtime/services/partners/Principal.ts"
import { Directory } from "../../src/runtime/services/partners/Directory.ts"
import { Onboarding } from "../../src/runtime/services/clients/client/Onboarding.ts"
import { sealing, type Services, type SimProcess } from "./SimProcess.ts"

/** One request of a partner; a repetition is the same object. */
export interface PartnerCall {
  readonly id: string
  readonly partner: string
  readonly method: "POST" | "PUT" | "DELETE"
  readonly path: string
  readonly body: unknown
  /** The Idempotency-Key. */
  readonly key: string | null
}

export interface PartnerAnswer extends Rendered {
  readonly replayed: boolean
}

/** Answers a call in a process. Calls `done` inside the process when the bytes would leave. */
export const answerCall = (
  process: SimProcess,
  secret: string,
  call: PartnerCall,
  done: (answer: PartnerAnswer) => void
): void => {
  process.run(serve(process, secret, call), (exit) => done(Exit.isSuccess(exit) ? exit.value : failed(exit.cause)))
}

const refused = (refusal: WireRefusal): PartnerAnswer => ({ ...renderRefusal(refusal), replayed: false })

/** The fingerprint of the request alone. The store must have it for a keyed answer. */
export const fingerprintOfCall = (call: PartnerCall): string => {
  let known = fingerprints.get(call)
  if (known === undefined) {
    known = fingerprintOf(sealing.quickFingerprint, call.method, call.path, call.body)
    fingerprints.set(call, known)
  }
  return known
}

/** Fingerprints by call, so that a call that is sent and audited several times is hashed once. */
const fingerprints = new WeakMap<PartnerCall, string>()

const serve = (
  { idempotency }: SimProcess,
  secret: string,
  call: PartnerCall
): Effect.Effect<PartnerAnswer, DispatchError, Services> =>
  Effect.gen(function* () {
    const found = (yield* Directory).credential(createHash("sha256").update(secret).digest("hex"))
    if (found === null) return refused(gateRefusals.unauthorized)
    if (found.partner.row.state === "SUSPENDED") return refused(gateRefusals.suspended)
    const match = routes.match(call.method, call.path)
    if (match === null) return refused(gateRefusals.route)
    const caller = { ...found, by: partnerAttribution(found.partner, found.key, call.id) }
    const write = (yield* allWrites)[match.route.operation] as AnyWrite<PartnerPrincipal>
    const run = (key: KeyedRequest | null) => beforeService(caller, match, write, call, key)
    if (call.key === null || !match.route.rules.idempotent) {
      return { ...(yield* run(null)), replayed: false }
    }
    const principal = `partner:${caller.partner.row.id}` as const
    const request = { principal, key: call.key, fingerprint: fingerprintOfCall(call) }
    const services = yield* Effect.context<Services>()
    return yield* (idempotency as Idempotency).answer(request, () => Effect.provideContext(run(request), services), {
      readFirst: write.manyCommits === true
    })
  })

/**
 * The order of the dispatcher: reliance and client, then the service, which stores its answer under the Idempotency-Key
 * if there is one.
 */
const beforeService = (
  caller: Caller,
  { route, params }: RouteMatch,
  write: AnyWrite<PartnerPrincipal>,
  call: PartnerCall,
  key: KeyedRequest | null
) =>
  Effect.gen(function* () {
    const host = yield* ActorHost
    const clock = yield* BusinessClock
    const record = (answer: Rendered): Effect.Effect<Ended, DispatchError> => {
      if (key === null || !isKept(answer)) return Effect.succeed(answer)
      const row = answerRow(key, answer, clock.now())
      return Effect.as(host.record({ answers: [row] }), row)
    }
    if (route.rules.reliance && caller.partner.reliance !== "APPROVED") {
      return yield* record(renderRefusal(gateRefusals.reliance))
    }
    if (route.ofClient) {
      const owned = yield* (yield* Clients).owns(caller.partner.row.id, params["clientId"] as number)
      if (!owned) return yield* record(renderRefusal(gateRefusals.unknownClient))
    }
    const ended = yield* write.run({
      caller,
      params,
      body: call.body,
      text: JSON.stringify(call.body),
      key,
      form: route.form
    })
    return "answeredAt" in ended ? ended : yield* record(ended)
  })

const unasked = () => Effect.die(new Error("a simulation writes alone"))
/** These reads need a database, which a simulation does not have. */
const reports = SettlementReports.of({ report: unasked, summary: unasked, interfirm: unasked })

/** The features that a simulation serves. */
const simulated: ReadonlyArray<Served<PartnerPrincipal, Services>> = [
  clients,
  collateral,
  deposits,
  withdrawals,
  kyc,
  appropriateness,
  documents,
  rfq,
  barriers,
  orders,
  swaps,
  margin,
  { ...settlement, handlers: Effect.provideService(settlement.handlers, SettlementReports, reports) },
  webhook
]
const routes = new RouteTable(
  partnerPrefix,
  simulated.map(({ api }) => api)
)

const made = new WeakMap<object, AnyHandlers<PartnerPrincipal>>()

/** The handlers by operation id, built once for each process. */
const allWrites = Effect.gen(function* () {
  const process = yield* Onboarding
  let handlers = made.get(process)
  if (handlers === undefined) {
    handlers = yield* handlersByOperation(simulated, routes)
    made.set(process, handlers)
  }
  return handlers
})

const failed = (cause: Cause.Cause<DispatchError>): PartnerAnswer => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error instanceof Unavailable) return refused(gateRefusals.unavailable)
  if (error instanceof CallerBarred) {
    return refused(error.state === "SUSPENDED" ? gateRefusals.suspended : gateRefusals.unauthorized)
  }
  return refused(defect(Cause.pretty(cause)))
}
