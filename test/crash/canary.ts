/**
 * A listener inside the machine that no delivery may reach. A connection to it means that the sender followed a
 * redirect, a name or an address that is not allowed (doc 3, Webhook registration and delivery; A3-32).
 */
import { Effect, type Scope } from "effect"
import { type AddressInfo, createServer, type Server } from "node:net"

export interface Canary {
  readonly port: number
  /** The number of connections so far, whatever followed. */
  readonly connections: () => number
}

/** The target of a redirect to the canary. */
export const lure = ({ port }: Canary): string => `https://127.0.0.1:${port}/webhook`

/** Listens on one port of both loopback addresses until the scope closes. */
export const makeCanary: Effect.Effect<Canary, never, Scope.Scope> = Effect.gen(function* () {
  let connections = 0
  const listenAt = (host: string, port: number) =>
    Effect.acquireRelease(
      Effect.callback<Server | null>((resume) => {
        const server = createServer((socket) => {
          connections++
          socket.destroy()
        })
        // Some systems have only one loopback address.
        server.once("error", () => resume(Effect.succeed(null)))
        server.listen(port, host, () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => void server?.close())
    )
  const first = yield* listenAt("127.0.0.1", 0)
  if (first === null) return yield* Effect.die(new Error("no port for the canary"))
  const { port } = first.address() as AddressInfo
  yield* listenAt("127.0.0.2", port)
  return { port, connections: () => connections }
})
