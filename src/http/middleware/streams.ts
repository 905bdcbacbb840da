/**
 * Answers that are sent as they are made: the next piece is asked for when the one before is on its way, so that a slow
 * reader holds up the source and not the memory. One that reads nothing is cut by the listener after its stall time, one
 * that leaves interrupts the source (architecture 8: the edge owns limits).
 */
import { Effect, Stream } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { ServerResponse } from "node:http"
import { readTimes } from "../../machines/shared/Limits.ts"
import { Unavailable } from "../../runtime/engine/mailbox/ActorHost.ts"
import type { RouteRules } from "../api/RouteRules.ts"
import { type AnswerHeaders, type ByteStream, complete, type Pair, sent, type StreamedAnswer } from "./answers.ts"

/** How long a read of a route may take, wall milliseconds. */
export const timeOf = ({ time = "quick" }: RouteRules): number => readTimes[time]

/**
 * Sends an answer to its end. One of a `stream` route has none of its own and ends with the server, in order; each piece
 * of any other has to come in the route's time. A source that fails, or is late, breaks the connection off, before its
 * end could be mistaken for a whole answer, and fails this effect. HEAD starts nothing. The headers are taken over.
 */
export const answerStreamed = (
  { request, response }: Pair,
  { status, pieces, contentType, own }: StreamedAnswer,
  headers: AnswerHeaders,
  { rules, closing }: { readonly rules: RouteRules; readonly closing: AbortSignal | undefined }
): Effect.Effect<HttpServerResponse.HttpServerResponse, unknown> =>
  Effect.suspend(() => {
    if (response.destroyed || response.headersSent) return Effect.succeed(sent)
    complete(status, contentType, headers, own)
    response.writeHead(status, headers)
    if (request.method === "HEAD") {
      response.end()
      return Effect.succeed(sent)
    }
    response.flushHeaders()
    const send = (piece: Uint8Array) => written(response, piece)
    const run =
      rules.time === "stream"
        ? Effect.raceFirst(Stream.runForEach(pieces, send), closing === undefined ? Effect.never : aborted(closing))
        : Stream.runForEach(inTime(pieces, timeOf(rules)), send)
    // The adapter runs what follows a request's own effect to its end; this goes on for as long as it is read.
    return Effect.interruptible(run).pipe(
      Effect.onError(() => Effect.sync(() => response.destroy())),
      Effect.andThen(Effect.sync(() => response.end())),
      Effect.as(sent)
    )
  })

const inTime = (pieces: ByteStream, duration: number): ByteStream =>
  Stream.timeoutOrElse(pieces, { duration, orElse: () => Stream.fail(new Unavailable({ unknown: false })) })

/** Done when the system has the piece, or takes more; not before, while it is not read. */
const written = (response: ServerResponse, piece: Uint8Array): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (response.write(piece)) return resume(Effect.void)
    const drained = (): void => resume(Effect.void)
    response.once("drain", drained)
    return Effect.sync(() => response.off("drain", drained))
  })

const aborted = (signal: AbortSignal): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const done = (): void => resume(Effect.void)
    if (signal.aborted) return done()
    signal.addEventListener("abort", done, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", done))
  })
