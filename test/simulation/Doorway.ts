/**
 * The way into a simulated process for partners: credential, suspension, reliance, client, idempotency and service in the
 * order of the dispatcher, over the same middleware and handlers, without sockets (A1-02, A1-51..A1-53).
 */
import { Cause, Context, Effect, Exit, Option } from "effect"
import { createHash } from "node:crypto"
import { settlementWrites } from "../../src/http/handlers/settlement.ts"
import { webhookWrites } from "../../src/http/handlers/webhook.ts"
import { renderRefusal, type Write, writes } from "../../src/http/handlers/writes.ts"
import {
  type AnswerSlot,
  type Ended,
  fingerprintOf,
  type Idempotency,
  isKept,
  type Rendered
} from "../../src/http/middleware/idempotency.ts"
import { matchRoute, type RouteMatch } from "../../src/http/middleware/routes.ts"
import { defect, gateRefusals, type WireRefusal } from "../../src/http/toWire.ts"
import { ActorHost, CallerBarred, type DispatchError, Unavailable } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { type Caller, partnerAttribution } from "../../src/runtime/services/partner/Caller.ts"
import { BulkReports } from "../../src/runtime/services/settlement/BulkReports.ts"
import { Clients } from "../../src/runtime/services/client/Clients.ts"
import { CollateralReports } from "../../src/runtime/services/collateral/CollateralReports.ts"
import { Directory } from "../../src/runtime/services/partner/Directory.ts"
import { Onboarding } from "../../src/runtime/services/client/Onboarding.ts"
import { SettlementItems } from "../../src/runtime/services/settlement/SettlementItems.ts"
import { Webhooks } from "../../src/runtime/services/webhook/Webhooks.ts"
import { sealing, type Services, type SimProcess } from "./SimProcess.ts"

/** One request of a partner; sent again it is the same request. */
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

/** Answers a call in a process; `done` is told there, at the moment the bytes would leave. */
export const answerCall = (
  process: SimProcess,
  secret: string,
  call: PartnerCall,
  done: (answer: PartnerAnswer) => void
): void => {
  process.run(serve(process, secret, call), (exit) => done(Exit.isSuccess(exit) ? exit.value : failed(exit.cause)))
}

const refused = (refusal: WireRefusal): PartnerAnswer => ({ ...renderRefusal(refusal), replayed: false })

/** The fingerprint of nothing but the request: what the store must show for a keyed answer. */
export const fingerprintOfCall = ({ method, path, body }: PartnerCall): string =>
  fingerprintOf(sealing.quickFingerprint, method, path, body)

const serve = (
  { idempotency }: SimProcess,
  secret: string,
  call: PartnerCall
): Effect.Effect<PartnerAnswer, DispatchError, Services> =>
  Effect.gen(function* () {
    const found = (yield* Directory).credential(createHash("sha256").update(secret).digest("hex"))
    if (found === null) return refused(gateRefusals.unauthorized)
    if (found.partner.row.state === "SUSPENDED") return refused(gateRefusals.suspended)
    const match = matchRoute(call.method, call.path)
    if (match === null) return refused(gateRefusals.route)
    const caller = { ...found, by: partnerAttribution(found.partner, found.key, call.id) }
    const run = (slot: AnswerSlot | null) => beforeService(caller, match, call, slot)
    if (call.key === null || !match.route.rules.idempotent) {
      return { ...(yield* run(null)), replayed: false }
    }
    const request = {
      principal: `partner:${caller.partner.row.id}`,
      key: call.key,
      fingerprint: fingerprintOfCall(call)
    } as const
    const services = yield* Effect.context<Services>()
    const lookFirst = (yield* allWrites)[match.route.operation]?.manyCommits === true
    return yield* (idempotency as Idempotency).answer(request, (slot) => Effect.provideContext(run(slot), services), {
      lookFirst
    })
  })

/** As the dispatcher: reliance and client first, then the service, whose answer is stored when there is a slot. */
const beforeService = (caller: Caller, match: RouteMatch, call: PartnerCall, slot: AnswerSlot | null) =>
  Effect.gen(function* () {
    const host = yield* ActorHost
    const clock = yield* BusinessClock
    const record = (answer: Rendered): Effect.Effect<Ended, DispatchError> => {
      if (slot === null || !isKept(answer)) return Effect.succeed(answer)
      const row = slot.row(answer, clock.now())
      return Effect.as(host.record({ answers: [row] }), row)
    }
    const { route, clientId, itemId } = match
    if (route.rules.reliance && caller.partner.reliance !== "APPROVED") {
      return yield* record(renderRefusal(gateRefusals.reliance))
    }
    if (route.ofClient) {
      const owned = clientId !== null && (yield* (yield* Clients).owns(caller.partner.row.id, clientId))
      if (!owned) return yield* record(renderRefusal(gateRefusals.unknownClient))
    }
    const write = (yield* allWrites)[route.operation]
    if (write === undefined) throw new Error(`${route.operation} has no handler`)
    const verdict = yield* write.run({ caller, clientId: clientId ?? 0, itemId, body: call.body, slot })
    const row = slot?.rowOf(verdict) ?? null
    return row === null ? yield* record(write.render(verdict as never)) : row
  })

const made = new WeakMap<object, Readonly<Record<string, Write>>>()

/** The handlers by operation id, made once for each process. */
const allWrites = Effect.contextWith((context: Context.Context<Services>) =>
  Effect.sync(() => {
    const onboarding = Context.get(context, Onboarding)
    let handlers = made.get(onboarding)
    if (handlers === undefined) {
      const collateral = Context.get(context, CollateralReports)
      handlers = {
        ...writes({ onboarding, collateral }),
        ...settlementWrites(Context.get(context, SettlementItems), Context.get(context, BulkReports)),
        ...webhookWrites(Context.get(context, Webhooks))
      }
      made.set(onboarding, handlers)
    }
    return handlers
  })
)

const failed = (cause: Cause.Cause<DispatchError>): PartnerAnswer => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error instanceof Unavailable) return refused(gateRefusals.unavailable)
  if (error instanceof CallerBarred) {
    return refused(error.state === "CLOSED" ? gateRefusals.unauthorized : gateRefusals.suspended)
  }
  return refused(defect(Cause.pretty(cause)))
}
