/**
 * Forwards one request to one router and streams the answer back, with backpressure in both directions. If the router can't
 * have received the request, the caller of this file tries the next router. If the router may have received it, the client
 * gets an error, because a retry could do the work twice.
 */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http"
import { request as httpsRequest } from "node:https"
import type { TLSSocket } from "node:tls"
import { answerHeaders, expectsContinue, hasBody, requestHeaders } from "./proxyHeaders.ts"
import { keyAccepted, leavesBody, presentedGoodKey, type UnreadBodies } from "../middleware/UnreadBodies.ts"
import type { Router } from "./RouterPool.ts"

/** The outcome of one attempt to forward a request to a router. */
export type Forwarded =
  /** The answer was passed on, or the caller disconnected. */
  | { readonly _tag: "Done" }
  /** The router's answer has no envelope. The edge sends an envelope chosen by the answer's status. */
  | { readonly _tag: "Foreign"; readonly status: number; readonly retryAfter: string | null }
  /** No connection was made: the router has not received the request. */
  | { readonly _tag: "NotSent" }
  /** The connection failed, or a timeout passed, before an answer came: the request may have been executed. */
  | { readonly _tag: "Lost" }
  /** The body exceeds the cap. */
  | { readonly _tag: "TooLarge" }
  /** Node refuses to send the request. */
  | { readonly _tag: "Unsendable" }

export interface Passage {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly source: string
  readonly requestId: string
  /** Cap of a body in bytes. */
  readonly bodyCap: number
  /** Timeouts for connecting, and for an answer once the complete request is sent; wall milliseconds. */
  readonly connectMillis: number
  readonly answerMillis: number
  /** True while the edge shuts down, so that answers end their connections. */
  readonly closing: () => boolean
  /** Discards the remaining body after a router has refused the request. */
  readonly unread: UnreadBodies
}

/** The adapter receives this after an answer was already sent: the response has ended, so the adapter adds nothing. */
export const sent = HttpServerResponse.empty()

/** Forwards to one router. The effect is interrupted when the caller disconnects; this closes the router's connection. */
export const forward = (passage: Passage, router: Router): Effect.Effect<Forwarded> =>
  Effect.callback<Forwarded>((resume) => {
    const attempt = new Attempt(passage, router, (outcome) => resume(Effect.succeed(outcome)))
    attempt.start()
    return Effect.sync(() => attempt.abandon())
  })

class Attempt {
  private readonly passage: Passage
  private readonly router: Router
  private readonly conclude: (outcome: Forwarded) => void
  private outgoing: ClientRequest | null = null
  private answer: IncomingMessage | null = null
  private timer: NodeJS.Timeout | undefined
  private connected = false
  private settled = false
  private size = 0

  constructor(passage: Passage, router: Router, conclude: (outcome: Forwarded) => void) {
    this.passage = passage
    this.router = router
    this.conclude = conclude
  }

  start(): void {
    const { request, source, requestId, connectMillis } = this.passage
    const { agent, hostname, port, host } = this.router
    try {
      this.outgoing = httpsRequest({
        agent,
        hostname,
        port,
        // A router gets HEAD as GET, so that it needs no routes for HEAD.
        method: request.method === "HEAD" ? "GET" : (request.method ?? "GET"),
        path: request.url ?? "/",
        headers: requestHeaders(request, { host, source, requestId })
      })
    } catch {
      return this.settle({ _tag: "Unsendable" })
    }
    this.timer = setTimeout(() => this.settle({ _tag: "NotSent" }), connectMillis)
    this.outgoing.on("error", () => this.failed())
    this.outgoing.on("close", () => this.failed())
    this.outgoing.once("socket", (socket) => this.connecting(socket as TLSSocket))
    this.outgoing.once("response", (answer) => this.answered(answer))
    this.outgoing.once("continue", () => this.continue())
  }

  /** Stops the attempt, because the caller has disconnected or the outcome is known. */
  abandon(): void {
    clearTimeout(this.timer)
    this.stopBody()
    this.outgoing?.destroy()
  }

  private settle(outcome: Forwarded): void {
    if (this.settled) return
    this.settled = true
    this.abandon()
    this.conclude(outcome)
  }

  /** Handles a lost connection. An answer that has begun breaks off without help. */
  private failed(): void {
    if (this.answer === null) this.settle({ _tag: this.connected ? "Lost" : "NotSent" })
  }

