/**
 * A TCP proxy in front of PostgreSQL that cuts connections at a chosen moment: before a request reaches the server, or
 * after the server has done the work but before its answer reaches us. Or it falls silent: it closes nothing, and a connection
 * that one side closes stays open at the other. Or it delays one request, whose sender loses its connection meanwhile.
 */
import { Redacted } from "effect"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/**
 * The forms of silence: the proxy drops the bytes of either side or of both, passes only the beginning of each answer, or passes
 * answers one byte at a time.
 */
export const silences = ["both", "requests", "answers", "mid-answer", "slow"] as const
export type Silence = (typeof silences)[number]

/** The bytes of an answer that pass before `mid-answer` drops the rest, and the wall ms between two bytes of a slow answer. */
const midAnswer = 9
const slowMillis = 500

export interface CuttingProxy {
  /** The same database, reached through the proxy. */
  readonly url: Redacted.Redacted
  /**
   * Cuts a connection at its next request (not forwarded) or its next answer (not passed on): the first connection with
   * traffic, or the first one of the named application.
   */
  readonly cutNext: (what: "request" | "answer", application?: string) => void
  /** Acts when the next request of the application arrives, before the server gets it. */
  readonly whenNext: (application: string, act: () => void) => void
  /** Delays the next request with this text, and closes its connection on the service's side. */
  readonly delayNext: (text: string) => void
  /** Whether a request is delayed. */
  readonly delays: () => boolean
  /** The delayed request reaches the server. */
  readonly deliver: () => void
  /** While false, new connections are refused. */
  readonly letIn: (open: boolean) => void
  /**
   * From now on open and new connections are silent. Connections opened during the silence stay silent. Null: new connections
   * pass.
   */
  readonly fallSilent: (silence: Silence | null) => void
  /** Connections opened so far. */
  readonly opened: () => number
  /** Open connections of an application, and those of them that are not silent. */
  readonly open: (application: string) => number
  readonly passing: (application: string) => number
  /** Connections cut so far. */
  readonly cuts: () => number
  readonly close: () => Promise<void>
}

export const openProxy = async (target: Redacted.Redacted): Promise<CuttingProxy> => {
  const server = new URL(Redacted.value(target))
  const sockets = new Set<Socket>()
  let armed: { readonly what: "request" | "answer"; readonly application: string } | null = null
  let admitting = true
  let cuts = 0
  let opened = 0
  let silence: Silence | null = null
  let awaited: string | null = null
  let watched: { readonly application: string; readonly act: () => void } | null = null
  let delayed: { readonly to: Socket; readonly bytes: Buffer } | null = null
  const ways = new Set<Way>()
  const proxy = createServer((client) => {
    if (!admitting) return void client.destroy()
    opened++
    const upstream = connect(Number(server.port), server.hostname)
    // The first message of a connection names its application.
    const way: Way = { startup: "", silence, slow: Buffer.alloc(0) }
    const cut = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on("error", () => socket.destroy())
      socket.on("close", () => {
        sockets.delete(socket)
        if (way.silence === null && delayed?.to !== upstream) cut()
      })
    }
    ways.add(way)
    client.on("close", () => ways.delete(way))
    const pass = (from: Socket, to: Socket, what: "request" | "answer") =>
      from.on("data", (bytes) => {
        if (way.startup === "") way.startup = bytes.toString("latin1")
        if (way.silence !== null) return swallow(way, what, bytes, to)
        if (what === "request" && watched !== null && way.startup.includes(watched.application)) {
          watched.act()
          watched = null
        }
        if (what === "request" && awaited !== null && bytes.includes(awaited)) {
          awaited = null
          delayed = { to, bytes }
          return void from.destroy()
        }
        if (armed?.what !== what || !way.startup.includes(armed.application)) return void to.write(bytes)
        armed = null
        cuts++
        cut()
      })
    pass(client, upstream, "request")
    pass(upstream, client, "answer")
  })
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))
  const url = new URL(server)
  url.hostname = "127.0.0.1"
  url.port = String((proxy.address() as AddressInfo).port)
  return {
    url: Redacted.make(url.href),
    cutNext: (what, application = "") => (armed = { what, application }),
    whenNext: (application, act) => (watched = { application, act }),
    delayNext: (text) => (awaited = text),
    delays: () => delayed !== null,
    deliver: () => {
      delayed?.to.end(delayed.bytes)
      delayed = null
    },
    letIn: (admit) => (admitting = admit),
    fallSilent: (how) => {
      silence = how
      if (how !== null) for (const way of ways) way.silence = how
    },
    opened: () => opened,
    open: (application) => [...ways].filter((way) => way.startup.includes(application)).length,
    passing: (application) =>
      [...ways].filter((way) => way.silence === null && way.startup.includes(application)).length,
    cuts: () => cuts,
    close: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => proxy.close(() => resolve()))
    }
  }
}

/** One connection: its first message and its form of silence. */
interface Way {
  startup: string
  silence: Silence | null
  /** Received bytes of slow answers that are not passed yet. */
  slow: Buffer
}

const swallow = (way: Way, what: "request" | "answer", bytes: Buffer, to: Socket): void => {
  const { silence } = way
  if (what === "request") {
    if (silence !== "both" && silence !== "requests") to.write(bytes)
  } else if (silence === "requests") to.write(bytes)
  else if (silence === "mid-answer") to.write(bytes.subarray(0, midAnswer))
  else if (silence === "slow") {
    const passes = way.slow.length > 0
    way.slow = Buffer.concat([way.slow, bytes])
    if (!passes) trickle(way, to)
  }
}

const trickle = (way: Way, to: Socket): void => {
  if (way.slow.length === 0 || to.destroyed) return
  to.write(way.slow.subarray(0, 1))
  way.slow = way.slow.subarray(1)
  setTimeout(trickle, slowMillis, way, to).unref()
}
