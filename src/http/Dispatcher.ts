/**
 * The partner surface: one function from request to answer, walking the gates of A1-02 in their order. Made from the
 * contract by reflection (middleware/routes.ts), because HttpApi's own server decodes before any handler and so can't
 * keep that order. This is the hot path: gates are synchronous, a body is read and parsed once, an answer is rendered
 * once, to the text that is stored and sent.
 */
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Cause, Clock, Effect, Option } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { ActorHost, CallerBarred, type DispatchError, Unavailable } from "../runtime/engine/mailbox/ActorHost.ts"
import { breathe, longWork } from "../runtime/engine/breathe.ts"
import { BusinessClock } from "../runtime/engine/clock/BusinessClock.ts"
import { SealingService } from "../runtime/engine/sealing/SealingService.ts"
import { withinTime } from "../runtime/engine/withinTime.ts"
import { countAnswer } from "../runtime/services/system/answerCounts.ts"
import { Accounts } from "../runtime/services/account/Accounts.ts"
import { Appropriateness } from "../runtime/services/appropriateness/Appropriateness.ts"
import { BulkReports } from "../runtime/services/settlement/BulkReports.ts"
import { Clients } from "../runtime/services/client/Clients.ts"
import { CollateralReports } from "../runtime/services/collateral/CollateralReports.ts"
import { Deposits } from "../runtime/services/deposit/Deposits.ts"
import { Directory } from "../runtime/services/partner/Directory.ts"
import { Documents } from "../runtime/services/document/Documents.ts"
import { Explain } from "../runtime/services/money/Explain.ts"
import { KycUpdates } from "../runtime/services/kyc/KycUpdates.ts"
import { KeyUsage } from "../runtime/services/partner/KeyUsage.ts"
import { Onboarding } from "../runtime/services/client/Onboarding.ts"
import { SettlementItems } from "../runtime/services/settlement/SettlementItems.ts"
import { SettlementReports } from "../runtime/services/settlement/SettlementReports.ts"
import type { PartnerPrincipal } from "../runtime/services/shared/Principal.ts"
import { Summary } from "../runtime/services/partner/Summary.ts"
import { Webhooks } from "../runtime/services/webhook/Webhooks.ts"
import { Withdrawals } from "../runtime/services/withdrawal/Withdrawals.ts"
import { AnswerStore } from "../runtime/store/AnswerStore.ts"
import { documentReads, documentWrites } from "./handlers/documents.ts"
import { appropriatenessReads, appropriatenessWrites } from "./handlers/appropriateness.ts"
import { depositReads, depositWrites } from "./handlers/deposits.ts"
import { explainWrites } from "./handlers/explain.ts"
import { kycReads, kycWrites } from "./handlers/kyc.ts"
import { type Read, reads } from "./handlers/reads.ts"
import { settlementReads, settlementWrites } from "./handlers/settlement.ts"
import { webhookReads, webhookWrites } from "./handlers/webhook.ts"
import { withdrawalReads, withdrawalWrites } from "./handlers/withdrawals.ts"
import { renderRefusal, type Write, writes } from "./handlers/writes.ts"
import { type AnswerHeaders, answerNow } from "./middleware/answers.ts"
import { BodyBudget } from "./middleware/BodyBudget.ts"
import { Exchange } from "./middleware/Exchange.ts"
import { partnerGates, type PartnerGateServices, passGates } from "./middleware/gates.ts"
import {
  type AnswerSlot,
  type Ended,
  fingerprintOf,
  Idempotency,
  isKept,
  type KeyedAnswer,
  type KeyedHash,
  olderFingerprintOf,
  type Rendered
} from "./middleware/idempotency.ts"
import { parseBody } from "./middleware/parseBody.ts"
import { RateWindows, wholeSeconds } from "./middleware/RateWindows.ts"
import { readBody } from "./middleware/readBody.ts"
import { requestIdOf } from "./middleware/requestId.ts"
import { partnerRoutes, type RouteMatch } from "./middleware/routes.ts"
import { defect, gateRefusals, invalid, type WireRefusal } from "./toWire.ts"

export interface DispatcherOptions {
  /** Addresses and ranges of the operator's own edge hosts (A1-08). */
  readonly edgeHosts: ReadonlyArray<string>
  /** How long a second request with the same key waits, wall milliseconds; the specification's 5 s by default. */
  readonly waitMillis?: number
  /** What bodies being read share with those of other surfaces; one of its own by default. */
  readonly bodies?: BodyBudget
  /** Whether the server is closing: answers then end their connections. */
  readonly closing?: () => boolean
}

