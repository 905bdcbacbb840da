/**
 * The one TLS listener: partner dispatcher, operator surface and public routes behind it. Plain HTTP is not served (doc
 * 1, What the service does). Closing stops accepting, lets running requests finish, closes idle connections and ends
 * after ten seconds at the latest (architecture 8).
 */
import { NodeHttpServer } from "@effect/platform-node"
import { ByteSize, Effect, type Scope } from "effect"
import { HttpIncomingMessage, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer, type Server } from "node:https"
import type { Socket } from "node:net"
import { partnerPrefix } from "./api/PartnerApi.ts"
import { Dispatcher, type DispatcherOptions } from "./Dispatcher.ts"
import { answerConnect, answerUnreadable, edgeBodyCap, edged } from "./middleware/edge.ts"
import { publicApp } from "./publicRoutes.ts"

export const operatorPrefix = "/operator/v1"

/** An app under a prefix, ready to run: its services are closed over. */
export type MountedApp = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  unknown,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

export interface HttpServerOptions extends DispatcherOptions {
  readonly host: string
  /** 0: any free port; `BoundServer` says which. */
  readonly port: number
  /** PEM texts. */
  readonly tls: { readonly key: string; readonly cert: string }
  /** Serves everything under /operator/v1. */
  readonly operatorApp?: MountedApp
}

/** Where the server listens. */
export interface BoundServer {
  readonly host: string
  readonly port: number
  readonly url: string
}

/** Longest a close waits for running requests. */
const closeMillis = 10_000
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
    shouldUpgradeCallback: () => false
  })
  server.maxHeadersCount = 100
  server.maxRequestsPerSocket = 0
  server.on("clientError", (error, socket) => answerUnreadable(error, socket as Socket))
  server.on("connect", (_request, socket) => answerConnect(socket as Socket))
  server.on("checkExpectation", (request, response) => void server.emit("request", request, response))
  return server
}

/**
 * Connections that have not sent a request yet. Node's own graceful close leaves them open, and browsers and pools keep
 * such spares.
 */
const silentSockets = (server: Server): ReadonlySet<Socket> => {
  const silent = new Set<Socket>()
  server.on("secureConnection", (socket) => {
    silent.add(socket)
    socket.once("close", () => silent.delete(socket))
  })
  server.on("request", ({ socket }) => silent.delete(socket))
  return silent
}

/** Marks answers given while closing, so that their connections end with them. */
const closingAware = (
  closing: () => boolean,
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | Scope.Scope>
) =>
  Effect.map(app, (response) => (closing() ? HttpServerResponse.setHeader(response, "connection", "close") : response))

/**
 * Starts the listener in the current scope and answers where it listens; closing the scope is the graceful stop.
 * Requires the services of the dispatcher and Health.
 */
const start = (options: HttpServerOptions) =>
  Effect.gen(function* () {
    let closing = false
    const dispatcher = yield* Dispatcher.make({ ...options, closing: () => closing })
    const publicRoutes = edged(yield* publicApp)
    const operator = options.operatorApp === undefined ? publicRoutes : edged(options.operatorApp)
    const server = makeServer(options)
    const silent = silentSockets(server)
    const http = yield* NodeHttpServer.make(() => server, {
      host: options.host,
      port: options.port,
      gracefulShutdownTimeout: closeMillis
    })
    // Runs after the graceful close of `serve` and before the listener's own finaliser, which would wait for ever.
    yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
    const app = closingAware(
      () => closing,
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        const { url } = request
        if (under(url, partnerPrefix)) return dispatcher.handle(request)
        return under(url, operatorPrefix) ? operator(request) : publicRoutes(request)
      })
    )
    yield* Effect.provideService(http.serve(app), HttpIncomingMessage.MaxBodySize, ByteSize.bytes(edgeBodyCap))
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        closing = true
        for (const socket of silent) socket.destroy()
      })
    )
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
