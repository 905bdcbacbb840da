/**
 * The TLS listener of a process: timeouts, connection limits and graceful shutdown. Plain HTTP is refused. A shutdown stops
 * accepting, lets running requests finish and closes idle connections. It ends after eight seconds at the latest, even if
 * callers or services keep running. HttpServer and EdgeServer provide the app (doc 1, What the service does; A1-08).
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { ByteSize, Effect, Exit, Scope } from "effect"
import { HttpIncomingMessage, HttpServerRequest, HttpServerResponse } from "effect/http"
import { constants } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, type Server } from "node:https"
import type { Socket } from "node:net"
import { refusalWith } from "./middleware/answers.ts"
import { type ConnectionLimits, Connections, usualConnections, usualPerSource } from "./middleware/Connections.ts"
import { edgeBodyCap } from "./middleware/edge.ts"
import { framingRefusal } from "./middleware/framing.ts"
import { turnOf } from "./middleware/pipeline.ts"
import { requestIdOf } from "./middleware/requestId.ts"
import { cidrContains } from "./middleware/sourceAddress.ts"
import { answerConnect, answerTooSlow, answerUnreadable, endStalled } from "./middleware/unreadable.ts"
import { UnreadBodies, type UnreadLimits } from "./middleware/UnreadBodies.ts"

/** Timeouts in wall milliseconds, and limits for callers. */
export interface ListenerLimits extends ConnectionLimits {
  /** Timeout from the accepted connection to the end of the TLS handshake. */
  readonly handshakeMillis: number
  /** Timeout from the first byte (on a new connection, from the handshake) to the end of the headers. */
  readonly headersMillis: number
  /**
   * Timeout of a body, counted from the first check that finds the body incomplete. A body that keeps the minimum pace gets
   * another such period.
   */
  readonly requestMillis: number
  /** The minimum pace of a slow body, bytes per second. */
  readonly uploadPace: number
  /** Longest pause between two bytes of a body, or between two writes of an answer. */
  readonly stallMillis: number
  /** Longest pause between two requests of a connection. */
  readonly keepAliveMillis: number
  /** Interval between two checks of header and body timeouts. */
  readonly checkMillis: number
  /** Overrides of the default limits on discarding the body of a refused request. */
  readonly unread?: Partial<UnreadLimits>
}

const usualLimits = (): ListenerLimits => ({
  total: usualConnections(),
  perSource: usualPerSource,
  handshakeMillis: 10_000,
  headersMillis: 20_000,
  requestMillis: 60_000,
  // Three quarters of the 16 KB/s that callers must reach, because uploads do not arrive evenly.
  uploadPace: 12 * 1024,
  stallMillis: 30_000,
  keepAliveMillis: 65_000,
  checkMillis: 5_000
})

export interface ListenerOptions {
  readonly host: string
  /** 0 selects a free port; `BoundServer` holds the actual one. */
  readonly port: number
  /** The server's key and certificate, PEM texts. */
  readonly tls: { readonly key: string; readonly cert: string }
  /** Addresses and ranges of the operator's own edge hosts, which forward requests of many callers. */
  readonly edgeHosts: ReadonlyArray<string>
  /** Longest wait of a shutdown for running requests, wall milliseconds; 8 s by default. */
  readonly closeMillis?: number
  /** Limits that differ from the defaults. */
  readonly limits?: Partial<ListenerLimits>
}

/** The address at which a started server listens. */
export interface BoundServer {
  readonly host: string
  readonly port: number
  readonly url: string
}

/** Answers one request. The app may have written the answer to Node's response already. */
export type ListenerApp = (
  request: HttpServerRequest.HttpServerRequest
) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | Scope.Scope>

const usualCloseMillis = 8_000
/** How long a request may take to notice that its connection was cut, ms. */
const noticeMillis = 500
const headerBytes = 16 * 1024
const headerCount = 100

const makeServer = ({ tls }: ListenerOptions, limits: ListenerLimits): Server => {
  const server = createServer({
    ...tls,
    minVersion: "TLSv1.2",
    // Renegotiation is off: a handshake costs the server far more than the caller.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    handshakeTimeout: limits.handshakeMillis,
    insecureHTTPParser: false,
    keepAlive: true,
    noDelay: true,
    keepAliveTimeout: limits.keepAliveMillis,
    headersTimeout: limits.headersMillis,
    // Node's own timeout would cut even steady long uploads. `endSlowBodies` checks their pace instead.
    requestTimeout: 0,
    connectionsCheckingInterval: limits.checkMillis,
    maxHeaderSize: headerBytes,
    // An upgrade request is served as an ordinary request, because no other protocol is supported. It is the last request of
    // its connection.
    shouldUpgradeCallback: () => false,
    // Node would answer a missing Host header without the error envelope; framing.ts refuses it instead.
    requireHostHeader: false
  })
  server.maxHeadersCount = headerCount
  server.maxRequestsPerSocket = 0
  server.setTimeout(limits.stallMillis, (socket) => endStalled(socket as Socket, limits.stallMillis))
  server.on("clientError", (error, socket) => answerUnreadable(error, socket as Socket))
  server.on("connect", (_request, socket) => answerConnect(socket as Socket))
  server.on("checkExpectation", (request, response) => void server.emit("request", request, response))
  return server
}

