/** PUT and GET /partner/v1/webhook of a stub service, with a record of its registrations (doc 3, Endpoints). */
import { Effect, type Scope } from "effect"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import type { ServerCertificate } from "../../src/runtime/adapters/LocalAuthority.ts"

export interface Registration {
  readonly route: string
  readonly key: string
  readonly url: string
}

export interface StubRegistrar {
  readonly url: string
  readonly registrations: ReadonlyArray<Registration>
}

/** `answer` gives the status and the body of the n-th registration, from 1. */
export const startStubRegistrar = (
  { certificate, key }: ServerCertificate,
  answer: (count: number) => readonly [status: number, body: string]
): Effect.Effect<StubRegistrar, never, Scope.Scope> =>
  Effect.gen(function* () {
    const registrations: Array<Registration> = []
    const server = createServer({ cert: certificate, key }, (incoming, outgoing) => {
      const parts: Array<Buffer> = []
      incoming.on("data", (part: Buffer) => parts.push(part))
      incoming.on("end", () => {
        const last = registrations.at(-1)
        if (incoming.method === "GET") {
          const data = { url: last?.url, active: true, createdAt: 1, updatedAt: registrations.length }
          return outgoing.writeHead(last === undefined ? 404 : 200).end(JSON.stringify({ code: 0, data }))
        }
        const { url } = JSON.parse(Buffer.concat(parts).toString()) as { readonly url: string }
        const bearer = incoming.headers.authorization ?? ""
        registrations.push({ route: `${incoming.method} ${incoming.url}`, key: bearer.replace("Bearer ", ""), url })
        const [status, body] = answer(registrations.length)
        return outgoing.writeHead(status, { "content-type": "application/json" }).end(body)
      })
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, registrations }
  })

/** The registration as the service answers it. */
export const registered = (secret: string): readonly [number, string] => [
  200,
  JSON.stringify({ code: 0, data: { url: "https://x", secret, active: true, createdAt: 1, updatedAt: 1 } })
]
