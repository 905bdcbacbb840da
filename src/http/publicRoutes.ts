// The public routes of the edge: the OpenAPI document at both addresses, the rendered reference and health (doc 1, What
// the service does; A1-55). The reference is served from the installed package, without a CDN or foreign fonts; its
// content policy allows exactly the scripts of that page.
import { Clock, Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar } from "effect/http-api"
import { hash } from "node:crypto"
import { Health } from "../runtime/services/Health.ts"
import { openApiText, PublishedApi } from "./api/openApiDocument.ts"
import { apiVersion } from "./api/PartnerApi.ts"
import { refusalWith } from "./middleware/answers.ts"
import { gateRefusals } from "./toWire.ts"

/** The content policy of an HTML page whose scripts are all inline: each by its hash, nothing from elsewhere. */
export const contentPolicy = (html: string): string => {
  const scripts = [...html.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, source]) => `'sha256-${hash("sha256", source ?? "", "base64")}'`
  )
  return [
    "default-src 'none'",
    `script-src ${scripts.join(" ")}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
}

const documentAt = (path: `/${string}`) =>
  Layer.unwrap(
    Effect.sync(() =>
      HttpRouter.add("GET", path, HttpServerResponse.text(openApiText(), { contentType: "application/json" }))
    )
  )

const health = Layer.unwrap(
  Effect.gen(function* () {
    const { check } = yield* Health
    return HttpRouter.add(
      "GET",
      "/healthz",
      Effect.gen(function* () {
        if (!(yield* check)) return refusalWith(gateRefusals.unavailable, { "retry-after": "1" })
        const time = yield* Clock.currentTimeMillis
        return HttpServerResponse.jsonUnsafe(
          { status: "ok", version: apiVersion, time },
          { headers: { "cache-control": "no-store" } }
        )
      })
    )
  })
)

/** What the router tells about itself. */
const routerRoutes = Layer.mergeAll(documentAt("/partner/openapi.json"), health)

/** What the edge has for readers. */
const siteRoutes = Layer.mergeAll(
  documentAt("/openapi.json"),
  HttpApiScalar.layer(PublishedApi, { path: "/docs", scalar: { withDefaultFonts: false } })
)

/** Exact in case and slashes (A1-01). */
const routing = { caseSensitive: true, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false }

/** Routes as one app. The one HTML page never changes, so its policy is computed once. */
const appOf = <R>(routes: Layer.Layer<never, never, HttpRouter.HttpRouter | R>) =>
  Effect.gen(function* () {
    const router = yield* Effect.provideService(HttpRouter.toHttpEffect(routes), HttpRouter.RouterConfig, routing)
    let policy: string | null = null
    return Effect.map(router, (response) => {
      const { body } = response
      if (body._tag !== "Uint8Array" || !body.contentType.startsWith("text/html")) return response
      policy ??= contentPolicy(new TextDecoder().decode(body.body))
      return HttpServerResponse.setHeaders(response, {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff"
      })
    })
  })

/** The routes of a router behind an edge. */
export const routerApp = Effect.suspend(() => appOf(routerRoutes))

/** The routes of an edge in front of routers. */
export const siteApp = Effect.suspend(() => appOf(siteRoutes))

/** All of them, of a process that is both. */
export const publicApp = Effect.suspend(() => appOf(Layer.mergeAll(siteRoutes, routerRoutes)))
