/**
 * Routers that misbehave or disconnect, over real sockets: the edge answers for them in the envelope, forwards no
 * foreign bytes, and repeats a request only if no router can have received it (architecture 5; decision record 6).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseRouterUrl } from "../../src/http/edge/RouterPool.ts"
import { LocalAuthority } from "../../src/runtime/adapters/LocalAuthority.ts"
import { openRaw } from "./callRaw.ts"
import { type RouterAddress, type RunningEdge, startStubEdge } from "./stubEdge.ts"

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A router whose behaviour the test sets. */
class FakeRouter implements RouterAddress {
  readonly ca: string
  port = 0
  requests = 0
  handler: Handler = (_request, response) => void response.end()
  private readonly server: ReturnType<typeof createServer>

  constructor(tls: { readonly key: string; readonly certificate: string; readonly ca: string }) {
    this.ca = tls.ca
    this.server = createServer({ key: tls.key, cert: tls.certificate }, (request, response) => {
      this.requests++
      this.handler(request, response)
    })
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(this.port, "127.0.0.1", resolve))
    this.port = (this.server.address() as AddressInfo).port
    return this
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve())
      this.server.closeAllConnections()
    })
  }
}

let routers: readonly [FakeRouter, FakeRouter]
let edge: RunningEdge
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "fake-routers-"))
  const tls = await Effect.runPromise(LocalAuthority.ensure({ dataDirectory: folder }))
  rmSync(folder, { recursive: true, force: true })
  routers = [await new FakeRouter(tls).listen(), await new FakeRouter(tls).listen()]
  edge = await startStubEdge(routers, { answerMillis: 300, inFlight: 2 })
})
afterAll(async () => {
  await edge.close()
  for (const router of routers) await router.close()
})

const json = { "content-type": "application/json" }
const answering =
  (status: number, headers: Record<string, string>, body: string): Handler =>
  (request, response) => {
    request.resume()
    response.writeHead(status, headers).end(body)
  }

describe("architecture 5: answers that are not ours", () => {
  it.each([
    ["an empty 404", answering(404, {}, ""), 404, 4004],
    ["a page of 500", answering(500, { "content-type": "text/html" }, "<h1>"), 500, 5000],
    ["an empty 405", answering(405, {}, ""), 404, 4004],
    ["a text of 400", answering(400, { "content-type": "text/plain" }, "no"), 400, 4000],
    ["JSON without a body", answering(403, { ...json, "content-length": "0" }, ""), 403, 4034],
    ["a 502 of something between", answering(502, {}, ""), 503, 5030],
    ["an empty 429", answering(429, { "retry-after": "7" }, ""), 429, 4290],
    ["an empty 413", answering(413, {}, ""), 413, 4130]
  ] as const)("architecture 5: %s becomes the envelope", async (_name, handler, status, code) => {
    routers[0].handler = handler
    const answer = await edge.call("GET", "/partner/v1/me")
    const body = answer.json as { code: number; msg: string; error: string }
    assert.deepStrictEqual([answer.status, body.code, body.error], [status, code, body.msg])
    assert.match(String(answer.headers["x-request-id"]), /^[0-9a-f-]{36}$/)
    if (status === 503) assert.strictEqual(answer.headers["retry-after"], "1")
    if (status === 429) assert.strictEqual(answer.headers["retry-after"], "7")
  })

  it("architecture 5: envelopes and redirects pass, headers of the router's connection do not", async () => {
    routers[0].handler = answering(409, { ...json, "keep-alive": "timeout=1", "x-own": "1" }, '{"code":4092}')
    const answer = await edge.call("GET", "/partner/v1/me")
    assert.deepStrictEqual([answer.status, answer.text], [409, '{"code":4092}'])
    assert.deepStrictEqual([answer.headers["x-own"], answer.headers["keep-alive"]], ["1", "timeout=65"])
    routers[0].handler = answering(302, { location: "/x" }, "")
    assert.strictEqual((await edge.call("GET", "/partner/v1/me")).headers.location, "/x")
  })
})