interface Parts {
  readonly gates: PartnerGateServices
  readonly bodies: BodyBudget
  readonly wall: Clock.Clock
  readonly business: BusinessClock["Service"]
  readonly host: ActorHost["Service"]
  readonly clients: Clients["Service"]
  readonly idempotency: Idempotency
  readonly keyedHash: KeyedHash
  readonly reads: Readonly<Record<string, Read>>
  readonly writes: Readonly<Record<string, Write>>
}

const partsOf = Effect.fnUntraced(function* (options: DispatcherOptions) {
  const host = yield* ActorHost
  const business = yield* BusinessClock
  const clients = yield* Clients
  const collateral = yield* CollateralReports
  const appropriateness = yield* Appropriateness
  const deposits = yield* Deposits
  const settlement = yield* SettlementItems
  const documents = yield* Documents
  const kyc = yield* KycUpdates
  const webhooks = yield* Webhooks
  const withdrawals = yield* Withdrawals
  const parts: Parts = {
    gates: {
      directory: yield* Directory,
      usage: yield* KeyUsage,
      business,
      rates: new RateWindows(),
      edgeHosts: options.edgeHosts
    },
    bodies: options.bodies ?? new BodyBudget(),
    wall: yield* Clock.Clock,
    business,
    host,
    clients,
    idempotency: new Idempotency({
      answers: yield* AnswerStore,
      clock: business,
      ...(options.waitMillis === undefined ? {} : { waitMillis: options.waitMillis })
    }),
    keyedHash: (yield* SealingService).quickFingerprint,
    reads: {
      ...reads({ clients, summary: yield* Summary, accounts: yield* Accounts, collateral, clock: business }),
      ...documentReads(documents),
      ...kycReads(kyc),
      ...appropriatenessReads(appropriateness),
      ...depositReads(deposits, clients),
      ...withdrawalReads(withdrawals, clients),
      ...settlementReads(settlement, yield* SettlementReports, business),
      ...webhookReads(webhooks)
    },
    writes: {
      ...writes({ onboarding: yield* Onboarding, collateral }),
      ...documentWrites(documents),
      ...kycWrites(kyc),
      ...appropriatenessWrites(appropriateness),
      ...depositWrites(deposits),
      ...withdrawalWrites(withdrawals),
      ...settlementWrites(settlement, yield* BulkReports),
      ...webhookWrites(webhooks),
      ...explainWrites(yield* Explain)
    }
  }
  for (const { operation, method, rules } of partnerRoutes) {
    if (method !== "GET" && rules.bodyCap === 0) {
      return yield* Effect.die(new Error(`the contract's ${operation} has no body cap`))
    }
    if ((method === "GET" ? parts.reads : parts.writes)[operation] === undefined) {
      return yield* Effect.die(new Error(`the contract's ${operation} has no handler`))
    }
  }
  return parts
})

const noBody = { ok: true, value: {} } as const

/** A body that is fit for a service; with its text for a write that asks for it. */
interface FitBody {
  readonly ok: true
  readonly value: unknown
  readonly text?: string
}

type Next = <A>(work: () => Effect.Effect<A, DispatchError>) => Effect.Effect<A, DispatchError>
const atOnce: Next = (work) => work()
const breathing: Next = (work) => Effect.andThen(breathe, Effect.suspend(work))

/** What is known once the gates are passed. */
interface Admitted {
  readonly exchange: Exchange
  readonly principal: PartnerPrincipal
  readonly match: RouteMatch
}

export class Dispatcher {
  /** The dispatcher over the services of the current context. Dies when the contract has a route without handler or cap. */
  static readonly make = (options: DispatcherOptions) =>
    Effect.map(partsOf(options), (parts) => new Dispatcher(parts, options))

  private readonly parts: Parts
  private readonly options: DispatcherOptions

  private constructor(parts: Parts, options: DispatcherOptions) {
    this.parts = parts
    this.options = options
  }

