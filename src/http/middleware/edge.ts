/**
 * The outermost layer: checks methods and declared sizes for every surface, and adds the envelope to answers without one (doc
 * 1, Authentication: HEAD and verbs; A1-01, A1-02).
 */
import { Cause, Effect } from "effect"
import { Headers, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import { bodyCaps } from "../../machines/shared/Limits.ts"
import { defect, gateRefusals, invalid, type WireRefusal } from "../../machines/shared/wireRefusal.ts"
import { refusalWith } from "./answers.ts"
import type { BodyBudget } from "./BodyBudget.ts"
import { edgeCapGate, verbGate } from "./gates.ts"
import { requestIdOf } from "./requestId.ts"

type App<R> = Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, R>

/** The envelope for an answer without one, by the answer's status. */
export const byStatus = (status: number): WireRefusal => {
  switch (status) {
    case 401:
      return gateRefusals.unauthorized
    case 403:
      return gateRefusals.scope
    case 404:
    case 405:
      return gateRefusals.route
    case 408:
      return gateRefusals.tooSlow
    case 413:
      return gateRefusals.edgeCap
    case 429:
      return gateRefusals.rateLimited
    case 502:
    case 503:
    case 504:
      return gateRefusals.unavailable
    default:
      return status >= 500 ? defect(randomUUID()) : invalid("INVALID_HTTP", "The request is not valid.")
  }
}

/** True if an answer comes from this service: JSON, or HTML of its own pages, such as the page for an expired `/atlas` link. */
const isOurs = ({ body }: HttpServerResponse.HttpServerResponse): boolean =>
  (body._tag === "Uint8Array" || body._tag === "Stream") && /^(application\/json|text\/html)/.test(body.contentType)

/**
 * Wraps an app other than the dispatcher: checks methods, caps and the memory of bodies before it, and adds X-Request-Id and
 * the envelope after it. A defect is logged with an id, and the answer shows only the id. `reading` is for an app that reads
 * bodies through Effect: each body counts with its declared length, up to the given cap. For an app without bodies it is
 * absent, because mere declarations could use up the memory.
 */
export const edged =
  <R>(app: App<R>, reading: { readonly bodies: BodyBudget; readonly cap: number } | null = null) =>
  (
    request: HttpServerRequest.HttpServerRequest
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, never, Exclude<R, HttpServerRequest.HttpServerRequest>> => {
    const requestId = requestIdOf(request.headers["x-request-id"])
    const headers = { "x-request-id": requestId }
    const declared = request.headers["content-length"]
    const length = declared === undefined ? null : Number(declared)
    const refusal = verbGate(request.method) ?? edgeCapGate(length)
    if (refusal !== null) return Effect.succeed(refusalWith(refusal, headers))
    const cap = reading?.cap ?? 0
    const room = reading?.bodies.room("operator", cap) ?? null
    const undeclared = request.headers["transfer-encoding"] === undefined ? 0 : cap
    const bytes = Math.min(length ?? undeclared, cap)
    if (room?.take(bytes) === false) {
      const busy = { ...headers, "retry-after": "1", connection: "close" }
      return Effect.succeed(refusalWith(gateRefusals.unavailable, busy))
    }
    // The request carries the id that the caller receives, so that the app stores the same one.
    const marked = request.modify({ headers: Headers.set(request.headers, "x-request-id", requestId) })
    return app.pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, marked),
      Effect.catchCause((cause) => answerOfCause(cause)),
      Effect.map((response) =>
        response.status < 400 || isOurs(response)
          ? HttpServerResponse.setHeaders(
              response,
              response.status === 413 ? { ...headers, connection: "close" } : headers
            )
          : refusalWith(byStatus(response.status), headers)
      ),
      Effect.ensuring(Effect.sync(() => room?.give(bytes)))
    )
  }

const answerOfCause = (cause: Cause.Cause<unknown>): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.flatMap(HttpServerError.causeResponse(cause), ([response]) => {
    if (response.status !== 500) return Effect.succeed(response)
    const id = randomUUID()
    return Effect.as(
      Effect.logError("a request failed by a defect: its caller gets 500 with this id", cause).pipe(
        Effect.annotateLogs({ defectId: id })
      ),
      refusalWith(defect(id), {})
    )
  })

/** The body cap, in bytes, of apps that read their bodies through Effect. */
export const edgeBodyCap = bodyCaps.edge
