/**
 * Sockets to the database with a timeout in this process. A network path that drops packets closes no connection, and a driver
 * would wait forever. So a connection is destroyed after several ticks in which it sent nothing and received almost nothing. Idle
 * connections are included, because their path may be dead too. One timer serves all sockets, so that a paused process loses no
 * connection and a statement costs nothing. After a pause, timers fire before sockets are read, and answers may already have
 * arrived. So a connection is judged only after another turn of the event loop.
 */
import { Effect, Redacted, type Scope } from "effect"
import { connect, type Socket } from "node:net"

/** Wall milliseconds between two ticks. */
const tickMillis = 500

/** The operating system probes a connection after this long without traffic, wall ms. */
const keepAliveMillis = 5_000

/**
 * The longest silence of a pool connection, wall ms. It exceeds any healthy statement and is shorter than the timeouts of
 * callers.
 */
export const quietMillis = 7_000

/**
 * How long the server keeps a backend whose client sends nothing, wall ms. This process has replaced such a connection long
 * before, but a path that drops packets may also drop the end of the connection.
 */
const abandonedMillis = 3 * quietMillis

/**
 * Startup parameters by which the server ends abandoned backends. The TCP parameters end a backend whose client acknowledges
 * neither bytes nor probes. `idle_session_timeout` ends a backend without statements, because a proxy may acknowledge for a
 * client that has gone. `quiet`: the longest silence that this process allows itself, wall ms.
 */
export const endsAbandoned = (quiet: number = quietMillis) => ({
  tcp_keepalives_idle: "5",
  tcp_keepalives_interval: "5",
  tcp_keepalives_count: "3",
  tcp_user_timeout: String(abandonedMillis),
  idle_session_timeout: String(Math.min(3 * quiet, abandonedMillis))
})

/** An answer with fewer bytes between two ticks counts as stalled. The server sends pages of 8 KiB. */
const leastBytes = 1_024

/** Opens a socket to the server of a connection string, as the driver would. */
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

/** The number of silent ticks in a row, and the bytes moved by the last tick. */
interface Watched {
  ticks: number
  sent: number
  received: number
}

/** The longest silence of a connection once no caller waits for it, wall ms. */
const lastMillis = 500

export interface QuietSockets {
  readonly open: () => Socket
  /** From now on the sockets may be silent only for `lastMillis`. */
  readonly hurry: Effect.Effect<void>
}

/**
 * Makes sockets that are destroyed after this much silence (wall ms). When the scope closes, the remaining sockets end without a
 * wait for the server.
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
      Effect.sync(() => setInterval(() => setImmediate(tick), Math.min(tickMillis, millis)).unref()),
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
