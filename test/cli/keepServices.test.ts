/**
 * Calls of the service from the command line. A single call leaves no connection open, and several calls share one
 * client and its socket (`sim run` makes hundreds of them).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Connection } from "../../cli/connection.ts"
import { type CallService, callService, keepServices } from "../../cli/OperatorClient.ts"
import { LocalAuthority } from "../../src/runtime/adapters/LocalAuthority.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-kept-"))
const clock = { now: 5, wallNow: 5, offsetMillis: 0, venueNow: null, behind: false, movingTo: null, next: [], more: 0 }
let connection: Connection
let server: Server
let sockets = 0
const authorizations: Array<string | undefined> = []

beforeAll(async () => {
  const tls = await Effect.runPromise(LocalAuthority.ensure({ dataDirectory: folder, host: "127.0.0.1" }))
  server = createServer({ cert: tls.certificate, key: tls.key }, (request, response) => {
    authorizations.push(request.headers.authorization)
    response.setHeader("content-type", "application/json").end(JSON.stringify({ code: 0, data: clock }))
  })
  server.on("connection", () => sockets++)
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const { port } = server.address() as AddressInfo
  connection = { url: `https://127.0.0.1:${port}`, operatorKey: "bok_one", ca: tls.ca }
})
afterAll(async () => {
  await new Promise((done) => server.close(done))
  rmSync(folder, { recursive: true, force: true })
})

/** The number of sockets that three consecutive calls open. */
const socketsOf = async (call: CallService): Promise<number> => {
  const before = sockets
  for (let calls = 0; calls < 3; calls++) {
    const { data } = await call(connection, (api) => api.clock.show())
    assert.deepStrictEqual(data, clock)
  }
  return sockets - before
}

describe("calls of the service from the command line", () => {
  it("each separate call opens a socket", async () => assert.strictEqual(await socketsOf(callService), 3))

  it("calls of one run share a socket until the run ends; another key has another connection", async () => {
    const services = keepServices()
    assert.strictEqual(await socketsOf(services.call), 1)
    await services.call({ ...connection, operatorKey: "bok_two" }, (api) => api.clock.show())
    assert.deepStrictEqual(authorizations.slice(-2), ["Bearer bok_one", "Bearer bok_two"])
    services.close()
  })
})
