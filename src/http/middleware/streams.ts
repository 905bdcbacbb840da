/**
 * Answers that are sent as they are made: the next piece is asked for when the one before is on its way, so that a slow
 * reader holds up the source and not the memory. One that reads nothing is cut by the listener after its stall time, one
 * that leaves interrupts the source (architecture 8: the edge owns limits).
 */
import { Effect, Stream } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { ServerResponse } from "node:http"
import { readerTimes, readTimes } from "../../machines/shared/Limits.ts"
import { Unavailable } from "../../runtime/engine/mailbox/ActorHost.ts"
import type { RouteRules } from "../api/RouteRules.ts"
import { type AnswerHeaders, type ByteStream, complete, type Pair, sent, type StreamedAnswer } from "./answers.ts"

/** How long a read of a route may take, wall milliseconds. */
export const timeOf = ({ time = "quick" }: RouteRules): number => readTimes[time]

/**
 * Sends an answer to its end. One of a `stream` route has none of its own: it begins at once and ends with the server, in order. Any
 * other begins with its first piece, so that what can't be made is refused as ever and leaves as a failure of this effect; each
 * piece has to come in the route's time, and its reader has to take it in time. A source that fails later, or is late, breaks the
 * connection off, before its end could be mistaken for a whole answer, and fails this effect too. HEAD starts nothing.
 */
export const answerStreamed = (
  { request, response }: Pair,
  { status, pieces, contentType, own }: StreamedAnswer,
  headersOf: () => AnswerHeaders,
  { rules, closing }: { readonly rules: RouteRules; readonly closing: AbortSignal | undefined }
): Effect.Effect<HttpServerResponse.HttpServerResponse, unknown> =>
  Effect.suspend(() => {
    if (response.destroyed || response.headersSent) return Effect.succeed(sent)
    const begin = (): void => {
      if (response.headersSent) return
      const headers = headersOf()
      complete(status, contentType, headers, own)
      response.writeHead(status, headers)
      response.flushHeaders()
    }
    if (request.method === "HEAD") {
      begin()
      response.end()
      return Effect.succeed(sent)
    }
    // The adapter runs what follows a request's own effect to its end; this goes on for as long as it is read.
    return Effect.interruptible(
      rules.time === "stream" ? live(response, pieces, begin, closing) : whole(response, pieces, begin, rules)
    ).pipe(
      Effect.onError(() => Effect.sync(() => response.headersSent && response.destroy())),
      Effect.andThen(
        Effect.sync(() => {
          begin()
          response.end()
        })
      ),
      Effect.as(sent)
    )
  })

const live = (
  response: ServerResponse,
  pieces: ByteStream,
  begin: () => void,
  closing: AbortSignal | undefined
): Effect.Effect<void, unknown> => {
  begin()
  const run = Stream.runForEach(pieces, (piece) => written(response, piece))
  return Effect.raceFirst(run, closing === undefined ? Effect.never : aborted(closing))
}

const whole = (
  response: ServerResponse,
  pieces: ByteStream,
  begin: () => void,
  rules: RouteRules
): Effect.Effect<void, unknown> =>
  Stream.runForEach(inTime(pieces, timeOf(rules)), (piece) => {
    begin()
    return atMost(written(response, piece), readerTimes.piece)
  }).pipe((run) => atMost(run, readerTimes.whole))

/** A reader who takes longer is left. */
const atMost = <E>(work: Effect.Effect<void, E>, duration: number): Effect.Effect<void, E | SlowReader> =>
  Effect.timeoutOrElse(work, { duration, orElse: () => Effect.fail(new SlowReader()) })

class SlowReader extends Error {
  readonly _tag = "SlowReader"
  override readonly message = "the answer was not read in time"
}

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
