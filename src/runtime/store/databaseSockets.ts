/**
 * Sockets to the database with a deadline at this side. A way that swallows bytes closes nothing: a driver would wait for ever.
 * So a connection is destroyed on which nothing was sent and hardly anything has come for some ticks, idle or not, because an idle
 * one may lead nowhere as well. One timer counts for all of them: a process that was stopped for a while loses no connection, and
 * a statement costs nothing.
 */
import { Effect, Redacted, type Scope } from "effect"
import { connect, type Socket } from "node:net"

/** Wall milliseconds between two ticks. */
const tickMillis = 500

/** Wall milliseconds after which the system probes a connection on which nothing moves. */
const keepAliveMillis = 5_000

/** The quiet that a connection of the pool may have, wall ms: beyond any healthy statement, shorter than the patience of callers. */
export const quietMillis = 7_000

/** Bytes of an answer between two ticks below which it does not come: the server sends pages of 8 KiB. */
const leastBytes = 1_024

/** Opens a socket to the server of a connection string, as the driver does by itself. */
export const socketTo = (url: Redacted.Redacted): Socket => {
  const parsed = new URL(Redacted.value(url))
  const host = parsed.searchParams.get("host") ?? decodeURIComponent(parsed.hostname.replace(/^\[|\]$/g, ""))
  const port = Number(parsed.searchParams.get("port") ?? (parsed.port || 5432))
  if (host.startsWith("/")) return connect({ path: `${host}/.s.PGSQL.${port}` })
  return connect({
    host: host === "" ? "localhost" : host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMillis
  })
}

/** At how many ticks in a row it was quiet, and the bytes that it had moved by the last one. */
interface Watched {
  ticks: number
  sent: number
  received: number
}

/** The quiet that a connection may still have once nobody is left to wait for it, wall ms. */
const lastMillis = 500

export interface QuietSockets {
  readonly open: () => Socket
  /** From now on they may be quiet for a moment alone. */
  readonly hurry: Effect.Effect<void>
}

/**
 * Makes sockets that are destroyed after so much quiet (wall ms), until the scope closes: then what is left of them is ended without
 * waiting for the other side.
 */
export const quietSockets = (
  url: Redacted.Redacted,
  millis: number = quietMillis
): Effect.Effect<QuietSockets, never, Scope.Scope> =>
  Effect.gen(function* () {
    const watched = new Map<Socket, Watched>()
    let most = Math.ceil(millis / tickMillis)
    const tick = (): void => {
      for (const [socket, seen] of watched) {
        const isQuiet = socket.bytesWritten === seen.sent && socket.bytesRead < seen.received + leastBytes
        seen.ticks = isQuiet ? seen.ticks + 1 : 0
        seen.sent = socket.bytesWritten
        seen.received = socket.bytesRead
        if (seen.ticks > most) socket.destroy(new Error("the connection was quiet for too long"))
      }
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => setInterval(tick, Math.min(tickMillis, millis)).unref()),
      (timer) =>
        Effect.sync(() => {
          clearInterval(timer)
          for (const socket of watched.keys()) socket.destroySoon()
        })
    )
    return {
      open: () => {
        const socket = socketTo(url)
        watched.set(socket, { ticks: 0, sent: 0, received: 0 })
        return socket.once("close", () => watched.delete(socket))
      },
      hurry: Effect.sync(() => void (most = Math.min(most, lastMillis / tickMillis)))
    }
  })
