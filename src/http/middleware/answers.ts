/**
 * Writes an answer as a response: JSON text or bytes, in one piece with its headers. streams.ts sends streamed answers (doc
 * 1, Envelope; A1-02, A1-03).
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

/** The form of a route's success: statuses and media type, and for JSON whether it has the envelope. */
export interface AnswerForm extends JsonForm {
  readonly kind: "json" | "bytes" | "stream"
  readonly contentType: string
}

/** An answer in one piece: text or bytes. Only text can be stored under an Idempotency-Key. */
export interface WholeAnswer extends Omit<Rendered, "body"> {
  readonly body: string | Uint8Array
  /** The media type; JSON when absent. */
  readonly contentType?: string
  /** The header Link: the next page of a list (RFC 8288). */
  readonly link?: string
  /** Headers that replace the usual ones. */
  readonly own?: AnswerHeaders
}

/** An answer that is sent while it is being made (streams.ts). */
export interface StreamedAnswer extends Omit<Rendered, "body"> {
  readonly pieces: ByteStream
  readonly contentType: string
  readonly own?: AnswerHeaders
}

export type Outgoing = WholeAnswer | StreamedAnswer

/** Renders a success in the form of its route. The contract's schema declares whether data is JSON, bytes or a stream. */
export const renderSuccess = (form: AnswerForm, data: unknown, status: number | null): Outgoing => {
  if (form.kind === "json") return renderJson(form, data, status)
  const head = { status: statusOf(form, status), contentType: form.contentType }
  return form.kind === "bytes" ? { ...head, body: data as Uint8Array } : { ...head, pieces: data as ByteStream }
}

const sharedAnswers = new WeakMap<object, WholeAnswer>()

/** Renders a success that many callers read: the bytes of the same object are made once. */
export const renderShared = (form: AnswerForm, data: object): WholeAnswer => {
  const found = sharedAnswers.get(data)
  if (found !== undefined) return found
  const { status, body } = renderJson(form, data, null)
  const made = { status, body: Buffer.from(body) }
  sharedAnswers.set(data, made)
  return made
}

/** Adds the headers of every answer. A 413 ends the connection, because the remaining body is not read. */
export const complete = (status: number, contentType: string, headers: AnswerHeaders, own?: AnswerHeaders): void => {
  if (status !== 304) headers["content-type"] = contentType
  headers["cache-control"] = "no-store"
  if (own !== undefined) Object.assign(headers, own)
  if (status === 413) headers["connection"] = "close"
}

const json = "application/json"

/** A JSON answer. Takes ownership of the headers object. */
export const answerWith = (
  { status, body }: Rendered,
  headers: AnswerHeaders
): HttpServerResponse.HttpServerResponse => {
  complete(status, json, headers)
  return HttpServerResponse.text(body, { status, headers })
}

/** The adapter receives this after an answer was already sent: the response has ended, so the adapter adds nothing. */
export const sent = HttpServerResponse.empty()

/** Node's request and response. */
export interface Pair {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The principal when the key is good; otherwise null or absent. */
  readonly principal?: unknown
}

/**
 * Writes an answer directly to Node's response, which saves a tenth of a request's cost. Only for requests that were
 * read completely: for any other request, the adapter must drain the remaining body. Takes ownership of the headers
 * object.
 */
export const answerNow = (
  { request, response, principal = null }: Pair,
  { status, body, contentType = json, own }: WholeAnswer,
  headers: AnswerHeaders
): HttpServerResponse.HttpServerResponse => {
  // Node marks a request complete only after its handler has returned, even a request without a body.
  const whole = request.complete || bodyless(request)
  // The body ended early, so the following bytes on the connection are no request.
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

export const refusalWith = (refusal: WireRefusal, headers: AnswerHeaders): HttpServerResponse.HttpServerResponse =>
  answerWith(renderRefusal(refusal), headers)
