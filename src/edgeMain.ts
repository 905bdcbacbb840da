/**
 * The composition root of `brokerage serve --role edge`: a listener, a certificate and the addresses of routers, without a
 * database or keys. The data directory holds the certificate alone (decision record 6).
 */
import { Effect, Scope, Exit } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { EdgeServer } from "./http/edge/EdgeServer.ts"
import { parseRouterUrl } from "./http/edge/RouterPool.ts"
import { stdoutPrinter } from "./layerLogging.ts"
import { type DataFiles, openDataDirectory } from "./runtime/adapters/dataDirectory.ts"
import { ServeError } from "./ServeError.ts"
import type { ServeOptions } from "./serveOptions.ts"
import { serverCertificate, urlHost } from "./serverCertificate.ts"
import { explainListening } from "./startFailure.ts"

/** Runs the edge until `stop` completes. All its resources are released on return. */
export const serveEdge = (options: ServeOptions, stop: Effect.Effect<void>): Effect.Effect<"stopped", unknown> =>
  Effect.scoped(
    Effect.gen(function* () {
      const files = yield* openDataDirectory(options.dataDir)
      const routers = yield* routersOf(options)
      const tls = yield* serverCertificate(options, files)
      const routerCa = yield* authorityOfRouters(options, files)
      const http = yield* Scope.make()
      const bound = yield* EdgeServer.start({
        host: options.host,
        port: options.port,
        tls,
        edgeHosts: options.edgeHosts,
        routers,
        routerCa,
        passOperator: options.passOperator
      }).pipe(
        Scope.provide(http),
        Effect.onError(() => Scope.close(http, Exit.void)),
        explainListening(options)
      )
      const print = yield* stdoutPrinter
      print(announcement(options, `https://${urlHost(options.host)}:${bound.port}`, tls.caFile))
      yield* stop
      yield* Effect.logInfo("the service stops: it finishes the accepted requests first")
      yield* Scope.close(http, Exit.void)
      return "stopped" as const
    })
  )

const routersOf = ({ routerUrls }: ServeOptions): Effect.Effect<ReadonlyArray<URL>, ServeError> => {
  const urls = routerUrls.map(parseRouterUrl).filter((url) => url !== null)
  return urls.length > 0 && urls.length === routerUrls.length
    ? Effect.succeed(urls)
    : Effect.fail(new ServeError({ sentence: "--router-url takes https addresses, without path." }))
}

/** The PEM text of the authority that signed the routers' certificates; null if public authorities signed them. */
const authorityOfRouters = ({ routerCa }: ServeOptions, files: DataFiles): Effect.Effect<string | null, ServeError> =>
  Effect.try({
    try: () => {
      const file = routerCa ?? join(files.root, "tls", "ca.pem")
      return routerCa !== null || existsSync(file) ? readFileSync(file, "utf8") : null
    },
    catch: () => new ServeError({ sentence: "The file of --router-ca can not be read." })
  })

const announcement = ({ json, routerUrls, passOperator }: ServeOptions, url: string, caFile: string | null): string => {
  if (json) return JSON.stringify({ ready: true, role: "edge", url, pid: process.pid, caFile, routerUrls })
  const lines = [
    `The edge is listening on ${url}`,
    caFile === null ? null : `  CA file       ${caFile}`,
    `  routers       ${routerUrls.join(", ")}`,
    `  operators     ${passOperator ? "passed on" : "not passed on"}`,
    `  API reference ${url}/docs`
  ]
  return lines.filter((line) => line !== null).join("\n")
}