  /** Answers one request under the partner prefix. Never fails: what goes wrong is an answer too. */
  handle(request: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> {
    const incoming = NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage
    const exchange = new Exchange<PartnerPrincipal>(
      incoming,
      NodeHttpServerRequest.toServerResponse(request) as ServerResponse,
      {
        url: request.url,
        requestId: requestIdOf(incoming.headers["x-request-id"]),
        now: this.parts.wall.currentTimeMillisUnsafe()
      }
    )
    let refusal: WireRefusal | null
    try {
      refusal = passGates(partnerGates, exchange, this.parts.gates)
    } catch (error) {
      return this.fail(exchange, Cause.die(error))
    }
    const { principal, match } = exchange
    if (refusal !== null || principal === null || match === null) {
      return Effect.succeed(this.send(exchange, renderRefusal(refusal ?? gateRefusals.route)))
    }
    const admitted = { exchange, principal, match }
    return Effect.matchCauseEffect(
      Effect.suspend(() =>
        exchange.method === "GET"
          ? withinTime(this.read(admitted), () => new Unavailable({ unknown: false }))
          : this.write(admitted)
      ),
      {
        onSuccess: (answer) => Effect.succeed(this.send(exchange, answer)),
        onFailure: (cause) => this.fail(exchange, cause)
      }
    )
  }

  private read({ exchange, principal: { caller }, match }: Admitted): Effect.Effect<Rendered, DispatchError> {
    const { route, clientId, partnerClientRef } = match
    if (
      (route.ofClient && clientId === null) ||
      (route.path.includes("/:partnerClientRef") && partnerClientRef === null)
    ) {
      return Effect.succeed(renderRefusal(gateRefusals.unknownClient))
    }
    const read = this.parts.reads[route.operation] as Read
    const input = {
      exchange,
      caller,
      partnerId: caller.partner.row.id,
      clientId: clientId ?? 0,
      partnerClientRef: partnerClientRef ?? ""
    }
    return Effect.map(read(input), (reply) =>
      reply.ok ? { status: reply.status, body: JSON.stringify(reply.body) } : renderRefusal(reply.refusal)
    )
  }

  private write(admitted: Admitted): Effect.Effect<Rendered | KeyedAnswer, DispatchError> {
    const { exchange, principal, match } = admitted
    const { bodyCap } = match.route.rules
    const room = this.parts.bodies.room(principal.id, bodyCap)
    return Effect.flatMap(readBody(exchange.request, exchange.response, bodyCap, room), (read) => {
      if (read._tag === "OverEdge") return Effect.succeed(renderRefusal(gateRefusals.edgeCap))
      if (read._tag === "TooLarge") return Effect.succeed(renderRefusal(gateRefusals.routeCap))
      if (read._tag === "NoRoom") {
        exchange.last = true
        return Effect.succeed(renderRefusal(gateRefusals.unavailable))
      }
      if (read._tag === "Aborted") return Effect.succeed(renderRefusal(gateRefusals.aborted))
      if (read.bytes.length < longWork) return this.judge(admitted, read.bytes, atOnce)
      return breathing(() => this.judge(admitted, read.bytes, breathing))
    })
  }

  /** `next` runs each following piece of work: at once for the usual body, after a pause for one of megabytes. */
  private judge(admitted: Admitted, bytes: Buffer, next: Next): Effect.Effect<Rendered | KeyedAnswer, DispatchError> {
    const { exchange, principal, match } = admitted
    const parsed = bytes.length === 0 && match.route.rules.bodyless === true ? noBody : parseBody(bytes)
    // A body that can't be canonical JSON has no fingerprint: its key is never claimed.
    if (!parsed.ok) return this.beforeService(admitted, null, renderRefusal(invalid(parsed.sentence)))
    const write = this.parts.writes[match.route.operation]
    const body: FitBody = write?.verbatim === true ? { ...parsed, text: bytes.toString("utf8") } : parsed
    const key = exchange.idempotencyKey
    if (key === null) return next(() => this.beforeService(admitted, null, body))
    const { method, path } = exchange
    return next(() => {
      const fingerprint = fingerprintOf(this.parts.keyedHash, method, path, parsed.value)
      const olderFingerprint = () => olderFingerprintOf(method, path, parsed.value)
      const lookFirst = write?.manyCommits === true
      return this.parts.idempotency.answer(
        { principal: principal.id, key, fingerprint, olderFingerprint },
        (slot) => next(() => this.beforeService(admitted, slot, body)),
        { lookFirst }
      )
    })
  }

  /**
   * Gates 9 and 10, then the service, or the refusal a bad body has earned. With a slot the answer is a stored row, or
   * one that is not kept.
   */
  private beforeService(
    admitted: Admitted,
    slot: AnswerSlot | null,
    body: FitBody | Rendered
  ): Effect.Effect<Ended, DispatchError> {
    const { principal, match } = admitted
    const { partner } = principal.caller
    const { route, clientId } = match
    if (route.rules.reliance && partner.reliance !== "APPROVED") return this.refuse(slot, gateRefusals.reliance)
    if (!route.ofClient) return this.serve(admitted, slot, body)
    if (clientId === null) return this.refuse(slot, gateRefusals.unknownClient)
    return Effect.flatMap(this.parts.clients.owns(partner.row.id, clientId), (owned) =>
      owned ? this.serve(admitted, slot, body) : this.refuse(slot, gateRefusals.unknownClient)
    )
  }

  private serve(
    { principal: { caller }, match }: Admitted,
    slot: AnswerSlot | null,
    body: FitBody | Rendered
  ): Effect.Effect<Ended, DispatchError> {
    const write = this.parts.writes[match.route.operation] as Write
    // What the path names is looked up before the body is judged (A1-02: 10 before 11).
    if ("status" in body) {
      const lookUp = write.lookUp?.({ caller, itemId: match.itemId }) ?? Effect.succeed(null)
      return Effect.map(lookUp, (refusal) => (refusal === null ? body : renderRefusal(refusal)))
    }
    return Effect.flatMap(
      write.run({
        caller,
        clientId: match.clientId ?? 0,
        itemId: match.itemId,
        body: body.value,
        text: body.text,
        slot
      }),
      (verdict) => {
        if (slot === null) return Effect.succeed(write.render(verdict as never))
        const row = slot.rowOf(verdict)
        return row === null ? this.record(slot, write.render(verdict as never)) : Effect.succeed(row)
      }
    )
  }

  private refuse(slot: AnswerSlot | null, refusal: WireRefusal): Effect.Effect<Ended, DispatchError> {
    return slot === null ? Effect.succeed(renderRefusal(refusal)) : this.record(slot, renderRefusal(refusal))
  }

  /** Stores an answer that no commit of the service stored, if it is one to keep. */
  private record(slot: AnswerSlot, answer: Rendered): Effect.Effect<Ended, DispatchError> {
    if (!isKept(answer)) return Effect.succeed(answer)
    const row = slot.row(answer, this.parts.business.now())
    return Effect.as(this.parts.host.record({ answers: [row] }), row)
  }

  /** Database away or overload is told as such; everything else is a defect, told by its id alone. */
  private fail(
    exchange: Exchange,
    cause: Cause.Cause<DispatchError>
  ): Effect.Effect<HttpServerResponse.HttpServerResponse> {
    const error = Option.getOrUndefined(Cause.findErrorOption(cause))
    if (error instanceof Unavailable || Cause.hasInterruptsOnly(cause)) {
      return Effect.succeed(this.send(exchange, renderRefusal(gateRefusals.unavailable)))
    }
    if (error instanceof CallerBarred) {
      const refusal = error.state === "CLOSED" ? gateRefusals.unauthorized : gateRefusals.suspended
      return Effect.succeed(this.send(exchange, renderRefusal(refusal)))
    }
    const id = randomUUID()
    const operation = exchange.match?.route.operation
    return Effect.as(
      Effect.logError("request failed", cause).pipe(
        Effect.annotateLogs({ defectId: id, requestId: exchange.requestId, operation })
      ),
      this.send(exchange, renderRefusal(defect(id)))
    )
  }

  private send(exchange: Exchange, answer: Rendered | KeyedAnswer): HttpServerResponse.HttpServerResponse {
    countAnswer(answer.status)
    const headers: AnswerHeaders = { "x-request-id": exchange.requestId }
    const { rate } = exchange
    if (rate !== null) {
      headers["ratelimit-limit"] = String(rate.limit)
      headers["ratelimit-remaining"] = String(rate.remaining)
      headers["ratelimit-reset"] = String(wholeSeconds(rate.resetMillis))
      if (!rate.allowed) headers["retry-after"] = String(wholeSeconds(rate.resetMillis))
    }
    if (answer.status === 503) headers["retry-after"] = "1"
    if (answer.retryAt !== undefined) {
      // What is over by now is over in a second.
      headers["retry-after"] = String(Math.max(1, wholeSeconds(answer.retryAt - this.parts.business.now())))
    }
    if ("replayed" in answer && answer.replayed) headers["idempotency-replayed"] = "true"
    if (exchange.last || this.options.closing?.() === true) headers["connection"] = "close"
    return answerNow(exchange, answer, headers)
  }
}
