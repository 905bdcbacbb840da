/**
 * What Node answers outside a request: unreadable HTTP, oversized headers, time-outs, CONNECT. In the envelope, and never
 * into the middle of another answer: a connection on which a whole request is being served keeps that request's answer
 * and ends with it (A1-01, A1-02; RFC 9112, 2.2 and 9.2).
 */
import { randomUUID } from "node:crypto"
import { type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import { gateRefusals, invalid, refusalText, type WireRefusal } from "../../machines/shared/wireRefusal.ts"
import { endAfter, lastWhole } from "./pipeline.ts"

const tooSlow: readonly [number, WireRefusal] = [408, gateRefusals.tooSlow]

const unreadable: Readonly<Record<string, readonly [number, WireRefusal]>> = {
  HPE_INVALID_METHOD: [404, gateRefusals.verb],
  // Requests came while an answer filled the connection, and Node has lost some of them.
  HPE_PAUSED: [503, gateRefusals.unavailable],
  HPE_HEADER_OVERFLOW: [431, invalid("INVALID_HTTP", "The request headers are too large.")],
  // The timeout of Node covers the headers; the body has to keep a pace.
  ERR_HTTP_REQUEST_TIMEOUT: tooSlow
}

/** How long a caller may leave a connection open that we have ended, before it is cut. */
const graceMillis = 500

/** Ends a connection after what was written to it; a caller that does not end its side is not waited for. */
const finish = (socket: Socket, text?: string): void => {
  const cut = setTimeout(() => socket.destroy(), graceMillis)
  socket.once("close", () => clearTimeout(cut))
  if (text === undefined) socket.end()
  else socket.end(text)
}

/** The answer that is being made for this connection. Node has no public way to it. */
const currentOf = (socket: Socket): ServerResponse | null =>
  (socket as Socket & { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? null

const ending = new WeakSet<Socket>()

/** Lets what has arrived in full be answered, and ends the connection with the last of it. */
const endOnceAnswered = (current: ServerResponse, socket: Socket): void => {
  if (ending.has(socket)) return
  ending.add(socket)
  const last = lastWhole(socket) ?? current
  endAfter(socket, last)
  last.once("close", () => finish(socket))
}

/** One answer of the connection's own, unless a request in full, or an answer that has begun, is in its way. */
const answerAlone = (socket: Socket, [status, refusal]: readonly [number, WireRefusal]): void => {
  const current = currentOf(socket)
  if (current !== null && (current.headersSent || current.req.complete)) endOnceAnswered(current, socket)
  else finish(socket, rawAnswer(status, refusal))
}

/** Answers bytes that are no request, in Node's `clientError` event, and closes the connection. */
export const answerUnreadable = (error: Error & { readonly code?: string }, socket: Socket): void => {
  const code = error.code ?? ""
  // Nobody can read an answer without TLS.
  if (!socket.writable || code === "ECONNRESET" || code.startsWith("ERR_SSL") || code.startsWith("ERR_TLS")) {
    socket.destroy()
    return
  }
  answerAlone(socket, unreadable[code] ?? [400, invalid("INVALID_HTTP", "The request is not valid HTTP.")])
}

/** Answers a request with a slow body, and closes the connection. */
export const answerTooSlow = (socket: Socket): void => answerAlone(socket, tooSlow)

/** Answers CONNECT, which Node hands over without a response object. */
export const answerConnect = (socket: Socket): void => {
  socket.on("error", () => socket.destroy())
  answerAlone(socket, [404, gateRefusals.verb])
}

/**
 * A connection on which nothing has moved for `millis`, in Node's `timeout` event: an idle one ends, a body that does not
 * go on is answered, an answer that is not read is cut. A request that is being served is no fault of the caller's, nor is
 * a stream that has nothing to send.
 */
export const endStalled = (socket: Socket, millis: number): void => {
  const current = currentOf(socket)
  if (current === null) finish(socket)
  else if (current.headersSent && current.writableLength > 0) socket.destroy()
  else if (current.headersSent || current.req.complete) socket.setTimeout(millis)
  else finish(socket, rawAnswer(...tooSlow))
}

const rawAnswer = (status: number, refusal: WireRefusal): string => {
  const body = refusalText(refusal)
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "Content-Type: application/json",
    "Cache-Control: no-store",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${randomUUID()}`,
    ...(status === 503 ? ["Retry-After: 1"] : []),
    "Connection: close",
    "",
    body
  ].join("\r\n")
}