describe("architecture 5: routers that stop", () => {
  const hangUp: Handler = (request, response) => {
    request.resume()
    request.on("end", () => response.destroy())
  }

  it("architecture 5: a request that was sent is not sent again", async () => {
    routers[0].handler = hangUp
    const before = routers[1].requests
    for (const [method, path] of [
      ["GET", "/partner/v1/me"],
      ["POST", "/partner/v1/clients"],
      ["GET", "/operator/v1/x"]
    ] as const) {
      const answer = await edge.call(method, path)
      assert.deepStrictEqual([answer.status, (answer.json as { code: number }).code], [503, 5030])
      assert.strictEqual(answer.headers["retry-after"], "1")
    }
    const unknown = await edge.call("POST", "/operator/v1/x", { body: {} })
    assert.deepInclude(unknown.json, { code: 5030, data: { reason: "OUTCOME_UNKNOWN", outcomeUnknown: true } })
    assert.notProperty(unknown.headers, "retry-after")
    assert.strictEqual(routers[1].requests, before)
  })

  it("architecture 5: a missing answer is not waited for", async () => {
    let gone = false
    const closed = new Promise<void>((resolve) => {
      routers[0].handler = (request) =>
        request.socket.once("close", () => {
          gone = true
          resolve()
        })
    })
    assert.strictEqual((await edge.call("GET", "/partner/v1/me")).status, 503)
    await closed
    assert.isTrue(gone)
  })

  it("architecture 5: half an answer is a broken connection, not a short body", async () => {
    routers[0].handler = (_request, response) => {
      response.writeHead(200, { ...json, "content-length": "100" })
      response.write('{"code":0', () => response.destroy())
    }
    const connection = await openRaw(edge)
    connection.socket.write("GET /partner/v1/me HTTP/1.1\r\nHost: x\r\n\r\n")
    const text = await connection.closed().catch(() => connection.received)
    assert.include(text, '{"code":0')
    assert.notInclude(text, '"msg"')
  })

  it("architecture 5: headers no router of ours sends are not passed on", async () => {
    routers[0].handler = answering(200, { ...json, "x-long": "x".repeat(20_000) }, "{}")
    assert.strictEqual((await edge.call("GET", "/partner/v1/me")).status, 503)
  })

  it("architecture 5: a caller that hangs up is hung up on", async () => {
    const connection = await openRaw(edge)
    const gone = new Promise<void>((resolve) => {
      routers[0].handler = (request) => {
        request.socket.once("close", () => resolve())
        connection.socket.destroy()
      }
    })
    connection.socket.write("GET /partner/v1/me HTTP/1.1\r\nHost: x\r\n\r\n")
    await gone
  })

  it("architecture 5: requests beyond the limit of requests in flight are asked to come back", async () => {
    const waiting: Array<ServerResponse> = []
    const both = new Promise<void>((resolve) => {
      routers[0].handler = (_request, response) => {
        if (waiting.push(response) === 2) resolve()
      }
    })
    const running = [1, 2].map(() => edge.call("GET", "/partner/v1/me"))
    await both
    const answer = await edge.call("GET", "/partner/v1/me")
    assert.deepStrictEqual([answer.status, answer.headers["retry-after"]], [503, "1"])
    for (const response of waiting) response.writeHead(200, json).end("{}")
    assert.deepStrictEqual(
      (await Promise.all(running)).map(({ status }) => status),
      [200, 200]
    )
  })

  it("architecture 5: an unreachable router is replaced by the next, with the body, and is used again when the next one stops", async () => {
    const [first, second] = routers
    first.handler = answering(200, json, '{"router":1}')
    second.handler = (request, response) => {
      let size = 0
      request.on("data", (chunk: Buffer) => (size += chunk.length))
      request.on("end", () => response.writeHead(200, json).end(JSON.stringify({ router: 2, size })))
    }
    assert.strictEqual((await edge.call("GET", "/partner/v1/me")).text, '{"router":1}')
    await first.close()
    const raw = Buffer.alloc(1_000_000, "x")
    const moved = await edge.call("POST", "/partner/v1/clients", { raw })
    assert.deepStrictEqual(moved.json, { router: 2, size: raw.length })
    await first.listen()
    // The edge stays with the router that works.
    assert.include((await edge.call("GET", "/partner/v1/me")).text, '"router":2')
    await second.close()
    assert.strictEqual((await edge.call("GET", "/partner/v1/me")).text, '{"router":1}')
    await first.close()
    const away = await edge.call("GET", "/partner/v1/me")
    assert.deepStrictEqual([away.status, away.headers["retry-after"]], [503, "1"])
    assert.strictEqual((await edge.call("GET", "/docs", { key: null })).status, 200)
    await first.listen()
    await second.listen()
    assert.strictEqual((await edge.call("GET", "/partner/v1/me")).status, 200)
  })

  it("architecture 5: a router whose certificate no authority has signed gets no request", async () => {
    const strict = await startStubEdge(routers, { routerCa: edge.ca })
    const before = routers[0].requests + routers[1].requests
    assert.strictEqual((await strict.call("GET", "/partner/v1/me")).status, 503)
    assert.strictEqual(routers[0].requests + routers[1].requests, before)
    await strict.close()
  })
})

describe("operator surface, serve: --router-url", () => {
  it.each([
    ["https://127.0.0.1:8443", true],
    ["https://router.internal", true],
    ["https://[::1]:8443/", true],
    ["http://127.0.0.1:8443", false],
    ["https://a:b@router", false],
    ["https://router/path", false],
    ["https://router?x", false],
    ["router:8443", false],
    ["", false]
  ])("operator surface: %s", (text, fits) => {
    assert.strictEqual(parseRouterUrl(text) !== null, fits)
  })
})
