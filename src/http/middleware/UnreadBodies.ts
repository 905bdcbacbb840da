/**
 * Refusals that leave before the body of their request has arrived. Many clients write a request whole before they read: a
 * connection that ends under them shows a write error in place of the answer. So the answer leaves at once, and the rest of
 * the body is read and discarded, within limits, before the connection ends or serves its next request (A1-02).
 */
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { IncomingMessage } from "node:http"
import { bodyless, declaredLength } from "./readBody.ts"

export interface UnreadLimits {
  /** Most bytes discarded of one body. */
  readonly bytes: number
  /** Longest time that one body is discarded, wall milliseconds. */
  readonly millis: number
  /** Most connections whose bodies are discarded at once, and how many of them without a good key. */
  readonly connections: number
  readonly withoutKey: number
}

const usualLimits: UnreadLimits = { bytes: 12 * 1024 * 1024, millis: 10_000, connections: 64, withoutKey: 16 }

/** Declared bodies up to this length are discarded by the adapter, which keeps their connections. */
const adapterDiscards = 256 * 1024

const withGoodKey = new WeakSet<IncomingMessage>()

/** Records that a request presented a key that is known and live. */
export const presentedGoodKey = (request: IncomingMessage): void => void withGoodKey.add(request)

/** The caller waits for 100 Continue, which it did not get: no body is on its way. */
const awaitsContinue = (request: IncomingMessage): boolean =>
  request.headers.expect !== undefined && request.httpVersion !== "1.0" && !request.readableDidRead

/**
 * Whether an answer given now leaves a body on its way that must be discarded. `ends`: whether the connection ends with the
 * answer.
 */
export const leavesBody = (request: IncomingMessage, ends: boolean): boolean => {
  if (request.complete || request.destroyed || bodyless(request) || awaitsContinue(request)) return false
  return ends || (declaredLength(request) ?? Infinity) > adapterDiscards
}

export class UnreadBodies {
  private readonly limits: UnreadLimits
  private readonly running = new Set<() => void>()
  private withoutKey = 0

  /** Once `closing` is aborted nothing is discarded any more. */
  constructor(closing: AbortSignal, limits: Partial<UnreadLimits> = {}) {
    this.limits = { ...usualLimits, ...limits }
    closing.addEventListener("abort", () => {
      for (const end of this.running) end()
    })
  }

  /**
   * Discards what is left of the body. Calls `done` once: when the body has ended, a limit is reached or the connection is
   * gone; at once when too many connections are being discarded. Returns how to stop early.
   */
  discard(request: IncomingMessage, done: () => void): () => void {
    const { bytes, millis, connections, withoutKey } = this.limits
    const known = withGoodKey.has(request)
    const isFull = this.running.size >= connections || (!known && this.withoutKey >= withoutKey)
    if (isFull || request.readableEnded || request.destroyed) {
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

  /** The same answer. Where it leaves a body on its way all of its bytes leave at once, and it ends with the body. */
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
    return HttpServerResponse.stream(pieces, {
      status,
      headers: declaredLength(request) === null ? headers : { ...headers, connection: "close" },
      contentType,
      contentLength
    })
  }
}
