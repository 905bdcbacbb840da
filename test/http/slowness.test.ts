/**
 * Slow callers, over real sockets and with shorter limits of the listener: every wait ends, with an answer if the
 * caller can read one, and a slow service does not count as a slow caller (architecture 5: the edge).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { once } from "node:events"
import { connect as connectPlain } from "node:net"
import { connect } from "node:tls"
import { bodyOf, openRaw, type RawConnection, statusLine } from "./callRaw.ts"
import { collateralBooked, keys } from "./canned.ts"
import { type Running, startStubServer } from "./stubServer.ts"

/** Far below the usual limits, and far above the duration of an event loop turn on a busy machine. */
const limits = {
  handshakeMillis: 250,
  headersMillis: 300,
  requestMillis: 600,
  stallMillis: 400,
  keepAliveMillis: 300,
  checkMillis: 20
}
const write = `POST /partner/v1/clients/41/collateral HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keys.trade}\r\n`

let server: Running
beforeAll(async () => {
  server = await startStubServer({ limits })
})
afterAll(() => server.close())

/** Sends a text repeatedly until the connection ends. Returns all received data. */
const dribble = async (connection: RawConnection, text: string): Promise<string> => {
  const pen = setInterval(() => connection.socket.write(text), 20)
  const received = await connection.closed().catch(() => connection.received)
  clearInterval(pen)
  return received
}

const isTooSlow = (text: string): void => {
  assert.strictEqual(statusLine(text), "HTTP/1.1 408 Request Timeout")
  assert.match(text, /\r\nconnection: close\r\n/i)
  assert.match(text, /\r\ncache-control: no-store\r\n/i)
  assert.deepInclude(bodyOf(text), { code: 4000 })
}

describe("architecture 5: slow callers", () => {
  it("architecture 5: a silent connection is ended", async () => {
    isTooSlow(await (await openRaw(server)).closed())
  })

  it("architecture 5: headers that never end", async () => {
    const connection = await openRaw(server)
    connection.socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\nX: ")
    isTooSlow(await dribble(connection, "x"))
  })

  it("architecture 5: a body that never ends, however steadily it arrives", async () => {
    const connection = await openRaw(server)
    connection.socket.write(`${write}Content-Length: 10000\r\n\r\n{`)
    isTooSlow(await dribble(connection, " "))
  })

  it("architecture 5: chunks that never end", async () => {
    const connection = await openRaw(server)
    connection.socket.write(`${write}Transfer-Encoding: chunked\r\n\r\n`)
    isTooSlow(await dribble(connection, "1\r\n \r\n"))
  })

  it("architecture 5: a body that keeps the minimum rate is waited for, however long it takes", async () => {
    const connection = await openRaw(server)
    connection.socket.write(`${write}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n`)
    // About four times the minimum pace.
    const piece = `400\r\n${" ".repeat(1024)}\r\n`
    const pen = setInterval(() => connection.socket.write(piece), 20)
    // Each of these slow bodies is cut after a timeout. The body above must outlast three such timeouts.
    for (let waits = 0; waits < 3; waits++) {
      const still = await openRaw(server)
      still.socket.write(`${write}Content-Length: 10\r\n\r\n{`)
      await dribble(still, "")
    }
    clearInterval(pen)
    connection.socket.write("0\r\n\r\n")
    await connection.until("\r\n\r\n")
    assert.strictEqual(statusLine(connection.received), "HTTP/1.1 201 Created")
    connection.socket.destroy()
  })

  it("architecture 5: a body that stops", async () => {
    const patient = await startStubServer({ limits: { ...limits, headersMillis: 30_000, requestMillis: 30_000 } })
    const connection = await openRaw(patient)
    connection.socket.write(`${write}Content-Length: 10\r\n\r\n{`)
    isTooSlow(await connection.closed())
    await patient.close()
  })

  it("architecture 5: a second request that is half sent leaves the first its answer", async () => {
    const release = Deferred.makeUnsafe<void>()
    server.stub.collateral = () => Effect.as(Deferred.await(release), collateralBooked)
    const slow = await openRaw(server)
    slow.socket.write(`${write}Content-Length: 2\r\n\r\n{}GET /healthz HTTP/1.1\r\nX: `)
    // A connection that began later has run into the limit, so this one has too.
    await (await openRaw(server)).closed()
    Deferred.doneUnsafe(release, Effect.void)
    const text = await slow.closed()
    assert.strictEqual(statusLine(text), "HTTP/1.1 201 Created")
    assert.notInclude(text, " 408 ")
  })

  it("architecture 5: an idle connection that was kept alive is ended without an answer", async () => {
    const connection = await openRaw(server)
    connection.socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    const text = await connection.closed()
    assert.strictEqual(text.split("HTTP/1.1 ").length, 2)
  })

  it("architecture 5: a handshake that never ends", async () => {
    for (const beginning of ["", "\x16\x03\x01\x02\x00\x01"]) {
      const mute = connectPlain({ host: "127.0.0.1", port: server.port })
      mute.on("error", () => {})
      mute.resume()
      mute.write(Buffer.from(beginning, "latin1"))
      await once(mute, "close")
    }
  })

  it("architecture 5: unread answers do not accumulate", async () => {
    const strict = await startStubServer({ limits: { ...limits, stallMillis: 100 } })
    const reader = await openRaw(strict)
    reader.socket.pause()
    reader.socket.write("GET /docs HTTP/1.1\r\nHost: x\r\n\r\n".repeat(20))
    // Each of these waits takes three times as long as the strict server's.
    for (let waits = 0; waits < 3; waits++) await (await openRaw(server)).closed()
    reader.socket.resume()
    const text = await reader.closed().catch(() => reader.received)
    assert.isBelow(text.split("HTTP/1.1 200 OK").length, 20)
    await strict.close()
  })

  it("architecture 5: the server waits for a service that takes longer than callers may", async () => {
    const release = Deferred.makeUnsafe<void>()
    server.stub.collateral = () => Effect.as(Deferred.await(release), collateralBooked)
    const running = server.call("POST", "/partner/v1/clients/41/collateral", { body: {} })
    for (let waits = 0; waits < 3; waits++) await (await openRaw(server)).closed()
    Deferred.doneUnsafe(release, Effect.void)
    assert.strictEqual((await running).status, 201)
  })

  it("architecture 5: TLS is not negotiated again", async () => {
    const socket = connect({ host: "127.0.0.1", port: server.port, ca: server.ca, maxVersion: "TLSv1.2" })
    await once(socket, "secureConnect")
    socket.on("error", () => {})
    const error = await new Promise<Error | null>((resolve) => {
      socket.once("close", () => resolve(new Error("closed")))
      socket.renegotiate({}, resolve)
    })
    assert.isNotNull(error)
    socket.destroy()
  })
})
