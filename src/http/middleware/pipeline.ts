/**
 * Serves pipelined requests of a connection one at a time, in order, and limits the number that wait. Without this, Node
 * hands over all requests that it has read at once, and a few kilobytes could start thousands of answers (RFC 9112, 9.3.2).
 */
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Effect } from "effect"

/** Limit on requests of one connection that run or wait. The answer to the last of them ends the connection. */
export const pipelineLimit = 32

interface Place {
  readonly response: ServerResponse
  /**
   * Ends the wait: with true when the request's turn has come, with false when its connection has closed. Null when the
   * request does not wait.
   */
  wake: ((served: boolean) => void) | null
}

/** The requests of a connection in order; the first one is running. */
type Line = Array<Place>

const lines = new WeakMap<Socket, Line>()

/**
 * Admits a request. Returns null when it runs at once. Otherwise returns an effect that completes with true at its turn, or
 * with false when the connection has closed.
 */
export const turnOf = (socket: Socket, response: ServerResponse): Effect.Effect<boolean> | null => {
  const line = lines.get(socket) ?? newLine(socket)
  const place: Place = { response, wake: null }
  line.push(place)
  response.on("close", () => next(socket, line))
  if (line.length === 1) return null
  if (line.length >= pipelineLimit) endAfter(socket, response)
  return Effect.callback<boolean>((resume) => {
    place.wake = (served) => resume(Effect.succeed(served))
    return Effect.sync(() => {
      place.wake = null
    })
  })
}

/** The last request of a connection that has arrived completely and will be answered, or null. */
export const lastWhole = (socket: Socket): ServerResponse | null =>
  lines.get(socket)?.findLast(({ response }) => response.req.complete)?.response ?? null

/** Makes an answer the last one of its connection; later requests are not read. */
export const endAfter = (socket: Socket, last: ServerResponse): void => {
  // Sets `Connection: close` if the headers have not left yet.
  last.shouldKeepAlive = false
  deafen(socket)
}

const newLine = (socket: Socket): Line => {
  const line: Line = []
  lines.set(socket, line)
  socket.once("close", () => {
    lines.delete(socket)
    for (const { wake } of line) wake?.(false)
  })
  return line
}

/** Runs the next request after the first answer is sent, unless the connection ends with that answer. */
const next = (socket: Socket, line: Line): void => {
  line.shift()
  const [first] = line
  if (first === undefined || socket.destroyed || socket.writableEnded) return
  first.wake?.(true)
}

/** Discards the further output of Node's parser, which parses all that it has read. Node has no public way to stop it. */
const deafen = (socket: Socket): void => {
  const { parser } = socket as Socket & { readonly parser?: { onIncoming: () => number } | null }
  if (parser !== undefined && parser !== null) parser.onIncoming = () => 0
  socket.pause()
}
