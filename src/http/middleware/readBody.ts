// Reads a request body once, up to a cap, straight from the Node stream: chunks of a small body arrive in one piece and
// are not copied (doc 1, Limits: body caps; A1-02 gates 1 and 8).
import { Effect } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"

export type BodyRead =
  | { readonly _tag: "Body"; readonly bytes: Buffer }
  | { readonly _tag: "TooLarge" }
  | { readonly _tag: "Aborted" }

const empty: BodyRead = { _tag: "Body", bytes: Buffer.alloc(0) }
const tooLarge: BodyRead = { _tag: "TooLarge" }
const aborted: BodyRead = { _tag: "Aborted" }

/** The declared length, or null when there is none. Node has refused anything but a number before. */
export const declaredLength = (request: IncomingMessage): number | null => {
  const header = request.headers["content-length"]
  return header === undefined ? null : Number(header)
}

/** The whole body, unless it is larger than `cap` bytes (a declared length is refused unread) or the caller left. */
export const readBody = (request: IncomingMessage, response: ServerResponse, cap: number): Effect.Effect<BodyRead> =>
  Effect.callback<BodyRead>((resume) => {
    const declared = declaredLength(request)
    if (declared !== null && declared > cap) return resume(Effect.succeed(tooLarge))
    if (declared === 0 || (declared === null && request.headers["transfer-encoding"] === undefined)) {
      return resume(Effect.succeed(empty))
    }
    if (request.headers.expect !== undefined && !response.headersSent) response.writeContinue()
    let chunks: Array<Buffer> | null = null
    let only: Buffer | null = null
    let size = 0
    const settle = (result: BodyRead): void => {
      request.off("data", onData)
      request.off("end", onEnd)
      request.off("close", onClose)
      resume(Effect.succeed(result))
    }
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size > cap) {
        request.pause()
        return settle(tooLarge)
      }
      if (only === null) only = chunk
      else (chunks ??= [only]).push(chunk)
    }
    const onEnd = (): void =>
      settle({ _tag: "Body", bytes: chunks === null ? (only ?? empty.bytes) : Buffer.concat(chunks) })
    const onClose = (): void => settle(aborted)
    request.on("data", onData)
    request.on("end", onEnd)
    request.on("close", onClose)
  })
