/**
 * Forwards one request to one router and streams the answer back, with backpressure in both directions. If the router can't
 * have received the request, the next router is tried. If it may have, the caller gets an error, because a retry could do the
 * work twice.
 */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http"
import { request as httpsRequest } from "node:https"
import type { TLSSocket } from "node:tls"
import { answerHeaders, expectsContinue, hasBody, requestHeaders } from "./proxyHeaders.ts"
import { keyAccepted, leavesBody, presentedGoodKey, type UnreadBodies } from "../middleware/UnreadBodies.ts"
import type { Router } from "./RouterPool.ts"

/** The outcome of one attempt. */
export type Forwarded =
  /** The answer was passed on, or the caller disconnected. */
  | { readonly _tag: "Done" }
  /** The router's answer has no envelope; its status selects the envelope to send. */
  | { readonly _tag: "Foreign"; readonly status: number; readonly retryAfter: string | null }
  /** No connection was made: the router has not received the request. */
  | { readonly _tag: "NotSent" }
  /** The connection failed, or a timeout passed, before an answer: the request may have been executed. */
  | { readonly _tag: "Lost" }
  /** The body exceeds the cap. */
  | { readonly _tag: "TooLarge" }
  /** Node refuses to send a request with this target or these headers. */
  | { readonly _tag: "Unsendable" }

export interface Passage {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly source: string
  readonly requestId: string
  /** Cap of a body in bytes. */
  readonly bodyCap: number
  /** Timeouts of a connection, and of an answer once the whole request is sent; wall milliseconds. */
  readonly connectMillis: number
  readonly answerMillis: number
  /** Whether answers end their connections. */
  readonly closing: () => boolean
  /** Discards the rest of a body after a router refused the request. */
  readonly unread: UnreadBodies
}

/** Returned to the adapter for an answer that was already sent: the response has ended, so the adapter adds nothing. */
export const sent = HttpServerResponse.empty()

/** Forwards to one router. Interrupted when the caller disconnects, which closes the router's connection. */
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
        // HEAD reaches the router as GET.
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

  /** Stops the attempt: the caller has disconnected or the outcome is known. */
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

  /** Handles a lost connection. An answer that has begun breaks off by itself. */
  private failed(): void {
    if (this.answer === null) this.settle({ _tag: this.connected ? "Lost" : "NotSent" })
  }

  private connecting(socket: TLSSocket): void {
    // An authorised socket has finished its handshake, as one kept from an earlier request.
    if (socket.authorized) this.begin()
    else socket.once("secureConnect", () => this.begin())
  }

  /** Sends the request. From here on the router may have received it; the caller's body is not read before. */
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
    // Node delays the headers until the first bytes of the body. A router that refuses by the headers needs no body.
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
    // A write to a caller that is disconnecting fails; the `close` event handles that.
    response.on("error", () => {})
    // The router will not read this body to its end, so the bytes that follow on the caller's connection are no request.
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
    // A truncated answer must break the connection, or the caller would take it for a whole one.
    answer.once("close", () => {
      if (!answer.complete) response.destroy()
      else if (unread) this.endAfterBody()
    })
    response.once("close", () => this.finish())
    answer.pipe(response, { end: !unread })
  }

  /** Passes on the end of the answer once the rest of the caller's body has arrived. */
  private endAfterBody(): void {
    const { request, response, unread } = this.passage
    this.outgoing?.destroy()
    unread.discard(request, () => response.end())
  }

  private foreign({ statusCode = 502, headers }: IncomingMessage): void {
    this.settle({ _tag: "Foreign", status: statusCode, retryAfter: headers["retry-after"] ?? null })
  }

  /** Handles the end of an answer, whole or not. The router's connection is reused unless a side still has data to send. */
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
