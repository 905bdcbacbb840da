/**
 * Discards the bodies of requests that are refused before their body has arrived. Many clients write the whole request before
 * they read the answer. If the connection ended meanwhile, they would get a write error and no answer. So the answer is sent
 * at once, and the remaining body is discarded, within limits, before the connection ends or serves its next request (A1-02).
 */
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { IncomingMessage } from "node:http"
import { bodyless, declaredLength } from "./readBody.ts"

export interface UnreadLimits {
  /** Most bytes to discard of one body. */
  readonly bytes: number
  /** Longest time to discard one body, in wall milliseconds. */
  readonly millis: number
  /**
   * Limit on the connections that discard a body at the same time, and the lower limit on those of them whose key is
   * missing or wrong.
   */
  readonly connections: number
  readonly withoutKey: number
}

const usualLimits: UnreadLimits = { bytes: 12 * 1024 * 1024, millis: 10_000, connections: 64, withoutKey: 16 }

/** The HTTP adapter itself discards declared bodies up to this length and keeps their connections open. */
const adapterDiscards = 256 * 1024

const withGoodKey = new WeakSet<IncomingMessage>()

/** A header for the edge: the key of the request was accepted, and its body was not read to the end. */
export const keyAccepted = "x-key-accepted"

/** Records that the request presented a known, live key. */
export const presentedGoodKey = (request: IncomingMessage): void => void withGoodKey.add(request)

/** Whether the caller still waits for 100 Continue, and so has sent no body. */
const awaitsContinue = (request: IncomingMessage): boolean =>
  request.headers.expect !== undefined && request.httpVersion !== "1.0" && !request.readableDidRead

/**
 * True if an answer that is sent now leaves a body that is still arriving and has to be discarded. `ends`: the answer ends
 * the connection.
 */
export const leavesBody = (request: IncomingMessage, ends: boolean): boolean => {
  if (request.complete || request.destroyed || bodyless(request) || awaitsContinue(request)) return false
  return ends || (declaredLength(request) ?? Infinity) > adapterDiscards
}

export class UnreadBodies {
  private readonly closing: AbortSignal
  private readonly limits: UnreadLimits
  private readonly running = new Set<() => void>()
  private withoutKey = 0

  /** `closing`: the shutdown's signal, which stops all discarding. */
  constructor(closing: AbortSignal, limits: Partial<UnreadLimits> = {}) {
    this.closing = closing
    this.limits = { ...usualLimits, ...limits }
    closing.addEventListener("abort", () => {
      for (const end of this.running) end()
    })
  }

  /**
   * Discards the remaining body. Calls `done` once: at the end of the body, at a limit, or when the connection is gone;
   * immediately when too many connections discard already. Returns a function that stops early.
   */
  discard(request: IncomingMessage, done: () => void): () => void {
    const { bytes, millis, connections, withoutKey } = this.limits
    const known = withGoodKey.has(request)
    const isFull = this.running.size >= connections || (!known && this.withoutKey >= withoutKey)
    if (isFull || this.closing.aborted || request.readableEnded || request.destroyed) {
      done()
      return () => {}
    }
    let left = bytes
    const onData = (chunk: Buffer): void => {
      left -= chunk.length
      if (left >= 0) return
      request.pause()
      end()
    }
    const stop = (): void => {
      if (!this.running.delete(end)) return
      if (!known) this.withoutKey--
      clearTimeout(timer)
      request.off("data", onData)
      request.off("end", end)
      request.off("close", end)
    }
    const end = (): void => {
      stop()
      done()
    }
    this.running.add(end)
    if (!known) this.withoutKey++
    const timer = setTimeout(end, millis)
    request.on("data", onData)
    request.once("end", end)
    request.once("close", end)
    request.resume()
    return stop
  }

  /**
   * Returns the same answer. If a body is still arriving, all bytes of the answer are sent at once, but the answer ends only
   * with the body. The connection then closes, because the headers are sent before the size of the body is known.
   */
  answering(
    request: IncomingMessage,
    answer: HttpServerResponse.HttpServerResponse
  ): HttpServerResponse.HttpServerResponse {
    const { body, status, headers } = answer
    if (body._tag !== "Uint8Array" || !leavesBody(request, headers["connection"] === "close")) return answer
    const rest = Effect.callback<void>((resume) => {
      const stop = this.discard(request, () => resume(Effect.void))
      return Effect.sync(stop)
    })
    const pieces = Stream.concat(Stream.succeed(body.body), Stream.drain(Stream.fromEffect(rest)))
    const { contentType, contentLength } = body
    const known = withGoodKey.has(request) ? { [keyAccepted]: "true" } : {}
    return HttpServerResponse.stream(pieces, {
      status,
      headers: { ...headers, ...known, connection: "close" },
      contentType,
      contentLength
    })
  }
}
