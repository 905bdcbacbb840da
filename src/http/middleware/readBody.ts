// Reads a request body once, up to a cap, straight from the Node stream: chunks of a small body arrive in one piece and
// are not copied (doc 1, Limits: body caps; A1-02 gates 1 and 8). What is being read counts against one budget.
import { Effect } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { BodyBudget } from "./BodyBudget.ts"

export type BodyRead =
  | { readonly _tag: "Body"; readonly bytes: Buffer }
  | { readonly _tag: "TooLarge" }
  /** No memory for it now: bodies of all connections have used the budget up. */
  | { readonly _tag: "NoRoom" }
  | { readonly _tag: "Aborted" }

const empty: BodyRead = { _tag: "Body", bytes: Buffer.alloc(0) }
const tooLarge: BodyRead = { _tag: "TooLarge" }
const noRoom: BodyRead = { _tag: "NoRoom" }
const aborted: BodyRead = { _tag: "Aborted" }

/** The declared length, or null when there is none. Node has refused anything but a number before. */
export const declaredLength = (request: IncomingMessage): number | null => {
  const header = request.headers["content-length"]
  return header === undefined ? null : Number(header)
}

/**
 * The whole body, unless it is larger than `cap` bytes (a declared length is refused unread), the budget is used up or
 * the connection has ended. Bytes count from their arrival, not from their declaration: promises cost no memory, so
 * they must not shut others out.
 */
export const readBody = (
  request: IncomingMessage,
  response: ServerResponse,
  cap: number,
  budget: BodyBudget
): Effect.Effect<BodyRead> =>
  Effect.callback<BodyRead>((resume) => {
    const declared = declaredLength(request)
    if (declared !== null && declared > cap) return resume(Effect.succeed(tooLarge))
    if (declared === 0 || (declared === null && request.headers["transfer-encoding"] === undefined)) {
      return resume(Effect.succeed(empty))
    }
    if (request.destroyed) return resume(Effect.succeed(aborted))
    // HTTP/1.0 knows no interim answers (RFC 9110, 10.1.1).
    const waits = request.headers.expect !== undefined && request.httpVersion !== "1.0"
    if (waits && !response.headersSent) response.writeContinue()
    let chunks: Array<Buffer> | null = null
    let only: Buffer | null = null
    let size = 0
    const stop = (): void => {
      request.off("data", onData)
      request.off("end", onEnd)
      request.off("close", onClose)
      budget.give(size)
      size = 0
    }
    const settle = (result: BodyRead): void => {
      stop()
      resume(Effect.succeed(result))
    }
    const onData = (chunk: Buffer): void => {
      const refused = size + chunk.length > cap ? tooLarge : budget.take(chunk.length) ? null : noRoom
      if (refused !== null) {
        request.pause()
        return settle(refused)
      }
      size += chunk.length
      if (only === null) only = chunk
      else (chunks ??= [only]).push(chunk)
    }
    const onEnd = (): void =>
      settle({ _tag: "Body", bytes: chunks === null ? (only ?? empty.bytes) : Buffer.concat(chunks) })
    const onClose = (): void => settle(aborted)
    request.on("data", onData)
    request.on("end", onEnd)
    request.on("close", onClose)
    return Effect.sync(stop)
  })
