/**
 * Requests sent one behind the other on a connection: one is served at a time, the others wait for its answer, and only so
 * many may wait (RFC 9112, 9.3.2; architecture 5: the edge). Node itself hands over every request that it finds in what it
 * has read, all at once: kilobytes would become thousands of answers being made.
 */
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Effect } from "effect"

/** Most requests of one connection that are served or wait. With the answer to the last of them the connection ends. */
export const pipelineLimit = 32

interface Place {
  readonly response: ServerResponse
  /**
   * Ends the wait of the request: true when its turn has come, false when its connection is closed. Null while it does not wait.
   */
  wake: ((served: boolean) => void) | null
}

/** The requests of a connection in order; the first one is being served. */
type Line = Array<Place>

const lines = new WeakMap<Socket, Line>()

/**
 * Takes a request on. Null: it is served at once. Otherwise an effect that ends when it is its turn (true), or when there
 * is nobody left to answer (false).
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

/** The last request of a connection that has arrived in full and will be answered; null when there is none. */
export const lastWhole = (socket: Socket): ServerResponse | null =>
  lines.get(socket)?.findLast(({ response }) => response.req.complete)?.response ?? null

/** Lets an answer be the last one of its connection; what stands behind its request is not read any more. */
export const endAfter = (socket: Socket, last: ServerResponse): void => {
  // Says so in the answer, if that has not left yet.
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

/** The first answer has left. A connection that ends with it serves nothing more. */
const next = (socket: Socket, line: Line): void => {
  line.shift()
  const [first] = line
  if (first === undefined || socket.destroyed || socket.writableEnded) return
  first.wake?.(true)
}

/** What Node's parser hands over goes nowhere. Node has no public way to it, and what it has read it parses to the end. */
const deafen = (socket: Socket): void => {
  const { parser } = socket as Socket & { readonly parser?: { onIncoming: () => number } | null }
  if (parser !== undefined && parser !== null) parser.onIncoming = () => 0
  socket.pause()
}
