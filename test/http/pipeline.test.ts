/**
 * Pipelined requests on one connection, over real sockets: one is served at a time, few wait, and the last answer
 * announces the end of the connection (RFC 9112, 9.3.2 and 9.6; architecture 5: the edge). The same rows run against
 * the service and through an edge in front of it.
 */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { pipelineLimit } from "../../src/http/middleware/pipeline.ts"
import { openRaw } from "./callRaw.ts"
import { collateralBooked, keys } from "./canned.ts"
import { type RunningEdge, startStubEdge } from "./stubEdge.ts"
import { type Running, startStubServer } from "./stubServer.ts"

let server: Running
let edge: RunningEdge
beforeAll(async () => {
  server = await startStubServer({ edgeHosts: ["127.0.0.1"] })
  edge = await startStubEdge([server])
})
afterAll(async () => {
  await edge.close()
  await server.close()
})
beforeEach(() => {
  server.stub.collateral = () => Effect.succeed(collateralBooked)
})

const auth = `Host: x\r\nAuthorization: Bearer ${keys.trade}\r\n`
const read = (name: number | string) => `GET /partner/v1/me HTTP/1.1\r\n${auth}X-Request-Id: ${name}\r\n\r\n`
const writePath = "POST /partner/v1/clients/41/collateral HTTP/1.1\r\n"
const write = (name: number | string) => `${writePath}${auth}X-Request-Id: ${name}\r\nContent-Length: 2\r\n\r\n{}`
const statuses = (text: string): ReadonlyArray<string> => text.match(/HTTP\/1\.1 \d+/g) ?? []
const names = (text: string): ReadonlyArray<number> =>
  [...text.matchAll(/\r\nx-request-id: (\d+)\r\n/gi)].map(([, name]) => Number(name))
const upTo = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, n) => n)

describe.each([
  ["the service", () => server],
  ["the edge", () => edge]
] as const)("RFC 9112: requests in a row before %s", (_, target) => {
  it("RFC 9112: a series within the limit is answered in order, and the connection stays open", async () => {
    const connection = await openRaw(target())
    for (const round of [0, 1]) {
      connection.received = ""
      connection.socket.write(
        upTo(pipelineLimit - 1)
          .map(read)
          .join("")
      )
      await connection.until(`: ${pipelineLimit - 2}\r\n`)
      assert.deepStrictEqual(names(connection.received), upTo(pipelineLimit - 1), `round ${round}`)
      assert.notMatch(connection.received, /connection: close/i)
    }
    connection.socket.destroy()
  })

  it.each([
    ["a row of reads over 16 KiB", 400],
    ["a row of reads of some hundred KiB", 4_000]
  ])("RFC 9112: of %s the first are answered, and the last answer states that it is the last", async (_name, count) => {
    const connection = await openRaw(target())
    connection.socket.write(upTo(count).map(read).join(""))
    const text = await connection.closed()
    assert.deepStrictEqual(names(text), upTo(pipelineLimit))
    const answers = text.split(/(?=HTTP\/1\.1 200)/)
    assert.deepStrictEqual(
      answers.map((answer) => /\r\nconnection: close\r\n/i.test(answer)),
      upTo(pipelineLimit).map((n) => n === pipelineLimit - 1)
    )
  })

  it("RFC 9112: the next request is served when the previous one is answered", async () => {
    const gates = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
    let begun = 0
    let first = (): void => {}
    const started = new Promise<void>((resolve) => (first = resolve))
    server.stub.collateral = () => {
      first()
      return Effect.as(Deferred.await(gates[begun++] as Deferred.Deferred<void>), collateralBooked)
    }
    const connection = await openRaw(target())
    connection.socket.write(write(0) + write(1) + read(2))
    await started
    assert.strictEqual((await target().call("GET", "/partner/v1/me")).status, 200)
    assert.strictEqual(begun, 1)
    Deferred.doneUnsafe(gates[0] as Deferred.Deferred<void>, Effect.void)
    await connection.until("201")
    Deferred.doneUnsafe(gates[1] as Deferred.Deferred<void>, Effect.void)
    await connection.until(": 2\r\n")
    assert.deepStrictEqual(statuses(connection.received), ["HTTP/1.1 201", "HTTP/1.1 201", "HTTP/1.1 200"])
    connection.socket.destroy()
  })

  it("RFC 9112: what waits behind an answer that ends the connection does not run", async () => {
    const runs = server.stub.runs
    const connection = await openRaw(target())
    const last = read(0).replace("\r\n", "\r\nConnection: close\r\n")
    connection.socket.write(last + write(1) + write(2))
    assert.deepStrictEqual(statuses(await connection.closed()), ["HTTP/1.1 200"])
    assert.strictEqual(server.stub.runs, runs)
  })

  it("RFC 9112: bytes that are no request after complete requests leave each its answer, and the last answer states that it is the last", async () => {
    const connection = await openRaw(target())
    connection.socket.write(`${write(0)}${read(1)}${read(2)}GARBAGE\r\n\r\n`)
    const text = await connection.closed()
    assert.deepStrictEqual(names(text), [0, 1, 2])
    assert.match(text.slice(text.lastIndexOf("HTTP/1.1")), /\r\nconnection: close\r\n/i)
    assert.lengthOf(text.match(/connection: close/gi) ?? [], 1)
  })

  it("RFC 9112: requests behind an answer that fills the connection are answered, or the last answer states that it is the last", async () => {
    const connection = await openRaw(target())
    const padding = `X-Padding: ${"x".repeat(2_000)}\r\n`
    const row = upTo(20).map((n) => read(n).replace("\r\n\r\n", `\r\n${padding}\r\n`))
    row[0] = "GET /openapi.json HTTP/1.1\r\nHost: x\r\nX-Request-Id: 0\r\n\r\n"
    row[19] = (row[19] as string).replace("\r\n", "\r\nConnection: close\r\n")
    connection.socket.write(row.join(""))
    const text = await connection.closed()
    assert.deepStrictEqual(names(text), upTo(names(text).length))
    assert.match(text.slice(text.lastIndexOf("HTTP/1.1")), /\r\nconnection: close\r\n/i)
  })

  it("RFC 9112: requests that wait when the caller disconnects never run", async () => {
    const gate = Deferred.makeUnsafe<void>()
    let begun = 0
    let first = (): void => {}
    const started = new Promise<void>((resolve) => (first = resolve))
    server.stub.collateral = () => {
      begun++
      first()
      return Effect.as(Deferred.await(gate), collateralBooked)
    }
    const connection = await openRaw(target())
    connection.socket.write(write(0) + write(1) + write(2))
    await started
    connection.socket.destroy()
    await connection.closed()
    Deferred.doneUnsafe(gate, Effect.void)
    server.stub.collateral = () => Effect.succeed(collateralBooked)
    assert.strictEqual((await target().call("POST", "/partner/v1/clients/41/collateral", { body: {} })).status, 201)
    assert.strictEqual(begun, 1)
  })
})
