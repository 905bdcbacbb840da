/**
 * The service over HTTP: partner dispatcher, operator surface and public routes behind one listener (doc 1, What the
 * service does). As a router behind an edge it leaves the pages for readers to the edge (architecture 5).
 */
import { Effect, type Scope } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { PartnerPrincipal } from "../runtime/services/partners/Principal.ts"
import { largestOperatorBody } from "./api/operator/commands.ts"
import { atlasPrefix } from "./operator/atlas/atlasApp.ts"
import { operatorPrefix } from "./api/OperatorApi.ts"
import { partnerPrefix } from "./api/PartnerApi.ts"
import { Dispatcher, type DispatcherOptions } from "./Dispatcher.ts"
import type { Served } from "./handlers/feature.ts"
import { Listener, type ListenerOptions } from "./Listener.ts"
import { BodyBudget, type BodyBudgetOptions } from "./middleware/BodyBudget.ts"
import { edged } from "./middleware/edge.ts"
import { RouteTable, under } from "./middleware/routes.ts"
import { SandboxHints } from "./middleware/sandboxHints.ts"
import { openApiDocument } from "./openApiDocument.ts"
import { publicApp, type PublicRoutesOptions, routerApp } from "./publicRoutes.ts"
import { partnerSurface } from "./middleware/gates.ts"

/** An app under a prefix, ready to run: its services are closed over. */
export type MountedApp = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  unknown,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

export interface HttpServerOptions<R>
  extends Pick<DispatcherOptions, "waitMillis">, ListenerOptions, PublicRoutesOptions {
  /** What partners are served; `R` is what its handlers ask for. */
  readonly features: ReadonlyArray<Served<PartnerPrincipal, R>>
  /** Serves everything under /operator/v1 and /atlas. */
  readonly operatorApp?: MountedApp
  /** Whether answers name what of a request is unknown (X-Sandbox-Hint); no by default. */
  readonly sandbox?: boolean
  /** Whether an edge stands in front and serves /docs and /openapi.json itself; no by default. */
  readonly behindEdge?: boolean
  /** Other bounds than the usual ones on what the bodies being read may hold in memory. */
  readonly bodyBudget?: BodyBudgetOptions
}

/**
 * Starts the service's listener in the current scope and answers where it listens; closing the scope is the graceful
 * stop. Requires the services of the dispatcher and Health.
 */
const start = <R>(options: HttpServerOptions<R>) =>
  Listener.start(options, (closing) =>
    Effect.gen(function* () {
      const bodies = new BodyBudget(options.bodyBudget)
      const { features } = options
      const routes = new RouteTable(
        partnerPrefix,
        features.map(({ api }) => api)
      )
      const surface = yield* partnerSurface(routes, options)
      const hints = options.sandbox === true ? new SandboxHints(openApiDocument()) : undefined
      const dispatcher = yield* Dispatcher.make(surface, features, { ...options, bodies, closing, hints })
      const publicRoutes = edged(yield* options.behindEdge === true ? routerApp(options) : publicApp(options))
      const operator =
        options.operatorApp === undefined
          ? publicRoutes
          : edged(options.operatorApp, { bodies, cap: largestOperatorBody })
      return (request: HttpServerRequest.HttpServerRequest) => {
        const { url } = request
        if (under(url, partnerPrefix)) return dispatcher.handle(request)
        return under(url, operatorPrefix) || under(url, atlasPrefix) ? operator(request) : publicRoutes(request)
      }
    })
  )

/** Serves until its scope closes. */
export const HttpServer = { start }
