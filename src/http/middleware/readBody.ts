/**
 * Reads a request body up to a cap, directly from the Node stream: a small body arrives in one piece and is not copied.
 * Arriving bytes count against the memory of their holder (doc 1, Limits: body caps; A1-02 gates 1 and 8).
 */
import { Effect } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { bodyCaps } from "../../machines/shared/Limits.ts"
import type { BodyRoom } from "./BodyBudget.ts"

export type BodyRead =
  | { readonly _tag: "Body"; readonly bytes: Buffer }
  /** The body is longer than the route allows. */
  | { readonly _tag: "TooLarge" }
  /** The body is longer than the edge allows on any route. */
  | { readonly _tag: "OverEdge" }
  /** No memory is free: the bodies of this caller, or of all callers, have used up the budget. */
  | { readonly _tag: "NoRoom" }
  | { readonly _tag: "Aborted" }

const empty: BodyRead = { _tag: "Body", bytes: Buffer.alloc(0) }
const tooLarge: BodyRead = { _tag: "TooLarge" }
const overEdge: BodyRead = { _tag: "OverEdge" }
const noRoom: BodyRead = { _tag: "NoRoom" }
const aborted: BodyRead = { _tag: "Aborted" }

/** The declared length, or null when absent. Node has already refused any value that is no number. */
export const declaredLength = (request: IncomingMessage): number | null => {
  const header = request.headers["content-length"]
  return header === undefined ? null : Number(header)
}

/** Whether a request has no body (RFC 9112, 6.3), so that it is complete with its headers. */
export const bodyless = (request: IncomingMessage): boolean =>
  request.headers["transfer-encoding"] === undefined && (declaredLength(request) ?? 0) === 0

/**
 * Largest distance from a route's cap to the edge's cap over which an undeclared body is still read and discarded, to find
 * out whether it exceeds the edge's cap too. The edge's cap is the earlier gate, so it decides the answer when it is within
 * reach, as on the document route. A route with a cap of kilobytes refuses at its own cap, because reading megabytes there
 * would help no upload.
 */
const readThrough = 1024 * 1024
const limitOf = (cap: number): number => (bodyCaps.edge - cap <= readThrough ? bodyCaps.edge : cap)

/**
 * The complete body. Fails when the body exceeds `cap` bytes (a declared length is refused unread), when no memory is free,
 * or when the connection has ended. Bytes count when they arrive and not when they are declared, because declarations cost no
 * memory and must not block other callers. While no memory is free for a piece, reading pauses.
 */
export const readBody = (
  request: IncomingMessage,
  response: ServerResponse,
  cap: number,
  room: BodyRoom
): Effect.Effect<BodyRead> =>
  Effect.callback<BodyRead>((resume) => {
    const declared = declaredLength(request)
    if (declared !== null && declared > cap) return resume(Effect.succeed(tooLarge))
    if (bodyless(request)) return resume(Effect.succeed(empty))
    if (request.destroyed) return resume(Effect.succeed(aborted))
    // HTTP/1.0 has no interim answers, so such a caller does not wait for one (RFC 9110, 10.1.1).
    const waits = request.headers.expect !== undefined && request.httpVersion !== "1.0"
    if (waits && !response.headersSent) response.writeContinue()
    const limit = limitOf(cap)
    let pieces: Array<Buffer> = []
    /** The number of bytes that arrived, kept or discarded. */
    let size = 0
    let kept = 0
    let stopWaiting: (() => void) | null = null
    const drop = (): void => {
      pieces = []
      room.give(kept)
      kept = 0
    }
    const stop = (): void => {
      request.off("data", onData)
      request.off("end", onEnd)
      request.off("close", onClose)
      stopWaiting?.()
      drop()
    }
    const settle = (result: BodyRead): void => {
      stop()
      resume(Effect.succeed(result))
    }
    const refuse = (result: BodyRead): void => {
      request.pause()
      settle(result)
    }
    const keep = (chunk: Buffer): void => {
      kept += chunk.length
      pieces.push(chunk)
    }
    const waitFor = (chunk: Buffer): void => {
      request.pause()
      stopWaiting = room.wait(chunk.length, (taken) => {
        stopWaiting = null
        if (!taken) return settle(noRoom)
        keep(chunk)
        request.resume()
      })
    }
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size > limit) return refuse(limit > cap ? overEdge : tooLarge)
      if (size > cap) return drop()
      if (room.take(chunk.length)) keep(chunk)
      else waitFor(chunk)
    }
    const onEnd = (): void => {
      const [only] = pieces
      if (size > cap) return settle(tooLarge)
      settle({ _tag: "Body", bytes: pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces) })
    }
    const onClose = (): void => settle(aborted)
    request.on("data", onData)
    request.on("end", onEnd)
    request.on("close", onClose)
    return Effect.sync(stop)
  })
