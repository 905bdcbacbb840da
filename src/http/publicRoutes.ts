/**
 * The public routes of the edge: the OpenAPI document at both addresses, the reference, and health. The reference comes from
 * the installed package, without a CDN or external fonts, and its content policy allows exactly the scripts of the page.
 * Paths are exact in case and slashes (doc 1, What the service does; A1-01, A1-08, A1-55).
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Clock, Deferred, Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiScalar } from "effect/http-api"
import { hash } from "node:crypto"
import { Health } from "../runtime/services/operations/system/Health.ts"
import { publishedText } from "./publishedText.ts"
import { directDocumentPath } from "./api/direct/DirectApi.ts"
import { apiTitle, apiVersion } from "./api/PartnerApi.ts"
import type { IncomingMessage, ServerResponse } from "node:http"
import { refusalWith } from "./middleware/answers.ts"
import { sourceAddress } from "./middleware/sourceAddress.ts"
import { type VisitorBounds, VisitorLimits } from "./middleware/VisitorLimits.ts"
import { Page } from "./Page.ts"
import { gateRefusals } from "../machines/shared/wireRefusal.ts"

export interface PublicRoutesOptions {
  /** Addresses and ranges of the operator's own edge hosts, which forward requests of many readers. */
  readonly edgeHosts: ReadonlyArray<string>
  /** Overrides of the default limits for callers without a key. */
  readonly visitors?: Partial<VisitorBounds>
  /** A sandbox starts sooner: it makes the pages at the first request of one. By default they are made at the start. */
  readonly sandbox?: boolean
}

type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse>
type PublicRoute = (request: HttpServerRequest.HttpServerRequest) => Answer
type PublicRoutes = Readonly<Record<string, PublicRoute>>

/** The content policy of an HTML page: each inline script is allowed by its hash, and no external source is. */
export const contentPolicy = (html: string): string => {
  const scripts = [...html.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, source]) => `'sha256-${hash("sha256", source ?? "", "base64")}'`
  )
  return [
    "default-src 'none'",
    `script-src ${scripts.length === 0 ? "'none'" : scripts.join(" ")}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
}

/** Settings of the reference page. Tools and links of third parties are off, and a visitor enters the key only once. */
const referenceLook = {
  withDefaultFonts: false,
  favicon: "data:,",
  authentication: { preferredSecurityScheme: "bearer" },
  customCss: 'a[href*="scalar.com"] { display: none; }',
  ...({ showDeveloperTools: "never", hideClientButton: true, documentDownloadType: "none", telemetry: false } as object)
}

/** The HTML of the reference. Effect renders it only through a router, so a router is built and called once. */
const renderReference = Effect.fnUntraced(
  function* (of: "partner" | "direct") {
    const path = "/docs"
    const { PublishedApi, PublishedDirectApi } = yield* Effect.promise(() => import("./openApiDocument.ts"))
    const reference =
      of === "partner"
        ? HttpApiScalar.layer(PublishedApi, { path, scalar: referenceLook })
        : HttpApiScalar.layer(PublishedDirectApi, { path, scalar: referenceLook })
    const app = yield* HttpRouter.toHttpEffect(reference)
    const request = HttpServerRequest.fromWeb(new Request(`https://localhost${path}`))
    const { body } = yield* Effect.provideService(app, HttpServerRequest.HttpServerRequest, request)
    if (body._tag !== "Uint8Array") return yield* Effect.die(new Error("the reference was not rendered"))
    return new TextDecoder().decode(body.body)
  },
  Effect.scoped,
  Effect.orDie
)

interface Pages {
  readonly welcome: Page
  readonly document: Page
  readonly reference: Page
  readonly directDocument: Page
  readonly directReference: Page
}

let made: Promise<Pages> | null = null

/**
 * The public pages, made once for the process, because the contract never changes while it runs. They take a fifth of a second, in
 * which the process does nothing else.
 */
const pages = Effect.promise(
  () =>
    (made ??= Effect.runPromise(
      Effect.map(Effect.all([renderReference("partner"), renderReference("direct")]), ([partner, direct]) => ({
        welcome: htmlPage(welcomePage(apiTitle)),
        document: jsonPage(publishedText()),
        reference: htmlPage(partner),
        directDocument: jsonPage(publishedText("direct")),
        directReference: htmlPage(direct)
      }))
    ))
)

const jsonPage = (text: string): Page => new Page(text, { "content-type": "application/json" })

const htmlPage = (html: string): Page =>
  new Page(html, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": contentPolicy(html),
    "x-content-type-options": "nosniff"
  })

