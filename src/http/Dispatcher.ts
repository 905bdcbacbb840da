/**
 * Answers every request of one HTTP surface. A request passes the gates in the order that the contract fixes, and then its
 * handler runs. The dispatcher is built from features (handlers/feature.ts) by reflection, because the server of HttpApi
 * decodes before any handler runs, which would break that order. This is the hot path: gates are synchronous, a body is read
 * and parsed once, and an answer is rendered once, to the text that is stored and sent (A1-02).
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Cause, Clock, Effect, Exit, Option } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { renderRefusal, isKept, type Rendered } from "../machines/shared/answerText.ts"
import { unknown as unknownOf } from "../machines/shared/Refusal.ts"
import { ActorHost, CallerBarred, type DispatchError, Unavailable } from "../runtime/engine/mailbox/ActorHost.ts"
import { yieldToEventLoop, longWork } from "../runtime/engine/yieldToEventLoop.ts"
import { BusinessClock } from "../runtime/engine/clock/BusinessClock.ts"
import { SealingService } from "../runtime/engine/sealing/SealingService.ts"
import { withinTime } from "../runtime/engine/withinTime.ts"
import { countAnswer } from "../runtime/services/operations/system/answerCounts.ts"
import { type KeyedRequest, answerRow } from "../runtime/services/shared/KeyedRequest.ts"
import type { Principal } from "../runtime/services/partners/Principal.ts"
import { AnswerStore } from "../runtime/store/AnswerStore.ts"
import { noId } from "./api/Parameters.ts"
import type { AnyHandlers, AnyRead, AnyWrite, Served } from "./handlers/feature.ts"
import { handlersByOperation } from "./handlers/handlersByOperation.ts"
import { outgoing, refusalOf, type Reply } from "./handlers/handler.ts"
import {
  type AnswerHeaders,
  answerNow,
  type Outgoing,
  sent,
  type StreamedAnswer,
  type WholeAnswer
} from "./middleware/answers.ts"
import { BodyBudget } from "./middleware/BodyBudget.ts"
import { Exchange } from "./middleware/Exchange.ts"
import { passGates, type Surface } from "./middleware/gates.ts"
import {
  comparedBody,
  type Ended,
  fingerprintOf,
  Idempotency,
  type KeyedAnswer,
  type KeyedHash,
  olderFingerprintOf
} from "./middleware/idempotency.ts"
import { parseBody } from "./middleware/parseBody.ts"
import { PageLane } from "./middleware/PageLane.ts"
import { parseQuery } from "./middleware/queries.ts"
import { wholeSeconds } from "./middleware/RateWindows.ts"
import { readBody } from "./middleware/readBody.ts"
import { requestIdOf } from "./middleware/requestId.ts"
import { type Route, type RouteMatch, rowsOf, type RouteTable } from "./middleware/routes.ts"
import type { SandboxHints } from "./middleware/sandboxHints.ts"
import { answerStreamed, timeOf } from "./middleware/streams.ts"
import {
  defect,
  gateRefusals,
  invalid,
  invalidQuery,
  toWire,
  type WireRefusal
} from "../machines/shared/wireRefusal.ts"

export interface DispatcherOptions {
  /** How long a second request with the same key waits for the first, wall milliseconds; 5 s by default. */
  readonly waitMillis?: number
  /** The memory limit for arriving bodies, shared with other surfaces; a new one by default. */
  readonly bodies?: BodyBudget
  /** Aborted when the server closes. Answers then end their connections, and endless streams end. */
  readonly closing?: AbortSignal
  /** Sandbox only: adds a header that names parameters and members which the route does not know. */
  readonly hints?: Pick<SandboxHints, "give"> | undefined
}

interface Parts<P extends Principal> {
  readonly bodies: BodyBudget
  readonly wall: Clock.Clock
  readonly business: BusinessClock["Service"]
  readonly host: ActorHost["Service"]
  readonly idempotency: Idempotency
  readonly keyedHash: KeyedHash
  /** The handlers by the operation of their route. */
  readonly handlers: AnyHandlers<P>
}

const partsOf = Effect.fnUntraced(function* <P extends Principal, R>(
  features: ReadonlyArray<Served<P, R>>,
  routes: RouteTable,
  options: DispatcherOptions
) {
  const business = yield* BusinessClock
  const host = yield* ActorHost
  return {
    bodies: options.bodies ?? new BodyBudget(),
    wall: yield* Clock.Clock,
    business,
    host,
    idempotency: new Idempotency({
      answers: yield* AnswerStore,
      clock: business,
      ...(options.waitMillis === undefined ? {} : { waitMillis: options.waitMillis })
    }),
    keyedHash: (yield* SealingService).quickFingerprint,
    handlers: yield* handlersByOperation(features, routes)
  } satisfies Parts<P>
})

