/**
 * How an answer becomes a response: JSON text or bytes, written in one piece with its headers (doc 1, Envelope; A1-02,
 * A1-03). What is sent as it is made is for streams.ts.
 */
import type { Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { type JsonForm, type Rendered, renderJson, renderRefusal, statusOf } from "../../machines/shared/answerText.ts"
import type { WireRefusal } from "../../machines/shared/wireRefusal.ts"
import { bodyless } from "./readBody.ts"
import { presentedGoodKey } from "./UnreadBodies.ts"

export type AnswerHeaders = Record<string, string>

export type ByteStream = Stream.Stream<Uint8Array, unknown>

/** How a success of a route is written: its statuses, its media type, and for JSON whether in the envelope (A1-03). */
export interface AnswerForm extends JsonForm {
  readonly kind: "json" | "bytes" | "stream"
  readonly contentType: string
}

/** An answer in one piece: text, which alone can be stored, or bytes. */
export interface WholeAnswer extends Omit<Rendered, "body"> {
  readonly body: string | Uint8Array
  /** JSON when it is not said. */
  readonly contentType?: string
  /** The header Link: how a list goes on (RFC 8288). */
  readonly link?: string
  /** Headers of its own, in place of those that every answer has. */
  readonly own?: AnswerHeaders
}

/** An answer that is sent as it is made (streams.ts). */
export interface StreamedAnswer extends Omit<Rendered, "body"> {
  readonly pieces: ByteStream
  readonly contentType: string
  readonly own?: AnswerHeaders
}

export type Outgoing = WholeAnswer | StreamedAnswer

/** A success in the form of its route. Data of the other kinds is what the contract's schema says: bytes or a stream. */
export const renderSuccess = (form: AnswerForm, data: unknown, status: number | null): Outgoing => {
  if (form.kind === "json") return renderJson(form, data, status)
  const head = { status: statusOf(form, status), contentType: form.contentType }
  return form.kind === "bytes" ? { ...head, body: data as Uint8Array } : { ...head, pieces: data as ByteStream }
}

const sharedAnswers = new WeakMap<object, WholeAnswer>()

/** A success that many readers get, in the form of its route: the same object is written once, to the bytes that are sent. */
export const renderShared = (form: AnswerForm, data: object): WholeAnswer => {
  const found = sharedAnswers.get(data)
  if (found !== undefined) return found
  const { status, body } = renderJson(form, data, null)
  const made = { status, body: Buffer.from(body) }
  sharedAnswers.set(data, made)
  return made
}

/** Adds the headers that every answer has. A 413 ends the connection, because the rest of the body is not read. */
export const complete = (status: number, contentType: string, headers: AnswerHeaders, own?: AnswerHeaders): void => {
  if (status !== 304) headers["content-type"] = contentType
  headers["cache-control"] = "no-store"
  if (own !== undefined) Object.assign(headers, own)
  if (status === 413) headers["connection"] = "close"
}

const json = "application/json"

/** A JSON answer. The headers object is taken over, not copied. */
export const answerWith = (
  { status, body }: Rendered,
  headers: AnswerHeaders
): HttpServerResponse.HttpServerResponse => {
  complete(status, json, headers)
  return HttpServerResponse.text(body, { status, headers })
}

/** What the adapter is given for an answer that has left already: it finds the response ended and adds nothing. */
export const sent = HttpServerResponse.empty()

/** A request and the response to it, as Node has them. */
export interface Pair {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The caller that a good key identifies; null or absent without one. */
  readonly principal?: unknown
}

/**
 * Writes an answer straight to Node's response, which saves a tenth of a request's cost. Only for requests read in full:
 * what is left of a body is the adapter's to drain. The headers object is taken over, not copied.
 */
export const answerNow = (
  { request, response, principal = null }: Pair,
  { status, body, contentType = json, own }: WholeAnswer,
  headers: AnswerHeaders
): HttpServerResponse.HttpServerResponse => {
  // Node calls a request complete only once its handler has returned, even one without a body.
  const whole = request.complete || bodyless(request)
  // A body that ended early: what follows on the connection, if anything, is no request.
  if (!whole && request.destroyed) headers["connection"] = "close"
  complete(status, contentType, headers, own)
  if (!whole || response.destroyed || response.headersSent) {
    if (principal !== null) presentedGoodKey(request)
    return typeof body === "string"
      ? HttpServerResponse.text(body, { status, headers })
      : HttpServerResponse.uint8Array(body, { status, headers, contentType })
  }
  if (status !== 304) headers["content-length"] = String(Buffer.byteLength(body))
  response.writeHead(status, headers)
  response.end(body)
  return sent
}

/** A refusal as a response. */
export const refusalWith = (refusal: WireRefusal, headers: AnswerHeaders): HttpServerResponse.HttpServerResponse =>
  answerWith(renderRefusal(refusal), headers)
