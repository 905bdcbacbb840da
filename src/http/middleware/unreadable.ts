/**
 * Answers events that Node reports outside a request: unreadable HTTP, oversized headers, timeouts, CONNECT. The answers have
 * the envelope, and are never written into another answer: a connection that serves a complete request finishes that answer
 * and then ends (A1-01, A1-02; RFC 9112, 2.2 and 9.2).
 */
import { randomUUID } from "node:crypto"
import { type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import { gateRefusals, invalid, refusalText, type WireRefusal } from "../../machines/shared/wireRefusal.ts"
import { endAfter, lastWhole } from "./pipeline.ts"

const tooSlow: readonly [number, WireRefusal] = [408, gateRefusals.tooSlow]

const unreadable: Readonly<Record<string, readonly [number, WireRefusal]>> = {
  HPE_INVALID_METHOD: [404, gateRefusals.verb],
  // Requests arrived while an answer filled the connection, and Node has dropped some of them.
  HPE_PAUSED: [503, gateRefusals.unavailable],
  HPE_HEADER_OVERFLOW: [431, invalid("INVALID_HTTP", "The request headers are too large.")],
  // Node's timeout covers the headers; bodies have a minimum pace instead.
  ERR_HTTP_REQUEST_TIMEOUT: tooSlow
}

/** A caller may keep a connection open for this long after the server's end; then it is cut, ms. */
const graceMillis = 500

/** Sends the text and ends the connection; cuts it if the caller does not end its side in time. */
const finish = (socket: Socket, text?: string): void => {
  const cut = setTimeout(() => socket.destroy(), graceMillis)
  socket.once("close", () => clearTimeout(cut))
  if (text === undefined) socket.end()
  else socket.end(text)
}

/** The answer that is being sent on this connection. Node has no public way to it. */
const currentOf = (socket: Socket): ServerResponse | null =>
  (socket as Socket & { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? null

const ending = new WeakSet<Socket>()

/** Answers the requests that have arrived completely, then ends the connection. */
const endOnceAnswered = (current: ServerResponse, socket: Socket): void => {
  if (ending.has(socket)) return
  ending.add(socket)
  const last = lastWhole(socket) ?? current
  endAfter(socket, last)
  last.once("close", () => finish(socket))
}

/** Sends an answer that belongs to no request, unless a complete request or a begun answer precedes it. */
const answerAlone = (socket: Socket, [status, refusal]: readonly [number, WireRefusal]): void => {
  const current = currentOf(socket)
  if (current !== null && (current.headersSent || current.req.complete)) endOnceAnswered(current, socket)
  else finish(socket, rawAnswer(status, refusal))
}

/** Answers unparsable bytes, in Node's `clientError` event, and closes the connection. */
export const answerUnreadable = (error: Error & { readonly code?: string }, socket: Socket): void => {
  const code = error.code ?? ""
  // No answer is sent, because the caller could not read it without TLS.
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
 * Handles a connection without traffic for `millis`, in Node's `timeout` event. An idle connection ends, a stalled body gets
 * an answer, an unread answer is cut. A request whose answer is being made stays, and so does a stream without data to send.
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
