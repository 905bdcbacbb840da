/**
 * The edge as a process without a database. It terminates TLS, checks methods and body sizes, turns HEAD into GET and serves
 * the public pages. It forwards all other requests to a router. If a router's answer has no envelope, the edge adds one (doc
 * 1, What the service does and Authentication: HEAD; decision record 6).
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Clock, Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { invalid, gateRefusals, type WireRefusal } from "../../machines/shared/wireRefusal.ts"
import { operatorPrefix } from "../api/OperatorApi.ts"
import { partnerPrefix } from "../api/PartnerApi.ts"
import { Listener, type ListenerOptions } from "../Listener.ts"
import { type AnswerHeaders, refusalWith } from "../middleware/answers.ts"
import { byStatus, edgeBodyCap, edged } from "../middleware/edge.ts"
import { isOfDirectApi } from "../middleware/directGates.ts"
import { edgeCapGate, verbGate } from "../middleware/gates.ts"
import { declaredLength } from "../middleware/readBody.ts"
import { requestIdOf } from "../middleware/requestId.ts"
import { under } from "../middleware/routes.ts"
import { sourceAddress } from "../middleware/sourceAddress.ts"
import type { UnreadBodies } from "../middleware/UnreadBodies.ts"
import { type PublicRoutesOptions, siteApp } from "../publicRoutes.ts"
import { forward, type Forwarded, type Passage, sent } from "./forward.ts"
import { RouterPool } from "./RouterPool.ts"

export interface EdgeServerOptions extends ListenerOptions, PublicRoutesOptions {
  /** Router addresses, at least one; https only. */
  readonly routers: ReadonlyArray<URL>
  /** PEM text of the authority that signed the routers' certificates; null for the public authorities. */
  readonly routerCa: string | null
  /** Whether operator requests are forwarded too. False by default: callers then get the 404 of an unknown path. */
  readonly passOperator?: boolean
  /** Limit on requests in flight; 4,096 by default. */
  readonly inFlight?: number
  /** Timeout for connecting to a router, wall milliseconds; 2 s by default. */
  readonly connectMillis?: number
  /** Timeout for the answer, from the moment the complete request was sent, wall milliseconds; 30 s by default. */
  readonly answerMillis?: number
}

const usualInFlight = 4_096
const usualConnectMillis = 2_000
/** The default timeout of an answer. A router's slowest answer comes earlier, because the router's own timeouts end after 8 s. */
const usualAnswerMillis = 30_000

/** Whether a path is forwarded to routers; the edge answers every other path itself. */
const ofRouters = (url: string, { passOperator = false }: EdgeServerOptions): boolean =>
  under(url, partnerPrefix) ||
  isOfDirectApi(url) ||
  (passOperator && under(url, operatorPrefix)) ||
  under(url, "/healthz") ||
  under(url, "/partner/openapi.json")

/** The answer to an operator's write with an unknown outcome, which must not be retried blindly. Routers give the same answer. */
const unknownOutcome: WireRefusal = {
  status: 503,
  code: 5030,
  msg: "The outcome is not known: check the audit before repeating the command.",
  data: { reason: "OUTCOME_UNKNOWN", outcomeUnknown: true }
}

class Edge {
  private readonly pool: RouterPool
  private readonly options: EdgeServerOptions
  private readonly clock: Clock.Clock
  private readonly closing: () => boolean
  private readonly unread: UnreadBodies
  private running = 0

  constructor(options: EdgeServerOptions, clock: Clock.Clock, closing: () => boolean, unread: UnreadBodies) {
    this.options = options
    this.clock = clock
    this.closing = closing
    this.unread = unread
    this.pool = new RouterPool(options.routers, options.routerCa)
  }

  close(): void {
    this.pool.close()
  }

