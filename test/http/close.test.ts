/** The close of the listener with connections that could delay it: it always ends, and soon (architecture 8). */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { once } from "node:events"
import { connect as connectPlain } from "node:net"
import { openRaw } from "./callRaw.ts"
import { collateralBooked, keys } from "./canned.ts"
import { type Running, startStubServer } from "./stubServer.ts"

const closeMillis = 300
/** Far longer than the close may take, and far shorter than any other limit of the server. */
const patience = 4_000
const path = "/partner/v1/clients/41/collateral"
const head = `Host: x\r\nAuthorization: Bearer ${keys.trade}\r\n`

/** Duration of a graceful stop, wall ms. */
const stopMillis = async (server: Running): Promise<number> => {
  const start = performance.now()
  await server.stop()
  return performance.now() - start
}

const holders: ReadonlyArray<readonly [name: string, hold: (server: Running) => Promise<void>]> = [
  [
    "a body that is half sent",
    async (server) => {
      const half = await openRaw(server)
      half.socket.write(`POST ${path} HTTP/1.1\r\n${head}Expect: 100-continue\r\nContent-Length: 10\r\n\r\n`)
      await half.until("100 Continue")
      half.socket.write("{")
    }
  ],
  [
    "a body that is half sent, unasked",
    async (server) => {
      const half = await openRaw(server)
      half.socket.write(`POST ${path} HTTP/1.1\r\n${head}Content-Length: 10\r\n\r\n{`)
      await server.call("GET", "/healthz", { key: null })
    }
  ],
  [
    "a chunked body without end",
    async (server) => {
      const half = await openRaw(server)
      half.socket.write(`POST ${path} HTTP/1.1\r\n${head}Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n`)
      await half.until("100 Continue")
      half.socket.write("1\r\n{\r\n")
    }
  ],
  [
    "a connection that never begins TLS",
    async (server) => {
      const mute = connectPlain({ host: "127.0.0.1", port: server.port })
      mute.on("error", () => {})
      await once(mute, "connect")
      // The server accepts connections in order: after this call it has also accepted the silent connection.
      await server.call("GET", "/healthz", { key: null })
    }
  ],
  [
    "headers that are half sent after an earlier request",
    async (server) => {
      const half = await openRaw(server)
      half.socket.write(`GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`)
      await half.until('"status":"ok"')
      half.socket.write("GET /healthz HTTP/1.1\r\nHo")
    }
  ],
  [
    "a service that never answers and can not be interrupted",
    async (server) => {
      const started = new Promise<void>((resolve) => {
        server.stub.collateral = () => {
          resolve()
          return Effect.uninterruptible(Effect.never)
        }
      })
      server.call("POST", path, { body: {} }).catch(() => {})
      await started
    }
  ]
]

describe("architecture 8: the close ends", () => {
  for (const [name, hold] of holders) {
    it(`architecture 8: ${name} does not hold it up`, async () => {
      const server = await startStubServer({ closeMillis })
      await hold(server)
      assert.isBelow(await stopMillis(server), patience)
      await server.close()
    })
  }

  it("architecture 8: a running request that had waited for 100 Continue is answered", async () => {
    const server = await startStubServer()
    const gate = Deferred.makeUnsafe<void>()
    const started = new Promise<void>((resolve) => {
      server.stub.collateral = () => {
        resolve()
        return Effect.as(Deferred.await(gate), collateralBooked)
      }
    })
    const caller = await openRaw(server)
    caller.socket.write(`POST ${path} HTTP/1.1\r\n${head}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`)
    await started
    const stopped = server.stop()
    Deferred.doneUnsafe(gate, Effect.void)
    assert.include(await caller.closed(), "HTTP/1.1 201 Created")
    await stopped
    await server.close()
  })
})
