/**
 * One request through the edge to one router and its answer back, streamed both ways with back-pressure: nothing is kept
 * but what is on its way (architecture 5: the edge). Whether the router can have seen the request decides what happens
 * when it goes away: not seen, the next router is asked; seen, the caller learns it, and nobody repeats it for him.
 */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http"
import { request as httpsRequest } from "node:https"
import type { TLSSocket } from "node:tls"
import { answerHeaders, expectsContinue, hasBody, requestHeaders } from "./proxyHeaders.ts"
import { keyAccepted, leavesBody, presentedGoodKey, type UnreadBodies } from "../middleware/UnreadBodies.ts"
import type { Router } from "./RouterPool.ts"

/** What became of one attempt. */
export type Forwarded =
  /** The answer has been passed on, or the caller has gone. */
  | { readonly _tag: "Done" }
  /** The router's answer is not ours: its status, for the envelope. */
  | { readonly _tag: "Foreign"; readonly status: number; readonly retryAfter: string | null }
  /** No connection was made: certainly not seen. */
  | { readonly _tag: "NotSent" }
  /** The connection was lost, or time ran out, before an answer: perhaps done. */
  | { readonly _tag: "Lost" }
  /** The body is larger than the cap. */
  | { readonly _tag: "TooLarge" }
  /** Node can not send such a request. */
  | { readonly _tag: "Unsendable" }

export interface Passage {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly source: string
  readonly requestId: string
  /** Most bytes of a body. */
  readonly bodyCap: number
  /** Longest wait for a connection, and for an answer once the whole request is sent; wall milliseconds. */
  readonly connectMillis: number
  readonly answerMillis: number
  /** Whether answers end their connections. */
  readonly closing: () => boolean
  /** Discards the rest of a body after a router has refused the request. */
  readonly unread: UnreadBodies
}

/** What the adapter is given for an answer that has left already: it finds the response ended and adds nothing. */
export const sent = HttpServerResponse.empty()

/** Asks one router. Interrupted when the caller goes away; the router hears of it by its connection. */
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
        // HEAD reaches the router as a GET (doc 1, Authentication).
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

  /** The caller has gone, or the outcome is known: nothing of the attempt goes on. */
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

  /** The connection is gone. An answer that has begun breaks off by itself. */
  private failed(): void {
    if (this.answer === null) this.settle({ _tag: this.connected ? "Lost" : "NotSent" })
  }

  private connecting(socket: TLSSocket): void {
    // Authorised is a socket whose handshake is done, as one kept from an earlier request.
    if (socket.authorized) this.begin()
    else socket.once("secureConnect", () => this.begin())
  }

  /** From here on the router may have seen the request. The caller's body is not touched before. */
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
    // Node keeps the headers back for the first of the body; a router that refuses them needs none of it.
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
    // What is written to a caller that is just leaving fails; `close` says that it went.
    response.on("error", () => {})
    // The router will not read this body to its end. The bytes that follow on the caller's connection are no request either.
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
    // Half an answer is no answer: the caller sees a broken connection, not a short body.
    answer.once("close", () => {
      if (!answer.complete) response.destroy()
      else if (unread) this.endAfterBody()
    })
    response.once("close", () => this.finish())
    answer.pipe(response, { end: !unread })
  }

  /** The edge has passed on the whole answer. The answer ends when the rest of the caller's body has arrived. */
  private endAfterBody(): void {
    const { request, response, unread } = this.passage
    this.outgoing?.destroy()
    unread.discard(request, () => response.end())
  }

  private foreign({ statusCode = 502, headers }: IncomingMessage): void {
    this.settle({ _tag: "Foreign", status: statusCode, retryAfter: headers["retry-after"] ?? null })
  }

  /** The answer has left, whole or not. The router's connection is kept unless either side has more to say on it. */
  private finish(): void {
    if (this.settled) return
    this.settled = true
    clearTimeout(this.timer)
    this.stopBody()
    if (this.answer?.complete !== true || this.outgoing?.writableFinished !== true) this.outgoing?.destroy()
    this.conclude({ _tag: "Done" })
  }
}

/** Whether an answer of a router is one of its envelopes. */
const isEnvelope = ({ headers }: IncomingMessage): boolean =>
  String(headers["content-type"]).startsWith("application/json") && headers["content-length"] !== "0"