const noBody = { ok: true, value: {} } as const

/** A body that a service may receive; with its text for a `verbatim` write. */
interface FitBody {
  readonly ok: true
  readonly value: unknown
  readonly text?: string
}

type Next = <A>(work: () => Effect.Effect<A, DispatchError>) => Effect.Effect<A, DispatchError>
const atOnce: Next = (work) => work()
const breathing: Next = (work) => Effect.andThen(yieldToEventLoop, Effect.suspend(work))

/** The state of a request after the gates. */
interface Admitted<P extends Principal> {
  readonly exchange: Exchange<P>
  readonly principal: P
  readonly match: RouteMatch
}

export class Dispatcher<P extends Principal, S extends { readonly routes: RouteTable }> {
  /** Builds the dispatcher of a surface over the services of the current context. Dies when a route has no handler. */
  static make<P extends Principal, S extends { readonly routes: RouteTable }, R>(
    surface: Surface<P, S>,
    features: ReadonlyArray<Served<P, R>>,
    options: DispatcherOptions
  ) {
    return Effect.map(
      partsOf(features, surface.services.routes, options),
      (parts) => new Dispatcher(surface, parts, options)
    )
  }

  private readonly surface: Surface<P, S>
  private readonly parts: Parts<P>
  private readonly options: DispatcherOptions
  private readonly pages = new PageLane(() => this.parts.host.stats().waiting > 0)

  private constructor(surface: Surface<P, S>, parts: Parts<P>, options: DispatcherOptions) {
    this.surface = surface
    this.parts = parts
    this.options = options
  }

