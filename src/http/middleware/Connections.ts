/**
 * Limits the connections of a listener: in total, and per address. A connection over a limit evicts the one that has been
 * idle longest, never one with a running request. Connections are counted below TLS, so unfinished handshakes count too.
 */
import { readFileSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Server } from "node:https"
import type { Socket } from "node:net"
import { bodyless } from "./readBody.ts"

export interface ConnectionLimits {
  /** Limit on open connections. */
  readonly total: number
  /** Limit on open connections from one address; `exempt` addresses have none. */
  readonly perSource: number
}

/** Whether an address has no limit: that of the local machine, and of hosts that forward requests of many callers. */
export type Exempt = (address: string) => boolean

/**
 * The default limit on open connections in total: more than the partners of one installation need, and below the number of open
 * files that an unprivileged process may usually have.
 */
const usualTotal = 16_384
export const usualPerSource = 4_096
/** File descriptors reserved for the database, files and outgoing connections. */
const reservedFiles = 512

/** The connections that the system's limit on open files allows, at most the default number. */
export const usualConnections = (): number => {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]
    return soft === undefined ? usualTotal : Math.max(256, Math.min(usualTotal, Number(soft) - reservedFiles))
  } catch {
    return usualTotal
  }
}

/** The open connections of one address. */
type Source = Set<Connection>

interface Connection {
  readonly raw: Socket
  readonly address: string
  /** The peer's address and port. */
  readonly peer: string
  readonly source: Source
  /** The number of requests without an answer yet. */
  running: number
  /**
   * A counter value that orders idle connections: it is taken from a rising counter when the connection opens, and whenever
   * an answer ends.
   */
  restedAt: number
  /** The newest running request, the only one whose body can still be arriving; null if there is none. */
  newest: IncomingMessage | null
  /** Progress of the newest request's body at the last check that it passed; null before the first check. */
  watched: Watched | null
}

/** A check of a body's progress: its time, and the bytes that the connection had received. */
interface Watched {
  readonly request: IncomingMessage
  readonly since: number
  readonly bytes: number
}

export class Connections {
  /** All sockets below TLS, also those with an unfinished handshake, which Node's HTTP server does not count. */
  readonly all = new Set<Socket>()
  /**
   * Sockets that have sent no request yet. Node's graceful close leaves them open; browsers and connection pools keep such
   * spares.
   */
  readonly silent = new Set<Socket>()
  private readonly limits: ConnectionLimits
  private readonly exempt: Exempt
  private readonly sources = new Map<string, Source>()
  private moments = 0
  /** Connections by peer, until their handshake is done: Node has no public way from a raw socket to its TLS socket. */
  private readonly opening = new Map<string, Connection>()
  private readonly secured = new WeakMap<Socket, Connection>()

  constructor(server: Server, limits: ConnectionLimits, exempt: Exempt) {
    this.limits = limits
    this.exempt = exempt
    server.on("connection", (socket: Socket) => this.opened(socket))
    server.on("secureConnection", (socket) => this.onSecure(socket))
    const begun = (request: IncomingMessage, response: ServerResponse) => this.begun(request, response)
    server.on("request", begun)
    server.on("checkContinue", begun)
  }

  private opened(raw: Socket): void {
    const address = raw.remoteAddress
    const known = address === undefined ? undefined : this.sources.get(address)
    const crowded =
      known !== undefined && known.size >= this.limits.perSource && !this.exempt(address ?? "") && !this.evict([known])
    // A socket without an address has closed already. An eviction by address has also made room in the total.
    if (
      address === undefined ||
      crowded ||
      (this.all.size >= this.limits.total && !this.evict(this.sources.values()))
    ) {
      raw.destroy()
      return
    }
    const source: Source = this.sources.get(address) ?? new Set()
    this.sources.set(address, source)
    const connection: Connection = {
      raw,
      address,
      peer: peerOf(raw),
      source,
      running: 0,
      restedAt: ++this.moments,
      newest: null,
      watched: null
    }
    source.add(connection)
    this.all.add(raw)
    this.opening.set(connection.peer, connection)
    raw.once("close", () => this.forget(connection))
  }

  private onSecure(socket: Socket): void {
    const peer = peerOf(socket)
    const connection = this.opening.get(peer)
    if (connection === undefined) return
    this.opening.delete(peer)
    this.secured.set(socket, connection)
    this.silent.add(socket)
    socket.once("close", () => this.silent.delete(socket))
  }

  private begun(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    this.silent.delete(socket)
    const connection = this.secured.get(socket)
    if (connection === undefined) return
    connection.running++
    connection.newest = bodyless(request) ? null : request
    response.on("close", () => {
      if (--connection.running > 0) return
      connection.restedAt = ++this.moments
      connection.newest = null
      connection.watched = null
    })
  }

  /**
   * Connections with a body that is too slow: fewer than `least` bytes arrived in the `millis` since the body's first check,
   * or since its last passed check. Most bodies end before any check, so they cost nothing.
   */
  slowBodies(millis: number, least: number): ReadonlyArray<Socket> {
    const now = performance.now()
    const slow: Array<Socket> = []
    for (const source of this.sources.values()) {
      for (const connection of source) {
        const { newest, watched } = connection
        if (newest === null || newest.complete) continue
        const { bytesRead } = newest.socket
        const isNew = watched?.request !== newest
        if (!isNew && now - watched.since < millis) continue
        if (!isNew && bytesRead - watched.bytes < least) slow.push(newest.socket)
        connection.watched = { request: newest, since: now, bytes: bytesRead }
      }
    }
    return slow
  }

  /** Cuts the connection that has been idle longest; returns false when all have running requests. Called only over a limit. */
  private evict(sources: Iterable<Source>): boolean {
    let longest: Connection | null = null
    for (const source of sources) {
      for (const connection of source) {
        if (connection.running === 0 && connection.restedAt < (longest?.restedAt ?? Infinity)) longest = connection
      }
    }
    if (longest === null) return false
    // Removed at once and not at its `close` event, because the next connection may arrive before that event.
    this.forget(longest)
    longest.raw.destroy()
    return true
  }

  private forget(connection: Connection): void {
    const { raw, address, peer, source } = connection
    if (!this.all.delete(raw)) return
    if (this.opening.get(peer) === connection) this.opening.delete(peer)
    source.delete(connection)
    if (source.size === 0) this.sources.delete(address)
  }
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
