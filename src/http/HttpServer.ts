/**
 * The HTTP server of the service: the partner and direct dispatchers, the operator surface and the public routes behind one
 * listener.
 * Behind an edge the router leaves the public pages to that edge (doc 1, What the service does).
 */
import { Effect, type Scope } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { DirectPrincipal, PartnerPrincipal, Principal } from "../runtime/services/partners/Principal.ts"
import { directPrefix } from "./api/direct/DirectApi.ts"
import { largestOperatorBody } from "./api/operator/commands.ts"
import { atlasPrefix } from "./operator/atlas/atlasApp.ts"
import { operatorPrefix } from "./api/OperatorApi.ts"
import { partnerPrefix } from "./api/PartnerApi.ts"
import { Dispatcher, type DispatcherOptions } from "./Dispatcher.ts"
import type { Served } from "./handlers/feature.ts"
import { Listener, type ListenerOptions } from "./Listener.ts"
import { directSurface, isOfDirectApi } from "./middleware/directGates.ts"
import { BodyBudget, type BodyBudgetOptions } from "./middleware/BodyBudget.ts"
import { edged } from "./middleware/edge.ts"
import { RouteTable, under } from "./middleware/routes.ts"
import { SandboxHints } from "./middleware/sandboxHints.ts"
import { publishedText } from "./publishedText.ts"
import { publicApp, type PublicRoutesOptions, routerApp } from "./publicRoutes.ts"
import { partnerSurface } from "./middleware/gates.ts"

/** An app under a path prefix with its services provided. */
export type MountedApp = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  unknown,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

export interface HttpServerOptions<R>
  extends Pick<DispatcherOptions, "waitMillis">, ListenerOptions, PublicRoutesOptions {
  /** The features that partners can use; `R` is the services that their handlers need. */
  readonly features: ReadonlyArray<Served<PartnerPrincipal, R>>
  /** The features of the direct API; none by default, and its paths are then unknown. */
  readonly direct?: ReadonlyArray<Served<DirectPrincipal, R>>
  /** Serves all paths under /operator/v1 and /atlas. */
  readonly operatorApp?: MountedApp
  /** Whether answers name unknown parameters and members (X-Sandbox-Hint); false by default. */
  readonly sandbox?: boolean
  /** Whether an edge stands in front and serves /docs and /openapi.json itself; false by default. */
  readonly behindEdge?: boolean
  /** Overrides of the default memory limits for arriving bodies. */
  readonly bodyBudget?: BodyBudgetOptions
}

const tableOf = <P extends Principal, R>(prefix: string, features: ReadonlyArray<Served<P, R>>): RouteTable =>
  new RouteTable(
    prefix,
    features.map(({ api }) => api)
  )

/**
 * Starts the listener in the current scope and returns its address. Closing the scope stops it gracefully. Requires the
 * services of the dispatcher and Health.
 */
const start = <R>(options: HttpServerOptions<R>) =>
  Listener.start(options, (closing) =>
    Effect.gen(function* () {
      const bodies = new BodyBudget(options.bodyBudget)
      const { features, direct } = options
      const surface = yield* partnerSurface(tableOf(partnerPrefix, features), options)
      const hints = options.sandbox === true ? new SandboxHints(JSON.parse(publishedText())) : undefined
      const dispatcher = yield* Dispatcher.make(surface, features, { ...options, bodies, closing, hints })
      const ofDirect =
        direct === undefined
          ? null
          : yield* Dispatcher.make(directSurface(tableOf(directPrefix, direct), options), direct, {
              ...options,
              bodies,
              closing
            })
      const publicRoutes = edged(yield* options.behindEdge === true ? routerApp(options) : publicApp(options))
      const operator =
        options.operatorApp === undefined
          ? publicRoutes
          : edged(options.operatorApp, { bodies, cap: largestOperatorBody })
      return (request: HttpServerRequest.HttpServerRequest) => {
        const { url } = request
        if (under(url, partnerPrefix)) return dispatcher.handle(request)
        if (ofDirect !== null && isOfDirectApi(url)) return ofDirect.handle(request)
        return under(url, operatorPrefix) || under(url, atlasPrefix) ? operator(request) : publicRoutes(request)
      }
    })
  )

export const HttpServer = { start }