  /** Answers one request under the surface's prefix. Never fails: every error becomes an answer. */
  handle(request: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> {
    const incoming = NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage
    const exchange = new Exchange<P>(incoming, NodeHttpServerRequest.toServerResponse(request) as ServerResponse, {
      url: request.url,
      requestId: requestIdOf(incoming.headers["x-request-id"]),
      now: this.parts.wall.currentTimeMillisUnsafe()
    })
    let refusal: WireRefusal | null
    try {
      refusal = passGates(this.surface.gates, exchange, this.surface.services)
    } catch (error) {
      return this.fail(exchange, Cause.die(error))
    }
    const { principal, match } = exchange
    if (refusal !== null || principal === null || match === null) {
      return Effect.succeed(this.send(exchange, renderRefusal(this.shown(match, refusal ?? gateRefusals.route))))
    }
    // Eager: most reads have their answer in memory, and it is sent without an asynchronous step.
    return Effect.matchCauseEffectEager(this.answer({ exchange, principal, match }), {
      onSuccess: (answer) =>
        "pieces" in answer ? this.stream(exchange, answer, match.route) : Effect.succeed(this.send(exchange, answer)),
      onFailure: (cause) => this.fail(exchange, cause)
    })
  }

  /** Converts a refusal that precedes the handler to the form of its route, which may add members to refusals. */
  private shown(match: RouteMatch | null, refusal: WireRefusal): WireRefusal {
    return refusalOf(match === null ? {} : (this.parts.handlers[match.route.operation] as AnyWrite<P>), refusal)
  }

  private answer(admitted: Admitted<P>): Effect.Effect<Outgoing, DispatchError> {
    const { exchange, match } = admitted
    try {
      if (exchange.method !== "GET") return this.pages.before(this.write(admitted))
      this.options.hints?.give(exchange)
      const read = withinTime(this.read(admitted), () => new Unavailable({ unknown: false }), timeOf(match.route.rules))
      // The adapter interrupts a read when the caller disconnects, which cancels its statement. A write runs to its end.
      return Exit.isExit(read) ? read : Effect.interruptible(read)
    } catch (error) {
      return Effect.die(error)
    }
  }

  private read({ exchange, principal, match }: Admitted<P>): Effect.Effect<Outgoing, DispatchError> {
    const { route, params } = match
    const unnamed = unnamedBy(match)
    if (unnamed !== null) return Effect.succeed(renderRefusal(unnamed))
    const handler = this.parts.handlers[route.operation] as AnyRead<P>
    const { query, errors } = parseQuery(route.query, exchange.search)
    const input = { exchange, caller: principal.caller, params, query }
    if (errors === null) {
      const run = typeof handler === "function" ? handler : handler.run
      const render = (reply: Reply<unknown>): Outgoing => outgoing(route.form, reply)
      const rows = rowsOf(route, query)
      if (rows === null) return Effect.mapEager(run(input), render)
      const page = this.pages.run(principal.id, rows, { read: () => run(input), render })
      return Effect.map(page, (answer) =>
        "pieces" in answer ? { ...answer, pieces: this.pages.pieces(principal.id, rows, answer.pieces) } : answer
      )
    }
    // Gate 10 precedes gate 11, so the objects of the path or query are looked up before the query is validated.
    const lookUp = typeof handler === "function" ? this.named(principal, match) : handler.lookUp(input)
    return Effect.map(lookUp, (refusal) => renderRefusal(refusal ?? invalidQuery(errors)))
  }

  /** Gate 10: checks that the client of the path exists and belongs to the principal. */
  private named(principal: P, { route, params }: RouteMatch): Effect.Effect<WireRefusal | null, DispatchError> {
    if (!route.ofClient) return Effect.succeed(null)
    return Effect.mapEager(this.surface.owns(principal, params["clientId"] as number), (owned) =>
      owned ? null : gateRefusals.unknownClient
    )
  }

  private write(admitted: Admitted<P>): Effect.Effect<Rendered | KeyedAnswer, DispatchError> {
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
      if (read._tag === "Aborted") return Effect.succeed(renderRefusal(this.shown(match, gateRefusals.aborted)))
      if (read.bytes.length < longWork) return this.judge(admitted, read.bytes, atOnce)
      return breathing(() => this.judge(admitted, read.bytes, breathing))
    })
  }

  /** Parses the body, then runs gates 9 to 12. `next` runs each step: at once for a small body, after a pause for a large one. */
  private judge(
    admitted: Admitted<P>,
    bytes: Buffer,
    next: Next
  ): Effect.Effect<Rendered | KeyedAnswer, DispatchError> {
    const { exchange, principal, match } = admitted
    const { route } = match
    const parsed = bytes.length === 0 && route.rules.bodyless === true ? noBody : parseBody(bytes)
    const write = this.parts.handlers[route.operation] as AnyWrite<P>
    this.options.hints?.give(exchange, parsed.ok ? parsed.value : undefined)
    // A body that can't be parsed has no canonical form and no fingerprint, so its Idempotency-Key is not used up.
    if (!parsed.ok)
      return this.beforeService(
        admitted,
        null,
        renderRefusal(this.shown(match, invalid("INVALID_BODY", parsed.sentence)))
      )
    const body: FitBody = write.verbatim === true ? { ...parsed, text: bytes.toString("utf8") } : parsed
    const key = exchange.idempotencyKey
    if (key === null) return next(() => this.beforeService(admitted, null, body))
    const { method, path } = exchange
    return next(() => {
      const compared = body.text === undefined ? body.value : comparedBody(body.value, body.text)
      const fingerprint = fingerprintOf(this.parts.keyedHash, method, path, compared)
      const olderFingerprint = () => olderFingerprintOf(method, path, compared)
      const request = { principal: principal.id, key, fingerprint, olderFingerprint }
      return this.parts.idempotency.answer(request, () => next(() => this.beforeService(admitted, request, body)), {
        readFirst: write.manyCommits === true
      })
    })
  }

  /** Runs gates 9 and 10, then the service; or refuses a bad body. A keyed write ends with a stored row or unstored answer. */
  private beforeService(
    admitted: Admitted<P>,
    key: KeyedRequest | null,
    body: FitBody | Rendered
  ): Effect.Effect<Ended, DispatchError> {
    const { principal, match } = admitted
    const refusal = this.surface.standing(principal, match.route) ?? unnamedBy(match)
    if (refusal !== null) return this.refuse(key, refusal)
    if (!match.route.ofClient) return this.serve(admitted, key, body)
    return Effect.flatMapEager(this.named(principal, match), (unknown) =>
      unknown === null ? this.serve(admitted, key, body) : this.refuse(key, unknown)
    )
  }

  private serve(
    { principal: { caller }, match }: Admitted<P>,
    key: KeyedRequest | null,
    body: FitBody | Rendered
  ): Effect.Effect<Ended, DispatchError> {
    const { route, params } = match
    const write = this.parts.handlers[route.operation] as AnyWrite<P>
    // Gate 10 precedes gate 11, so the objects of the path are looked up before the body is validated.
    if ("status" in body) {
      const lookUp = write.lookUp?.({ caller, params }) ?? Effect.succeed(null)
      return Effect.map(lookUp, (refusal) => (refusal === null ? body : renderRefusal(refusal)))
    }
    const run = write.run({ caller, params, body: body.value, text: body.text, key, form: route.form })
    return key === null
      ? run
      : Effect.flatMap(run, (ended) => ("answeredAt" in ended ? Effect.succeed(ended) : this.record(key, ended)))
  }

  private refuse(key: KeyedRequest | null, refusal: WireRefusal): Effect.Effect<Ended, DispatchError> {
    const answer = renderRefusal(refusal)
    return key === null ? Effect.succeed(answer) : this.record(key, answer)
  }

  /** Stores an answer that no commit of the service has stored, unless its kind is never stored. */
  private record(key: KeyedRequest, answer: Rendered): Effect.Effect<Ended, DispatchError> {
    if (!isKept(answer)) return Effect.succeed(answer)
    const row = answerRow(key, answer, this.parts.business.now())
    return Effect.as(this.parts.host.record({ answers: [row] }), row)
  }

  /** Renders failures of a service: 503 for an unavailable database or overload; otherwise a defect, shown as its id only. */
  private fail(
    exchange: Exchange<P>,
    cause: Cause.Cause<DispatchError>
  ): Effect.Effect<HttpServerResponse.HttpServerResponse> {
    const error = Option.getOrUndefined(Cause.findErrorOption(cause))
    if (error instanceof Unavailable || Cause.hasInterruptsOnly(cause)) {
      return Effect.succeed(this.send(exchange, renderRefusal(gateRefusals.unavailable)))
    }
    if (error instanceof CallerBarred) {
      const refusal = error.state === "SUSPENDED" ? gateRefusals.suspended : gateRefusals.unauthorized
      return Effect.succeed(this.send(exchange, renderRefusal(refusal)))
    }
    const id = randomUUID()
    const operation = exchange.match?.route.operation
    return Effect.as(
      Effect.logError("a request failed by a defect: its caller gets 500 with this id", cause).pipe(
        Effect.annotateLogs({ defectId: id, requestId: exchange.requestId, operation })
      ),
      this.send(exchange, renderRefusal(defect(id)))
    )
  }

  private send(exchange: Exchange<P>, answer: WholeAnswer | KeyedAnswer): HttpServerResponse.HttpServerResponse {
    return answerNow(exchange, answer, this.headersOf(exchange, answer))
  }

  /** Sends a stream to its end. The status was sent before, so a later failure can only be logged. */
  private stream(
    exchange: Exchange<P>,
    answer: StreamedAnswer,
    { operation, rules }: Route
  ): Effect.Effect<HttpServerResponse.HttpServerResponse> {
    const { requestId, response } = exchange
    return answerStreamed(exchange, answer, () => this.headersOf(exchange, answer), {
      rules,
      closing: this.options.closing
    }).pipe(
      Effect.catchCause((cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
        if (!response.headersSent) return this.fail(exchange, cause as Cause.Cause<DispatchError>)
        return Effect.as(
          Effect.annotateLogs(Effect.logError("a streamed answer broke off, and its connection was closed", cause), {
            requestId,
            operation
          }),
          sent
        )
      })
    )
  }

  private headersOf(exchange: Exchange<P>, answer: Outgoing | KeyedAnswer): AnswerHeaders {
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
      // A retry time that has already passed becomes one second, because 0 would cause an immediate retry.
      headers["retry-after"] = String(Math.max(1, wholeSeconds(answer.retryAt - this.parts.business.now())))
    }
    if ("link" in answer && answer.link !== undefined) headers["link"] = answer.link
    if ("replayed" in answer && answer.replayed) headers["idempotency-replayed"] = "true"
    if (exchange.last || this.options.closing?.aborted === true) headers["connection"] = "close"
    return headers
  }
}

/** Refuses a path with a segment that can't name any object. Ids of objects other than the client are left to their services. */
const unnamedBy = ({ route, params, unknown }: RouteMatch): WireRefusal | null => {
  if (route.ofClient && params["clientId"] === noId) return gateRefusals.unknownClient
  return unknown === null ? null : toWire(unknownOf(unknown))
}