  /** Answers one request through a router. Never fails. */
  handle(request: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> {
    const incoming = NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage
    const headers = incoming.headers
    const requestId = requestIdOf(headers["x-request-id"])
    const extra = { "x-request-id": requestId }
    const refusal = verbGate(incoming.method) ?? edgeCapGate(declaredLength(incoming))
    if (refusal !== null) return Effect.succeed(refusalWith(refusal, extra))
    if (this.running >= (this.options.inFlight ?? usualInFlight)) {
      return Effect.succeed(this.away({ ...extra, connection: "close" }))
    }
    const passage: Passage = {
      request: incoming,
      response: NodeHttpServerRequest.toServerResponse(request) as ServerResponse,
      source: sourceAddress(incoming.socket.remoteAddress, headers["x-forwarded-for"], this.options.edgeHosts),
      requestId,
      bodyCap: edgeBodyCap,
      connectMillis: this.options.connectMillis ?? usualConnectMillis,
      answerMillis: this.options.answerMillis ?? usualAnswerMillis,
      closing: this.closing,
      unread: this.unread
    }
    this.running++
    // The adapter runs apps uninterruptibly. This one is interruptible, so that a caller that has disconnected does not hold
    // a router's connection.
    return Effect.interruptible(this.attempts(passage)).pipe(
      Effect.map((outcome) => this.answer(outcome, passage, extra)),
      Effect.ensuring(Effect.sync(() => void this.running--))
    )
  }

  /** Tries the routers one after the other, until one may have received the request. */
  private attempts(passage: Passage): Effect.Effect<Forwarded> {
    const routers = this.pool.order(this.clock.currentTimeMillisUnsafe())
    const from = (index: number): Effect.Effect<Forwarded> => {
      const router = routers[index]
      if (router === undefined) return Effect.succeed({ _tag: "NotSent" })
      return Effect.flatMap(forward(passage, router), (outcome) => {
        if (outcome._tag !== "NotSent") {
          this.pool.reached(router)
          return Effect.succeed(outcome)
        }
        this.pool.lost(router, this.clock.currentTimeMillisUnsafe())
        return from(index + 1)
      })
    }
    return from(0)
  }

  private answer(
    outcome: Forwarded,
    { request }: Passage,
    headers: AnswerHeaders
  ): HttpServerResponse.HttpServerResponse {
    if (outcome._tag === "Done") return sent
    // The remaining body goes to no router, so the connection ends with the answer.
    if (!request.complete) headers["connection"] = "close"
    switch (outcome._tag) {
      case "Foreign": {
        const refusal = byStatus(outcome.status)
        if (refusal.status === 503) return this.away(headers)
        if (outcome.retryAfter !== null) headers["retry-after"] = outcome.retryAfter
        return refusalWith(refusal, headers)
      }
      case "NotSent":
        return this.away(headers)
      case "Lost":
        return isRead(request) || !under(request.url ?? "", operatorPrefix)
          ? this.away(headers)
          : refusalWith(unknownOutcome, headers)
      case "TooLarge":
        return refusalWith(gateRefusals.edgeCap, headers)
      case "Unsendable":
        return refusalWith(invalid("INVALID_HTTP", "The request is not valid HTTP."), headers)
    }
  }

  private away(headers: AnswerHeaders): HttpServerResponse.HttpServerResponse {
    headers["retry-after"] = "1"
    return refusalWith(gateRefusals.unavailable, headers)
  }
}

const isRead = ({ method }: IncomingMessage): boolean => method === "GET" || method === "HEAD"

/** Starts the edge in the current scope and returns its address. Closing the scope stops it gracefully. */
const start = (options: EdgeServerOptions) =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    return yield* Listener.start(options, (closing, unread) =>
      Effect.gen(function* () {
        const edge = yield* Effect.acquireRelease(
          Effect.sync(() => new Edge(options, clock, () => closing.aborted, unread)),
          (made) => Effect.sync(() => made.close())
        )
        const site = edged(yield* siteApp(options))
        return (request: HttpServerRequest.HttpServerRequest) =>
          ofRouters(request.url, options) ? edge.handle(request) : site(request)
      })
    )
  })

export const EdgeServer = { start }