  private connecting(socket: TLSSocket): void {
    // An authorised socket has finished its handshake, for instance one that an earlier request used.
    if (socket.authorized) this.begin()
    else socket.once("secureConnect", () => this.begin())
  }

  /** Sends the request, and only now reads the caller's body. From here on the router may have received the request. */
  private begin(): void {
    if (this.settled || this.connected) return
    this.connected = true
    clearTimeout(this.timer)
    const { request } = this.passage
    if (!hasBody(request)) {
      this.outgoing?.end()
      return this.awaitAnswer()
    }
    if (!expectsContinue(request)) this.sendBody()
    else this.awaitAnswer()
  }

  private continue(): void {
    if (this.settled || !expectsContinue(this.passage.request)) return
    clearTimeout(this.timer)
    this.passage.response.writeContinue()
    this.sendBody()
  }

  private awaitAnswer(): void {
    this.timer = setTimeout(() => this.settle({ _tag: "Lost" }), this.passage.answerMillis)
  }

  private sendBody(): void {
    const { request } = this.passage
    request.on("data", this.onData)
    request.on("end", this.onEnd)
    this.outgoing?.on("drain", this.onDrain)
    // Node delays the headers until the first bytes of the body. Flushing them lets a router refuse by the headers alone.
    setImmediate(() => {
      if (!this.settled && this.size === 0 && this.outgoing?.writableEnded === false) this.outgoing.flushHeaders()
    })
  }

  private stopBody(): void {
    const { request } = this.passage
    request.off("data", this.onData)
    request.off("end", this.onEnd)
    this.outgoing?.off("drain", this.onDrain)
  }

  private readonly onData = (chunk: Buffer): void => {
    const { request, bodyCap } = this.passage
    this.size += chunk.length
    if (this.size > bodyCap) {
      request.pause()
      return this.settle({ _tag: "TooLarge" })
    }
    if (this.outgoing?.write(chunk) === false) request.pause()
  }

  private readonly onDrain = (): void => void this.passage.request.resume()

  private readonly onEnd = (): void => {
    this.outgoing?.end()
    if (this.answer === null) this.awaitAnswer()
  }

  private answered(answer: IncomingMessage): void {
    this.answer = answer
    clearTimeout(this.timer)
    answer.on("error", () => {})
    const status = answer.statusCode ?? 502
    if (status < 200 || (status >= 400 && !isEnvelope(answer))) return this.foreign(answer)
    const { request, response, closing } = this.passage
    // A write to a caller that disconnects fails. The `close` event handles this, so the error is ignored here.
    response.on("error", () => {})
    // The router will not read this body to its end, so the following bytes on the caller's connection are no request.
    const ends = !request.complete && answer.headers.connection === "close"
    const unread = leavesBody(request, ends)
    if (ends || unread) {
      this.stopBody()
      request.pause()
    }
    if (unread && answer.headers[keyAccepted] !== undefined) presentedGoodKey(request)
    try {
      response.writeHead(status, answerHeaders(answer, ends || unread || closing()))
    } catch {
      return this.foreign(answer)
    }
    if (request.method === "HEAD") {
      response.end()
      answer.once("close", () => this.finish())
      answer.resume()
      return
    }
    // A truncated answer must break the connection; the caller would otherwise accept it as complete.
    answer.once("close", () => {
      if (!answer.complete) response.destroy()
      else if (unread) this.endAfterBody()
    })
    response.once("close", () => this.finish())
    answer.pipe(response, { end: !unread })
  }

  /** Passes on the end of the answer once the caller's body has arrived completely. */
  private endAfterBody(): void {
    const { request, response, unread } = this.passage
    this.outgoing?.destroy()
    unread.discard(request, () => response.end())
  }

  private foreign({ statusCode = 502, headers }: IncomingMessage): void {
    this.settle({ _tag: "Foreign", status: statusCode, retryAfter: headers["retry-after"] ?? null })
  }

  /** Handles the end of an answer, complete or not. The router's connection is reused unless one side still has data to send. */
  private finish(): void {
    if (this.settled) return
    this.settled = true
    clearTimeout(this.timer)
    this.stopBody()
    if (this.answer?.complete !== true || this.outgoing?.writableFinished !== true) this.outgoing?.destroy()
    this.conclude({ _tag: "Done" })
  }
}

/** Whether an answer is one of a router's envelopes. */
const isEnvelope = ({ headers }: IncomingMessage): boolean =>
  String(headers["content-type"]).startsWith("application/json") && headers["content-length"] !== "0"
