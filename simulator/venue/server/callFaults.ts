/** Applies faults to one request: before its execution, and to its answer (C1, Transport). */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { FaultKind } from "../../../src/venue/VenueCommand.ts"
import type { Faults, Target } from "./Faults.ts"

/** Faults that strike before the execution, and those that strike the answer. */
export const beforeCall: ReadonlyArray<FaultKind> = ["outage", "timeout-before", "reset", "http-500"]
export const afterCall: ReadonlyArray<FaultKind> = ["timeout-after", "broken-json"]

/** How long a request without an answer stays open; callers give up long before. */
const holdMillis = 60_000

type Answered<A, E> = Effect.Effect<A | HttpServerResponse.HttpServerResponse, E, HttpServerRequest.HttpServerRequest>

/** Executes a request under the matching faults. */
export const underFaults = <A, E>(faults: Faults, target: Target, run: Effect.Effect<A, E>): Answered<A, E> =>
  Effect.suspend((): Answered<A, E> => {
    const before = faults.strike(beforeCall, target)
    switch (before?.kind) {
      case "timeout-before":
        return unanswered
      case "outage":
      case "reset":
        return cut
      case "http-500":
        return Effect.succeed(HttpServerResponse.text("Internal Server Error", { status: 500 }))
      default:
        return answerOf(faults, target, run)
    }
  })

const answerOf = <A, E>(faults: Faults, target: Target, run: Effect.Effect<A, E>): Answered<A, E> =>
  Effect.gen(function* () {
    const answer = yield* run
    const after = faults.strike(afterCall, target)
    if (after?.kind === "timeout-after") return yield* unanswered
    const slow = faults.strike(["slow"], target)
    if (slow !== null) yield* Effect.sleep(slow.delayMillis)
    if (after === null) return answer
    const text = JSON.stringify(answer)
    return HttpServerResponse.text(text.slice(0, Math.ceil(text.length / 2)), { contentType: "application/json" })
  })

/** Breaks the connection in the middle of the request. */
const cut: Effect.Effect<never, never, HttpServerRequest.HttpServerRequest> = Effect.flatMap(
  HttpServerRequest.HttpServerRequest,
  (request) => {
    NodeHttpServerRequest.toIncomingMessage(request).socket.destroy()
    return Effect.never
  }
)

const unanswered = Effect.andThen(Effect.sleep(holdMillis), cut)
