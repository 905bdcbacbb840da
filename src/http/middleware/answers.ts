// How an answer becomes a response: JSON text with its headers, written in one piece (doc 1, Envelope; A1-02, A1-03).
import { HttpServerResponse } from "effect/http"
import { refusalText, type WireRefusal } from "../toWire.ts"
import type { Rendered } from "./idempotency.ts"

export type AnswerHeaders = Record<string, string>

/** A JSON answer. The headers object is taken over, not copied. */
export const answerWith = ({ status, body }: Rendered, headers: AnswerHeaders): HttpServerResponse.HttpServerResponse => {
  headers["content-type"] = "application/json"
  headers["cache-control"] = "no-store"
  return HttpServerResponse.text(body, { status, headers })
}

/** A refusal as a response. */
export const refusalWith = (refusal: WireRefusal, headers: AnswerHeaders): HttpServerResponse.HttpServerResponse =>
  answerWith({ status: refusal.status, body: refusalText(refusal) }, headers)
