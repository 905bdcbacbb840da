/** An edge in front of stub routers, all in this process, for tests of the edge. */
import { Effect, Exit, References, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { Agent } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EdgeServer, type EdgeServerOptions } from "../../src/http/edge/EdgeServer.ts"
import { LocalAuthority } from "../../src/runtime/adapters/LocalAuthority.ts"
import { type Answer, type CallOptions, callServer } from "./callServer.ts"

export interface RunningEdge {
  readonly port: number
  readonly ca: string
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<Answer>
  /** Closes only the edge, gracefully. */
  readonly stop: () => Promise<void>
  readonly close: () => Promise<void>
}

/** The address of a router, as the edge uses it. */
export interface RouterAddress {
  readonly port: number
  readonly ca: string
}

/** Starts an edge on a free port of 127.0.0.1 before routers of one authority, or of several whose texts are joined. */
export const startStubEdge = async (
  routers: ReadonlyArray<RouterAddress>,
  options: Partial<EdgeServerOptions> = {}
): Promise<RunningEdge> => {
  const folder = mkdtempSync(join(tmpdir(), "edge-test-"))
  const scope = Scope.makeUnsafe()
  const started = await Effect.gen(function* () {
    const tls = yield* LocalAuthority.ensure({ dataDirectory: folder })
    const bound = yield* EdgeServer.start({
      host: "127.0.0.1",
      port: 0,
      tls: { key: tls.key, cert: tls.certificate },
      edgeHosts: [],
      passOperator: true,
      routers: routers.map(({ port }) => new URL(`https://127.0.0.1:${port}`)),
      routerCa: routers.map(({ ca }) => ca).join("\n"),
      ...options
    })
    return { port: bound.port, ca: tls.ca }
  }).pipe(Scope.provide(scope), Effect.provideService(References.MinimumLogLevel, "None"), Effect.runPromise)
  rmSync(folder, { recursive: true, force: true })
  const agent = new Agent({ keepAlive: true, maxSockets: 32, ca: started.ca })
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void))
  return {
    ...started,
    stop,
    call: (method, path, call) => callServer(agent, started.port, method, path, call ?? {}),
    close: async () => {
      agent.destroy()
      await stop()
    }
  }
}
