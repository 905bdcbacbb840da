/**
 * The venue's listener on loopback: checks the key, then serves the two streams on Node's own response, sessions of calls on
 * their own connection, and everything else through `VenueApi`. Every refusal has a message, and every wait a limit.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Cause, ByteSize, Effect, Exit, Scope } from "effect"
import { HttpIncomingMessage, HttpServerError, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { channels } from "../../../src/machines/venue/marketData.ts"
import type { Duplex } from "node:stream"
import { callSession } from "../../../src/venue/callSession.ts"
import type { CallSessions } from "./CallSessions.ts"
import type { EventFeed } from "./EventFeed.ts"
import type { Faults, Target } from "./Faults.ts"
import type { MarketFeed, Subscription } from "./MarketFeed.ts"
import type { VenueDesk } from "./VenueDesk.ts"
import { keyTest } from "./venueKey.ts"
import { makeVenueApp, shortened } from "./venueRoutes.ts"

export interface VenueServerOptions {
  /** The port; 0: `lastPort` if it is free, otherwise any. */
  readonly port: number
  readonly lastPort: number
  readonly key: string
  readonly desk: VenueDesk
  readonly events: EventFeed
  readonly markets: MarketFeed
  readonly sessions: CallSessions
  /** Called for every request with the key. */
  readonly onRequest: () => void
}

export interface ListeningVenue {
  readonly url: string
  /** Refuses new requests, gives running ones a moment, ends streams, and closes every connection. */
  readonly close: () => Promise<void>
}

const largestBody = 64 * 1024
/** Limit on bytes of a request body. The longest body is a price path with the most points. */
const largestOrder = 8 * 1024 * 1024
const connectionLimit = 1_024
const subscriptionLimit = 1_000
const closeMillis = 2_000

