/**
 * The one TLS listener: partner dispatcher, operator surface and public routes behind it. Plain HTTP is not served (doc
 * 1, What the service does). Closing stops accepting, lets running requests finish, closes idle connections and ends
 * after eight seconds at the latest, whatever callers or services do (architecture 8).
 */
import { NodeHttpServer, NodeHttpServerRequest } from "@effect/platform-node"
import { ByteSize, Effect, Exit, Scope } from "effect"
import { HttpIncomingMessage, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { IncomingMessage } from "node:http"
import { createServer, type Server } from "node:https"
import type { Socket } from "node:net"
import { partnerPrefix } from "./api/PartnerApi.ts"
import { Dispatcher, type DispatcherOptions } from "./Dispatcher.ts"
import { refusalWith } from "./middleware/answers.ts"
import { BodyBudget } from "./middleware/BodyBudget.ts"
import { answerConnect, answerUnreadable, edgeBodyCap, edged } from "./middleware/edge.ts"
import { framingRefusal } from "./middleware/framing.ts"
import { requestIdOf } from "./middleware/requestId.ts"
import { publicApp } from "./publicRoutes.ts"

export const operatorPrefix = "/operator/v1"

/** An app under a prefix, ready to run: its services are closed over. */
export type MountedApp = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  unknown,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

export interface HttpServerOptions extends Omit<DispatcherOptions, "bodies" | "closing"> {
  readonly host: string
  /** 0: any free port; `BoundServer` says which. */
  readonly port: number
  /** PEM texts. */
  readonly tls: { readonly key: string; readonly cert: string }
  /** Serves everything under /operator/v1. */
  readonly operatorApp?: MountedApp
  /** Longest a close waits for running requests, wall milliseconds; 8 s by default. */
  readonly closeMillis?: number
  /** What the bodies being read may hold in memory together, bytes; 64 MiB by default. */
  readonly bodyBytes?: number
}

/** Where the server listens. */
export interface BoundServer {
  readonly host: string
  readonly port: number
  readonly url: string
}

const usualCloseMillis = 8_000
/** How long requests whose connections were cut may take to notice. */
const noticeMillis = 500
/** A whole request must arrive within this time, its headers within half of it. */
const requestMillis = 60_000

const makeServer = ({ tls }: HttpServerOptions): Server => {
  const server = createServer({
    ...tls,
    minVersion: "TLSv1.2",
    keepAlive: true,
    noDelay: true,
    keepAliveTimeout: 65_000,
    headersTimeout: requestMillis / 2,
    requestTimeout: requestMillis,
    maxHeaderSize: 16 * 1024,
    // A request to upgrade is an ordinary request here: nothing on this server speaks another protocol.
    shouldUpgradeCallback: () => false,
    // Answered in the envelope by framing.ts.
    requireHostHeader: false
  })
  server.maxHeadersCount = 100
  server.maxRequestsPerSocket = 0
  server.on("clientError", (error, socket) => answerUnreadable(error, socket as Socket))
  server.on("connect", (_request, socket) => answerConnect(socket as Socket))
  server.on("checkExpectation", (request, response) => void server.emit("request", request, response))
  return server
}

interface Connections {
  /** All of them, below TLS: also those that never finish a handshake, which Node's HTTP server knows nothing of. */
  readonly all: ReadonlySet<Socket>
  /** Without a request yet. Node's own graceful close leaves them open, and browsers and pools keep such spares. */
  readonly silent: ReadonlySet<Socket>
}

const connectionsOf = (server: Server): Connections => {
  const all = new Set<Socket>()
  const silent = new Set<Socket>()
  const keep = (sockets: Set<Socket>) => (socket: Socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  }
  server.on("connection", keep(all))
  server.on("secureConnection", keep(silent))
  const spoke = ({ socket }: IncomingMessage) => void silent.delete(socket)
  server.on("request", spoke)
  server.on("checkContinue", spoke)
  return { all, silent }
}

/** Marks answers given while closing, so that their connections end with them. */
const closingAware = (
  closing: () => boolean,
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | Scope.Scope>
) =>
  Effect.map(app, (response) => (closing() ? HttpServerResponse.setHeader(response, "connection", "close") : response))

/**
 * Closes a listener's scope: silent connections at once, the rest when their requests are answered, and all of them when
 * the time is up. The timers are Node's and the scope is closed beside them: a finaliser can't be interrupted, so no
 * time-out inside it would end a wait for a caller that keeps sending, or for a service that keeps running.
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
 * Starts the listener in the current scope and answers where it listens; closing the scope is the graceful stop.
 * Requires the services of the dispatcher and Health.
 */
const start = (options: HttpServerOptions) =>
  Effect.gen(function* () {
    let closing = false
    const bodies = new BodyBudget(options.bodyBytes)
    const dispatcher = yield* Dispatcher.make({ ...options, bodies, closing: () => closing })
    const publicRoutes = edged(yield* publicApp)
    const operator = options.operatorApp === undefined ? publicRoutes : edged(options.operatorApp, bodies)
    const server = makeServer(options)
    const connections = connectionsOf(server)
    const closeMillis = options.closeMillis ?? usualCloseMillis
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        closing = true
        return closeWithin(closeMillis, server, connections, scope)
      })
    )
    const app = closingAware(
      () => closing,
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        const { url } = request
        const unsound = framingRefusal(NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage)
        if (unsound !== null) {
          const headers = { "x-request-id": requestIdOf(request.headers["x-request-id"]), connection: "close" }
          return Effect.succeed(refusalWith(unsound, headers))
        }
        if (under(url, partnerPrefix)) return dispatcher.handle(request)
        return under(url, operatorPrefix) ? operator(request) : publicRoutes(request)
      })
    )
    const http = yield* Effect.gen(function* () {
      const listener = yield* NodeHttpServer.make(() => server, {
        host: options.host,
        port: options.port,
        gracefulShutdownTimeout: closeMillis
      })
      yield* Effect.provideService(listener.serve(app), HttpIncomingMessage.MaxBodySize, ByteSize.bytes(edgeBodyCap))
      return listener
    }).pipe(Scope.provide(scope))
    const port = "port" in http.address ? http.address.port : options.port
    const name = options.host.includes(":") ? `[${options.host}]` : options.host
    return { host: options.host, port, url: `https://${name}:${port}` } satisfies BoundServer
  })

/** Whether a request target lies under a prefix. */
const under = (url: string, prefix: string): boolean => {
  if (!url.startsWith(prefix)) return false
  const next = url.charCodeAt(prefix.length)
  return Number.isNaN(next) || next === 47 || next === 63
}

/** The server's only verb. */
export const HttpServer = { start }
