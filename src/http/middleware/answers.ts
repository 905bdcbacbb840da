// How an answer becomes a response: JSON text with its headers, written in one piece (doc 1, Envelope; A1-02, A1-03).
import { HttpServerResponse } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { refusalText, type WireRefusal } from "../toWire.ts"
import type { Rendered } from "./idempotency.ts"

export type AnswerHeaders = Record<string, string>

/** How a success of a route is written: its statuses, and whether in the envelope (doc 1, Envelope; A1-03). */
export interface AnswerForm {
  readonly statuses: ReadonlyArray<number>
  readonly enveloped: boolean
}

/** A success of a route. `status` null: the only one that the contract has; dies of one that it has not. */
export const renderSuccess = (form: AnswerForm, data: unknown, status: number | null): Rendered => {
  const [only, other] = form.statuses
  const told = status ?? (other === undefined ? only : undefined)
  if (told === undefined || !form.statuses.includes(told)) throw new Error(`the contract has no status ${status} here`)
  return { status: told, body: JSON.stringify(form.enveloped ? { code: 0, data } : data) }
}

/** A refusal as an answer. */
export const renderRefusal = (refusal: WireRefusal): Rendered => ({
  status: refusal.status,
  body: refusalText(refusal),
  ...(refusal.retryAt === undefined ? {} : { retryAt: refusal.retryAt }),
  ...(refusal.passing === true ? { passing: true } : {})
})

/** What every JSON answer has. After a 413 the rest of the body is nobody's: the connection ends with the answer. */
const complete = (status: number, headers: AnswerHeaders): void => {
  headers["content-type"] = "application/json"
  headers["cache-control"] = "no-store"
  if (status === 413) headers["connection"] = "close"
}

/** A JSON answer. The headers object is taken over, not copied. */
export const answerWith = (
  { status, body }: Rendered,
  headers: AnswerHeaders
): HttpServerResponse.HttpServerResponse => {
  complete(status, headers)
  return HttpServerResponse.text(body, { status, headers })
}

/** What the adapter is given for an answer that has left already: it finds the response ended and adds nothing. */
const sent = HttpServerResponse.empty()

/**
 * Writes a JSON answer straight to Node's response, which saves a tenth of a request's cost. Only for requests read in
 * full: what is left of a body is the adapter's to drain. The headers object is taken over, not copied.
 */
export const answerNow = (
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  answer: Rendered,
  headers: AnswerHeaders
): HttpServerResponse.HttpServerResponse => {
  // A body that ended early: what follows on the connection, if anything, is no request.
  if (!request.complete && request.destroyed) headers["connection"] = "close"
  if (!request.complete || response.destroyed || response.headersSent) return answerWith(answer, headers)
  complete(answer.status, headers)
  headers["content-length"] = String(Buffer.byteLength(answer.body))
  response.writeHead(answer.status, headers)
  response.end(answer.body)
  return sent
}

/** A refusal as a response. */
export const refusalWith = (refusal: WireRefusal, headers: AnswerHeaders): HttpServerResponse.HttpServerResponse =>
  answerWith(renderRefusal(refusal), headers)
