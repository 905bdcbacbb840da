/**
 * The HTTPS client of the simulated partner: kept connections, a given CA, one attempt a call with a timeout, answers as exact
 * bytes. The contract's typed client would decode the answers, and replays are compared by bytes (A1-51).
 */
import { Effect, Redacted, Schema, type Scope } from "effect"
import { Agent, type RequestOptions, request } from "node:https"
import type { IncomingMessage } from "node:http"

/** No answer arrived: refused, reset, cut off, or timed out. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  timedOut: Schema.Boolean,
  detail: Schema.String
}) {
  override get message(): string {
    return this.detail
  }
}

export interface PartnerAnswer {
  readonly status: number
  readonly body: Buffer
  /** Whole seconds of Retry-After; null without the header. */
  readonly retryAfter: number | null
  /** True for a replayed answer: its header Idempotency-Replayed is `true`. */
  readonly replayed: boolean
}

export interface PartnerCall {
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | "HEAD" | "OPTIONS" | "PATCH"
  readonly path: string
  readonly body?: string
  readonly idempotencyKey?: string
}

export interface PartnerClientOptions {
  /** Origin of the service; read before each attempt, because a restarted service may use another port. */
  readonly origin: () => string
  /** Partner key (pbk_) or operator key (bok_). */
  readonly key: Redacted.Redacted
  /** PEM of the CA to trust; absent: the system's. */
  readonly ca?: string
  /** Limit on concurrent connections to the service. */
  readonly connections: number
  /** Timeout of one attempt, 10 s by default. */
  readonly timeoutMillis?: number
}

/** Limit on the bytes of an answer. The service's largest answer, a full page of rows, is shorter. */
const answerLimit = 8 * 1024 * 1024

const defaultTimeoutMillis = 10_000

export interface PartnerClient {
  /** Makes one attempt. An interruption ends the connection. */
  readonly send: (call: PartnerCall) => Effect.Effect<PartnerAnswer, Unreachable>
}

/** A client whose connections close with the scope. */
export const makePartnerClient = (options: PartnerClientOptions): Effect.Effect<PartnerClient, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(
        () =>
          new Agent({
            keepAlive: true,
            maxSockets: options.connections,
            maxFreeSockets: options.connections,
            ...(options.ca === undefined ? {} : { ca: options.ca })
          })
      ),
      (agent) => Effect.sync(() => agent.destroy())
    ),
    (agent) => ({ send: (call) => attempt(agent, options, call) })
  )

const attempt = (
  agent: Agent,
  options: PartnerClientOptions,
  call: PartnerCall
): Effect.Effect<PartnerAnswer, Unreachable> =>
  Effect.callback<PartnerAnswer, Unreachable>((resume) => {
    let settled = false
    const settle = (result: Effect.Effect<PartnerAnswer, Unreachable>) => {
      if (settled) return
      settled = true
      clearTimeout(timer)
      resume(result)
    }
    const lost = (detail: string, timedOut = false) => settle(Effect.fail(new Unreachable({ timedOut, detail })))
    const outgoing = request(new URL(call.path, options.origin()), requestOptions(agent, options, call), (answer) =>
      collect(answer, (body) => settle(Effect.succeed(answerOf(answer, body))), lost)
    )
    const timer = setTimeout(() => {
      lost("no answer in time", true)
      outgoing.destroy()
    }, options.timeoutMillis ?? defaultTimeoutMillis)
    outgoing.on("error", (error) => lost(error.message))
    outgoing.end(call.body)
    return Effect.sync(() => {
      settled = true
      clearTimeout(timer)
      outgoing.destroy()
    })
  })

const requestOptions = (agent: Agent, options: PartnerClientOptions, call: PartnerCall): RequestOptions => ({
  agent,
  method: call.method,
  headers: {
    authorization: `Bearer ${Redacted.value(options.key)}`,
    ...(call.body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": Buffer.byteLength(call.body) }),
    ...(call.idempotencyKey === undefined ? {} : { "idempotency-key": call.idempotencyKey })
  }
})

const collect = (answer: IncomingMessage, done: (body: Buffer) => void, lost: (detail: string) => void): void => {
  const parts: Array<Buffer> = []
  let size = 0
  answer.on("data", (part: Buffer) => {
    size += part.length
    if (size > answerLimit) {
      lost("the answer is larger than any answer of the contract")
      return answer.destroy()
    }
    parts.push(part)
  })
  // A connection that dies inside the body emits "close" without "end": a truncated answer is no answer.
  answer.on("end", () => (answer.complete ? done(Buffer.concat(parts)) : lost("the answer ended early")))
  answer.on("close", () => lost("the connection ended inside the answer"))
  answer.on("error", (error) => lost(error.message))
}

const answerOf = (answer: IncomingMessage, body: Buffer): PartnerAnswer => {
  const seconds = Number(answer.headers["retry-after"])
  return {
    status: answer.statusCode ?? 0,
    body,
    retryAfter:
      answer.headers["retry-after"] !== undefined && Number.isInteger(seconds) && seconds >= 0 ? seconds : null,
    replayed: answer.headers["idempotency-replayed"] === "true"
  }
}
