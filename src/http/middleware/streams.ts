/**
 * Sends streamed answers with backpressure: the next piece is requested when the last one was sent, so a slow reader delays
 * the source and does not fill memory. The listener cuts a reader that stalls, and a disconnect interrupts the source.
 */
import { Effect, Stream } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { ServerResponse } from "node:http"
import { readerTimes, readTimes } from "../../machines/shared/Limits.ts"
import { Unavailable } from "../../runtime/engine/mailbox/ActorHost.ts"
import type { RouteRules } from "../api/RouteRules.ts"
import { type AnswerHeaders, type ByteStream, complete, type Pair, sent, type StreamedAnswer } from "./answers.ts"

/** Timeout of a read on a route, wall milliseconds. */
export const timeOf = ({ time = "quick" }: RouteRules): number => readTimes[time]

/**
 * Sends an answer to its end. On a `stream` route, the answer begins at once, and ends properly when the server closes. Any
 * other answer begins with its first piece, so an early failure fails this effect and is refused as usual. Each piece must be
 * made within the route's timeout, and its reader must take it within that time. A later failure breaks the connection and
 * fails this effect too: a proper end would make the answer look complete. HEAD runs no source.
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
    // The adapter runs effects uninterruptibly once the request has been read. A streamed answer lasts as long as its
    // reader, so it has to be interruptible.
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

/** Fails with `SlowReader` after the duration. */
const atMost = <E>(work: Effect.Effect<void, E>, duration: number): Effect.Effect<void, E | SlowReader> =>
  Effect.timeoutOrElse(work, { duration, orElse: () => Effect.fail(new SlowReader()) })

class SlowReader extends Error {
  readonly _tag = "SlowReader"
  override readonly message = "the answer was not read in time"
}

const inTime = (pieces: ByteStream, duration: number): ByteStream =>
  Stream.timeoutOrElse(pieces, { duration, orElse: () => Stream.fail(new Unavailable({ unknown: false })) })

/**
 * Completes when the system has accepted the piece or can accept more. While the reader does not read, the effect
 * does not complete.
 */
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
