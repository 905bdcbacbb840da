/**
 * The operator surface as an HTTP application under /operator/v1, and the atlas under /atlas. It is no hot path, so Effect's
 * API server does the work. Its answers without a body (unknown route, wrong method, a defect) get the envelope here. Every
 * answer has the request's id and forbids caching (operator surface; A1-01).
 */
import { Cause, Effect, Layer, type Scope } from "effect"
import { Headers, HttpRouter, HttpServer, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import { envelopeOf } from "../api/operator/OperatorErrors.ts"
import { under } from "../middleware/routes.ts"
import { requestIdOf } from "../middleware/requestId.ts"
import { atlasPrefix, makeAtlasApp } from "./atlas/atlasApp.ts"
import { operatorRoutes } from "./operatorFeatures.ts"

/** Answers every request under /operator/v1 and /atlas. Never fails; every answer has the envelope. */
export type OperatorApp = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** Builds the application in the current scope. Paths are exact in case and slashes, as on the partner surface. */
export const makeOperatorApp = Effect.map(
  Effect.all([
    Effect.provideService(
      HttpRouter.toHttpEffect(operatorRoutes.pipe(Layer.provide(HttpServer.layerServices))),
      HttpRouter.RouterConfig,
      { caseSensitive: true, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false }
    ),
    makeAtlasApp
  ]),
  ([routed, atlas]): OperatorApp =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const requestId = requestIdOf(request.headers["x-request-id"])
      // Rows are stored with the id that the caller receives. Bodies are read as JSON under any content type, as on the
      // partner surface.
      const marked = request.modify({
        headers: Headers.setAll(request.headers, { "x-request-id": requestId, "content-type": "application/json" })
      })
      const response = yield* (under(request.url, atlasPrefix) ? atlas : Effect.map(routed, enveloped)).pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, marked),
        Effect.catchCause(answerCause)
      )
      return HttpServerResponse.setHeaders(response, { "x-request-id": requestId, "cache-control": "no-store" })
    })
)

const refusal = (status: number, code: number, sentence: string, data?: { readonly errorId: string }) =>
  HttpServerResponse.jsonUnsafe(envelopeOf(code, sentence, data ?? null), {
    status,
    ...(status === 503 ? { headers: { "retry-after": "1" } } : {})
  })

/** Adds the envelope to the router's own answers. */
const enveloped = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse => {
  // A command that may have run already gets no Retry-After.
  if (response.status === 503) {
    return isUnsure(response) ? response : HttpServerResponse.setHeader(response, "retry-after", "1")
  }
  if (response.status < 400 || response.headers["content-type"]?.startsWith("application/json")) return response
  switch (response.status) {
    case 401:
      return refusal(401, 4010, "Authentication required.")
    case 404:
    case 405:
      return refusal(404, 4004, "Not found.")
    case 413:
      return refusal(413, 4130, "The request is too large.")
    case 500:
      return refusal(500, 5000, "Something went wrong on our side.")
    default:
      return refusal(400, 4000, "The request could not be read: send a JSON object.")
  }
}

/** Whether the command may have run. It is read from the body, because an error of the contract can't carry headers. */
const isUnsure = ({ body }: HttpServerResponse.HttpServerResponse): boolean => {
  if (body._tag !== "Uint8Array") return false
  const envelope = JSON.parse(new TextDecoder().decode(body.body)) as { readonly data?: { outcomeUnknown?: unknown } }
  return envelope.data?.outcomeUnknown === true
}

const answerCause = (cause: Cause.Cause<unknown>): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const failure = cause.reasons.find(Cause.isFailReason)?.error
  const reason = (failure as { readonly reason?: { readonly _tag?: string } } | undefined)?.reason?._tag
  if (reason === "RouteNotFound") return Effect.succeed(refusal(404, 4004, "Not found."))
  // The caller disconnected, or its body could not be read to the end. This is no defect: the edge layer answers by the
  // status.
  if (Cause.hasInterruptsOnly(cause) || HttpServerError.isHttpServerError(Cause.squash(cause))) {
    return Effect.failCause(cause as Cause.Cause<never>)
  }
  const errorId = randomUUID()
  return Effect.as(
    Effect.logError(`an operator request failed by a defect: its caller gets 500 with id ${errorId}`, cause),
    refusal(500, 5000, "Something went wrong on our side.", { errorId })
  )
}
