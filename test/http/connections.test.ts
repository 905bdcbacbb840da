/**
 * The limit on connections, and the connection that is closed at the limit: never one with a running request
 * (architecture 5: the edge). The bookkeeping is tested with fake sockets under random histories, the rest over real
 * ones.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import * as fc from "fast-check"
import { EventEmitter } from "node:events"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Server } from "node:https"
import type { Socket } from "node:net"
import { connect } from "node:tls"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Connections } from "../../src/http/middleware/Connections.ts"
import { openRaw } from "./callRaw.ts"
import { collateralBooked, keys } from "./canned.ts"
import { startStubServer } from "./stubServer.ts"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as (options: { readonly type: "minor" | "major" }) => void

class FakeSocket extends EventEmitter {
  readonly remoteAddress: string
  readonly remotePort: number
  destroyed = false
  /** Requests without an answer. */
  readonly running: Array<EventEmitter> = []

  constructor(address: string, port: number) {
    super()
    this.remoteAddress = address
    this.remotePort = port
  }

  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.emit("close")
  }
}

type Step = readonly ["open" | "secure" | "ask" | "answer" | "hangUp", number]
const steps = fc.array(
  fc.tuple(fc.constantFrom<Step[0]>("open", "open", "secure", "ask", "ask", "answer", "hangUp"), fc.nat(40)),
  { maxLength: 120 }
)
const addresses = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "127.0.0.1"]
const limits = { total: 8, perSource: 3 }

describe("architecture 5: connections", () => {
  it("architecture 5: limits hold, running requests continue, and nothing of closed connections stays in memory", () => {
    fc.assert(
      fc.property(steps, (history) => {
        const server = new EventEmitter()
        const connections = new Connections(server as unknown as Server, limits, (address) => address === "127.0.0.1")
        const sockets: Array<FakeSocket> = []
        const busy = () => sockets.filter(({ running }) => running.length > 0)
        const asked = new Set<FakeSocket>()
        for (const [verb, n] of history) {
          const socket = sockets[n % Math.max(1, sockets.length)]
          const before = busy()
          if (verb === "open") {
            const made = new FakeSocket(addresses[n % addresses.length] as string, sockets.length)
            sockets.push(made)
            server.emit("connection", made)
          } else if (socket !== undefined && !socket.destroyed) {
            if (verb === "secure") server.emit("secureConnection", socket)
            else if (verb === "ask") {
              server.emit("secureConnection", socket)
              const response = new EventEmitter()
              socket.running.push(response)
              asked.add(socket)
              server.emit("request", { socket, headers: {} }, response)
            } else if (verb === "answer") socket.running.shift()?.emit("close")
            else if (socket.running.length === 0) socket.destroy()
          }
          const open = sockets.filter(({ destroyed }) => !destroyed)
          assert.isTrue(before.every(({ destroyed }) => !destroyed))
          assert.isAtMost(open.length, limits.total)
          for (const address of addresses.slice(0, 3)) {
            assert.isAtMost(open.filter(({ remoteAddress }) => remoteAddress === address).length, limits.perSource)
          }
          assert.deepStrictEqual([...connections.all] as Array<unknown>, open)
        }
        for (const socket of sockets) socket.destroy()
        assert.deepStrictEqual([connections.all.size, connections.silent.size], [0, 0])
      })
    )
  })

  it("architecture 5: no socket outlives its connection, whatever it has sent", async () => {
    const kept: Array<WeakRef<object>> = []
    const closed: Array<Promise<void>> = []
    const opened = ({ socket }: { readonly socket: Socket }): void => {
      kept.push(new WeakRef(socket))
      closed.push(new Promise((resolve) => socket.once("close", () => resolve())))
    }
    const asked = ({ socket, request }: { readonly socket: object; readonly request: object }): void =>
      void kept.push(new WeakRef(socket), new WeakRef(request))
    const server = await startStubServer()
    subscribe("net.server.socket", opened as never)
    subscribe("http.server.request.start", asked as never)
    const open = await Promise.all(Array.from({ length: 60 }, () => openRaw(server)))
    const me = `GET /partner/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keys.trade}\r\n\r\n`
    for (const [n, { socket }] of open.entries())
      socket.write(["", me, me + me, "GET /nowhere HTTP/1.1\r\nX: "][n % 4] ?? "")
    for (const [n, each] of open.entries()) if (n % 4 === 1 || n % 4 === 2) await each.until('"code":0')
    for (const { socket } of open) socket.destroy()
    await Promise.all(closed)
    unsubscribe("net.server.socket", opened as never)
    unsubscribe("http.server.request.start", asked as never)
    assert.isAtLeast(kept.length, 60 * 2)
    // Work that waits in the event loop may keep the last sockets open for some turns.
    for (let turns = 0; turns < 50 && kept.some((each) => each.deref() !== undefined); turns++) {
      await new Promise((resolve) => setImmediate(resolve))
      collect({ type: "major" })
    }
    const left = kept.filter((each) => each.deref() !== undefined).length
    await server.close()
    assert.strictEqual(left, 0)
  })

  it("architecture 5: one too many costs the one that has been idle longest", async () => {
    const server = await startStubServer({ limits: { total: 3 } })
    const first = await openRaw(server)
    const second = await openRaw(server)
    first.socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    await first.until('"status":"ok"')
    const third = await openRaw(server)
    const fourth = await openRaw(server)
    await second.closed().catch(() => {})
    for (const kept of [first, third, fourth]) {
      kept.received = ""
      kept.socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
      await kept.until('"status":"ok"')
      kept.socket.destroy()
    }
    await server.close()
  })

  it("architecture 5: when every connection has a running request the new one is refused", async () => {
    const server = await startStubServer({ limits: { total: 2 } })
    const release = Deferred.makeUnsafe<void>()
    let started = 0
    const both = new Promise<void>((resolve) => {
      server.stub.collateral = () => {
        if (++started === 2) resolve()
        return Effect.as(Deferred.await(release), collateralBooked)
      }
    })
    const running = [1, 2].map(() => server.call("POST", "/partner/v1/clients/41/collateral", { body: {} }))
    await both
    const refused = connect({ host: "127.0.0.1", port: server.port, ca: server.ca })
    refused.on("error", () => {})
    await new Promise((resolve) => refused.once("close", resolve))
    assert.isFalse(refused.authorized)
    Deferred.doneUnsafe(release, Effect.void)
    assert.deepStrictEqual(
      (await Promise.all(running)).map(({ status }) => status),
      [201, 201]
    )
    await server.close()
  })

  it("architecture 5: a thousand idle and slow connections stay, and no other request waits for them", async () => {
    const server = await startStubServer()
    const open = await Promise.all(Array.from({ length: 1_000 }, () => openRaw(server)))
    for (const [n, { socket }] of open.entries()) {
      socket.write(n % 2 === 0 ? "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n" : "GET /nowhere HTTP/1.1\r\nX: ")
    }
    const answers = await Promise.all(Array.from({ length: 500 }, () => server.call("GET", "/partner/v1/me")))
    assert.isTrue(answers.every(({ status }) => status === 200))
    assert.isTrue(open.every(({ socket }) => !socket.destroyed && !socket.readableEnded))
    for (const { socket } of open) socket.destroy()
    await server.close()
  }, 90_000)
})