/** Serves pages within the shared limits for callers without a key. */
const pageRoutes = Effect.fnUntraced(function* ({ edgeHosts, visitors, sandbox = false }: PublicRoutesOptions) {
  const clock = yield* Clock.Clock
  const limits = new VisitorLimits(visitors)
  if (!sandbox) yield* pages
  const answered =
    (page: Page): PublicRoute =>
    (request) => {
      const { socket } = NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage
      const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
      const source = sourceAddress(socket.remoteAddress, request.headers["x-forwarded-for"], edgeHosts)
      return page.answer(request, () => {
        const admission = limits.enter(source, clock.currentTimeMillisUnsafe())
        if (admission._tag === "Admitted") {
          response.once("close", admission.leave)
          // A connection that has closed by now emits no `close` any more, so the caller's place is given back here.
          if (response.destroyed) admission.leave()
          return null
        }
        const refusal = admission._tag === "Full" ? gateRefusals.unavailable : gateRefusals.rateLimited
        return refusalWith(refusal, { "retry-after": String(admission.retrySeconds) })
      })
    }
  return (name: keyof Pages): PublicRoute =>
    (request) =>
      Effect.flatMap(pages, (made) => answered(made[name])(request))
})

/** Runs one check at a time and shares its result with all waiting callers, so that many callers cost the database one query. */
const shared = (check: Effect.Effect<boolean>): Effect.Effect<boolean> => {
  let running: Deferred.Deferred<boolean> | null = null
  return Effect.suspend(() => {
    if (running !== null) return Deferred.await(running)
    const outcome = (running = Deferred.makeUnsafe<boolean>())
    const settled = Effect.onExit(check, (exit) =>
      Effect.sync(() => {
        running = null
        Deferred.doneUnsafe(outcome, exit)
      })
    )
    // The check is detached from the caller that started it: if that caller disconnects, the others still get the result.
    return Effect.andThen(Effect.forkDetach(settled), Deferred.await(outcome))
  })
}

const healthRoute = Effect.gen(function* () {
  const check = shared((yield* Health).check)
  return (): Answer =>
    Effect.gen(function* () {
      if (!(yield* check)) return refusalWith(gateRefusals.unavailable, { "retry-after": "1" })
      const time = yield* Clock.currentTimeMillis
      return HttpServerResponse.jsonUnsafe(
        { status: "ok", version: apiVersion, time },
        { headers: { "cache-control": "no-store" } }
      )
    })
})

const appOf = (routes: PublicRoutes) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const [path = ""] = request.url.split("?", 1)
    const read = request.method === "GET" || request.method === "HEAD"
    const route = read && Object.hasOwn(routes, path) ? routes[path] : undefined
    return route === undefined ? Effect.succeed(refusalWith(gateRefusals.route, {})) : route(request)
  })

/** The routes of a router: health, and the OpenAPI document below the partner's path. */
const routerRoutes = Effect.fnUntraced(function* (paged: (name: keyof Pages) => PublicRoute) {
  return { "/partner/openapi.json": paged("document"), "/healthz": yield* healthRoute } satisfies PublicRoutes
})

/**
 * The routes of the site: the welcome page, the OpenAPI document and the reference. An edge serves them without a router.
 */
const siteRoutes = (paged: (name: keyof Pages) => PublicRoute) =>
  ({
    "/": paged("welcome"),
    "/openapi.json": paged("document"),
    "/docs": paged("reference"),
    [directDocumentPath]: paged("directDocument"),
    "/docs/direct": paged("directReference")
  }) satisfies PublicRoutes

/** The app of a router behind an edge: health and the document, without the site. */
export const routerApp = (options: PublicRoutesOptions) =>
  Effect.map(Effect.flatMap(pageRoutes(options), routerRoutes), appOf)

/** The app of an edge in front of routers: the site alone. */
export const siteApp = (options: PublicRoutesOptions) =>
  Effect.map(pageRoutes(options), (paged) => appOf(siteRoutes(paged)))

/** The app of a process without an edge: the routes of a router, and the site. */
export const publicApp = (options: PublicRoutesOptions) =>
  Effect.flatMap(pageRoutes(options), (paged) =>
    Effect.map(routerRoutes(paged), (router) => appOf({ ...siteRoutes(paged), ...router }))
  )

/** The links of the page at `/`, for visitors who know only the address. */
const links = [
  ["/docs", "Reference", "guides, every route and webhook, and a console that sends requests"],
  ["/openapi.json", "Description", "the same as OpenAPI 3.1, for tools"],
  ["/docs/direct", "Direct API", "the routes of the operator's own clients"],
  ["/healthz", "Health", "whether the service answers"]
] as const

const welcomePage = (title: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="icon" href="data:,">
    <title>${title}</title>
    <style>
      body { font: 16px/1.6 system-ui, sans-serif; max-width: 40rem; margin: 12vh auto; padding: 0 1.5rem; color-scheme: light dark; }
    </style>
  </head>
  <body>
    <h1>${title}</h1>
    <ul>
${links.map(([href, name, label]) => `      <li><a href="${href}">${name}</a>: ${label}</li>`).join("\n")}
    </ul>
  </body>
</html>
`