const thisMachine = ["127.0.0.0/8", "::1"]

/** Adds `Connection: close` to answers during the shutdown. */
const closingAware = (
  closing: AbortSignal,
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | Scope.Scope>
) =>
  Effect.map(app, (response) =>
    closing.aborted ? HttpServerResponse.setHeader(response, "connection", "close") : response
  )

/** Refuses requests with ambiguous framing before they reach the app. */
const soundOnly =
  (app: ListenerApp): ListenerApp =>
  (request) => {
    const unsound = framingRefusal(NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage)
    if (unsound === null) return app(request)
    const headers = { "x-request-id": requestIdOf(request.headers["x-request-id"]), connection: "close" }
    return Effect.succeed(refusalWith(unsound, headers))
  }

/** Discards the unread body of a refused request before its answer ends. */
const readingOn =
  (app: ListenerApp, unread: UnreadBodies): ListenerApp =>
  (request) =>
    Effect.map(app(request), (answer) =>
      unread.answering(NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage, answer)
    )

/** Ends connections with slow bodies until the scope closes. */
const endSlowBodies = (connections: Connections, { checkMillis, requestMillis, uploadPace }: ListenerLimits) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const least = (uploadPace * requestMillis) / 1000
      return setInterval(() => connections.slowBodies(requestMillis, least).forEach(answerTooSlow), checkMillis)
    }),
    (timer) => Effect.sync(() => clearInterval(timer))
  )

/** The adapter needs a response even when the caller has disconnected; this one is never sent. */
const noResponse = HttpServerResponse.empty()

/**
 * Serves the requests of a connection one at a time, in order. An upgrade request is the last one: Node drops all
 * bytes that it has read after an upgrade request, so a next request could begin in the middle of another.
 */
const inTurn =
  (app: ListenerApp): ListenerApp =>
  (request) => {
    const { headers, socket } = NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage
    const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
    if (headers.upgrade !== undefined) response.shouldKeepAlive = false
    const turn = turnOf(socket, response)
    if (turn === null) return app(request)
    return Effect.flatMap(turn, (served) => (served ? app(request) : Effect.succeed(noResponse)))
  }

/**
 * Closes a listener's scope: idle connections immediately, the others after their answers, and all of them at the deadline.
 * The timers are Node's and run outside the scope. A finaliser can't be interrupted, so a timeout inside it could not end the
 * wait for a caller that keeps sending, or for a service that keeps running.
 */
const closeWithin = (millis: number, server: Server, { all, silent }: Connections, scope: Scope.Closeable) =>
  Effect.callback<void>((resume) => {
    for (const socket of silent) socket.destroy()
    let notice: NodeJS.Timeout | undefined
    const cut = setTimeout(() => {
      server.closeAllConnections()
      for (const socket of all) socket.destroy()
      notice = setTimeout(() => resume(Effect.void), noticeMillis)
    }, millis)
    Effect.runFork(Scope.close(scope, Exit.void)).addObserver(() => {
      clearTimeout(cut)
      clearTimeout(notice)
      resume(Effect.void)
    })
  })

/**
 * Starts the listener in the current scope and returns its address. Closing the scope stops it gracefully. `make` builds the
 * app from the shutdown signal and from the component that discards unread bodies. Requests with ambiguous framing never
 * reach the app.
 */
const start = <E, R>(
  options: ListenerOptions,
  make: (closing: AbortSignal, unread: UnreadBodies) => Effect.Effect<ListenerApp, E, R>
) =>
  Effect.gen(function* () {
    const closing = new AbortController()
    const limits = { ...usualLimits(), ...options.limits }
    const unread = new UnreadBodies(closing.signal, limits.unread)
    const app = readingOn(yield* make(closing.signal, unread), unread)
    const server = makeServer(options, limits)
    const connections = new Connections(
      server,
      limits,
      (address) => cidrContains(thisMachine, address) || cidrContains(options.edgeHosts, address)
    )
    yield* endSlowBodies(connections, limits)
    const closeMillis = options.closeMillis ?? usualCloseMillis
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        closing.abort()
        return closeWithin(closeMillis, server, connections, scope)
      })
    )
    const http = yield* Effect.gen(function* () {
      const listener = yield* NodeHttpServer.make(() => server, {
        host: options.host,
        port: options.port,
        gracefulShutdownTimeout: closeMillis
      })
      yield* Effect.provideService(
        listener.serve(
          closingAware(closing.signal, Effect.flatMap(HttpServerRequest.HttpServerRequest, inTurn(soundOnly(app))))
        ),
        HttpIncomingMessage.MaxBodySize,
        ByteSize.bytes(edgeBodyCap)
      )
      return listener
    }).pipe(Scope.provide(scope))
    const port = "port" in http.address ? http.address.port : options.port
    const name = options.host.includes(":") ? `[${options.host}]` : options.host
    return { host: options.host, port, url: `https://${name}:${port}` } satisfies BoundServer
  })

export const Listener = { start }