export const listen = async (options: VenueServerOptions): Promise<ListeningVenue> => {
  const scope = Scope.makeUnsafe()
  const api = await Effect.runPromise(
    apiHandler(options.desk).pipe(Scope.provide(scope), Effect.provideService(Scope.Scope, scope))
  )
  const isKey = keyTest(options.key)
  const server = makeServer()
  server.on("request", (request, response) => {
    if (!isKey(request.headers.authorization))
      return refuse(response, 401, "VenueKeyRefused", "The key is missing or wrong.")
    options.onRequest()
    const url = URL.parse(request.url ?? "/", "http://venue")
    if (url === null) return refuse(response, 400, "VenueBadRequest", "The path can't be read.")
    if (url.pathname === "/venue/v1/events" && request.method === "GET") return openEvents(options, url, response)
    if (url.pathname === "/venue/v1/market-data" && request.method === "GET")
      return openMarketData(options, url, response)
    api(request, response)
  })
  server.on("upgrade", (request, socket: Duplex, head: Buffer) => {
    if (!isKey(request.headers.authorization)) return refuseUpgrade(socket, "401 Unauthorized")
    options.onRequest()
    if (request.url !== callSession.path || request.headers.upgrade !== callSession.protocol)
      return refuseUpgrade(socket, "404 Not Found")
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${callSession.protocol}\r\n\r\n`)
    options.sessions.open(socket, head)
  })
  const { port: wanted, lastPort } = options
  // The last port, so that a service with the old address reconnects.
  if (wanted !== 0 || lastPort === 0 || !(await isListening(server, lastPort))) await listening(server, wanted)
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : options.port
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      options.events.end()
      options.markets.end()
      options.sessions.end()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      const cut = setTimeout(() => {
        server.closeAllConnections()
        options.sessions.cut()
      }, closeMillis)
      await closed
      clearTimeout(cut)
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}

const makeServer = (): Server => {
  const server = createServer({
    maxHeaderSize: 16 * 1024,
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    insecureHTTPParser: false,
    noDelay: true
  })
  server.maxHeadersCount = 100
  server.maxConnections = connectionLimit
  return server
}

const isListening = (server: Server, port: number): Promise<boolean> =>
  listening(server, port).then(
    () => true,
    () => false
  )

const listening = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.removeAllListeners("error")
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        new Error(
          error.code === "EADDRINUSE"
            ? `Port ${port} of 127.0.0.1 is in use by another program: stop it, or choose another port (0 for any free one).`
            : `The venue can not listen on port ${port} of 127.0.0.1 (${error.code ?? error.message}).`
        )
      )
    )
    server.listen({ port, host: "127.0.0.1" }, resolve)
  })

/** A refusal with a message, in the form of `VenueApi` errors. */
const refuse = (response: ServerResponse, status: number, tag: string, message: string): void => {
  const body = JSON.stringify({ _tag: tag, message: shortened(message) })
  response
    .writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
    .end(body)
}

const refuseUpgrade = (socket: Duplex, status: string): void => {
  socket.on("error", () => socket.destroy())
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

/** Applies a fault to a new stream; false: none matched. */
const struck = (faults: Faults, target: Target, response: ServerResponse): boolean => {
  const strike = faults.strike(["outage", "timeout-before", "timeout-after", "reset", "http-500"], target)
  if (strike === null) return false
  if (strike.kind === "http-500") response.writeHead(500).end()
  // A stream with a timeout fault stays open without an answer until its reader gives up.
  else if (strike.kind === "outage" || strike.kind === "reset") response.destroy()
  return true
}

const openEvents = ({ desk, events }: VenueServerOptions, { searchParams }: URL, response: ServerResponse): void => {
  const after = searchParams.get("after") ?? ""
  if (!/^(0|[1-9][0-9]{0,14})$/.test(after) || searchParams.size !== 1) {
    return refuse(
      response,
      400,
      "VenueBadRequest",
      "events takes one parameter: after, the number of the last event that was read, 0 for none."
    )
  }
  if (struck(desk.faults, { route: "events", symbol: null }, response)) return
  if (!events.open(response, Number(after))) {
    refuse(response, 410, "VenueEventsGone", `Events after ${after} are not kept, or there is no such event.`)
  }
}

const openMarketData = (
  { desk, markets }: VenueServerOptions,
  { searchParams }: URL,
  response: ServerResponse
): void => {
  const subscriptions = subscriptionsOf(searchParams)
  if (typeof subscriptions === "string") return refuse(response, 400, "VenueBadRequest", subscriptions)
  if (struck(desk.faults, { route: "market-data", symbol: null }, response)) return
  const unknown = subscriptions.find((subscription) => markets.snapshot(subscription) === null)
  if (unknown !== undefined) {
    return refuse(response, 404, "VenueNotFound", `There is no channel ${unknown.channel}:${unknown.symbol}.`)
  }
  markets.open(response, subscriptions)
}

/** The subscriptions of a query, each once, or the fault as a sentence. */
const subscriptionsOf = (query: URLSearchParams): ReadonlyArray<Subscription> | string => {
  const given = query.get("subscribe")
  const form = "market-data takes one parameter: subscribe, CHANNEL:SYMBOL with commas between them."
  if (given === null || query.size !== 1) return form
  const names = new Set(given.split(","))
  if (names.size > subscriptionLimit) return `At most ${subscriptionLimit} subscriptions are taken at once.`
  const found: Array<Subscription> = []
  for (const name of names) {
    const [, channel = "", symbol = ""] = /^([a-z]+):([A-Z0-9-]{1,21})$/.exec(name) ?? []
    const known = channels.find((each) => each === channel)
    if (known === undefined) return `${form} Channels are ${channels.join(", ")}.`
    found.push({ channel: known, symbol })
  }
  return found
}

/** Everything but the streams, as a handler of Node's server. */
const apiHandler = (desk: VenueDesk) =>
  Effect.gen(function* () {
    const routed = yield* makeVenueApp(desk)
    const answered = (bodyLimit: number) =>
      routed.pipe(
        Effect.map(withMessage),
        Effect.catchCause(answerCause),
        Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(bodyLimit))
      )
    const scope = yield* Scope.Scope
    const ordinary = yield* NodeHttpServer.makeHandler(answered(largestBody), { scope })
    const orders = yield* NodeHttpServer.makeHandler(answered(largestOrder), { scope })
    return (request: IncomingMessage, response: ServerResponse): void => {
      const isControl = request.url === "/venue/v1/control"
      const limit = isControl ? largestOrder : largestBody
      if (Number(request.headers["content-length"] ?? 0) > limit) {
        return refuse(response, 413, "VenueBadRequest", `A body has at most ${limit} bytes here.`)
      }
      // Bodies are JSON under any content type.
      if (request.headers["content-type"] !== undefined) request.headers["content-type"] = "application/json"
      return (isControl ? orders : ordinary)(request, response)
    }
  })

const refusal = (status: number, tag: string, message: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe({ _tag: tag, message }, { status })

/** Adds a message to the error answers that the router itself makes, because they have no body. */
const withMessage = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse => {
  if (response.status < 400 || response.body._tag !== "Empty") return response
  switch (response.status) {
    case 404:
    case 405:
      return refusal(404, "VenueNotFound", "There is no such route.")
    case 413:
      return refusal(413, "VenueBadRequest", "The body is too large.")
    case 500:
      return refusal(500, "VenueDefect", "The simulator failed; its log says why.")
    default:
      return refusal(400, "VenueBadRequest", "The request can not be read: send a JSON object.")
  }
}

const answerCause = (
  cause: Cause.Cause<unknown>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest> => {
  const failure = cause.reasons.find(Cause.isFailReason)?.error
  const reason = (failure as { readonly reason?: { readonly _tag?: string } } | undefined)?.reason?._tag
  if (reason === "RouteNotFound") return Effect.succeed(refusal(404, "VenueNotFound", "There is no such route."))
  if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
  if (HttpServerError.isHttpServerError(Cause.squash(cause))) {
    return Effect.succeed(refusal(400, "VenueBadRequest", "The request can not be read."))
  }
  return Effect.as(
    Effect.logError("a request to the simulated venue failed: it is answered with 500", cause),
    refusal(500, "VenueDefect", "The simulator failed; its log says why.")
  )
}
