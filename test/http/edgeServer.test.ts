/**
 * The edge in front of a router, over real sockets: callers receive the router's answers, the router gets the real
 * address of the caller and no forged header, and the edge answers in the envelope for a router that misbehaves (doc 1,
 * Authentication: HEAD and IP allowlist; architecture 5; decision record 6).
 */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { bodyOf, openRaw, statusLine } from "./callRaw.ts"
import { collateralBooked, keys } from "./canned.ts"
import { type RunningEdge, startStubEdge } from "./stubEdge.ts"
import { type Running, startStubServer } from "./stubServer.ts"

/** Answers with the size of the received body, and with the edge's data about the caller. */
const operatorApp = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const body = yield* request.arrayBuffer
  return HttpServerResponse.jsonUnsafe({ size: body.byteLength, headers: request.headers, url: request.url })
})

let router: Running
let edge: RunningEdge
beforeAll(async () => {
  router = await startStubServer({ edgeHosts: ["127.0.0.1"], behindEdge: true, operatorApp })
  edge = await startStubEdge([router])
})
afterAll(async () => {
  await edge.close()
  await router.close()
})
beforeEach(() => {
  router.stub.setPartner({ allowedCidrs: [] })
  router.stub.healthy = true
  router.stub.collateral = () => Effect.succeed(collateralBooked)
})

const steady = (headers: object) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(date|x-request-id|ratelimit-remaining|ratelimit-reset)$/.test(name))
  )

interface Echo {
  readonly size: number
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

describe("architecture 5: what passes the edge", () => {
  it.each([
    ["GET", "/partner/v1/summary"],
    ["GET", "/partner/v1/clients?limit=5&q=%C3%A9"],
    ["GET", "/partner/v1/clients/41"],
    ["GET", "/partner/v1/nowhere"],
    ["GET", "/partner/openapi.json"],
    ["POST", "/partner/v1/clients/41/collateral"],
    ["PUT", "/partner/v1/clients/41"],
    ["DELETE", "/partner/v1/clients/41"]
  ] as const)("architecture 5: %s %s has the router's status, headers and bytes", async (method, path) => {
    const options = method === "POST" ? { body: {} } : {}
    const direct = await router.call(method, path, options)
    const answer = await edge.call(method, path, options)
    assert.deepStrictEqual([answer.status, answer.text], [direct.status, direct.text])
    assert.deepStrictEqual(steady(answer.headers), steady(direct.headers))
  })

  it("doc 1, What the service does: the pages are the edge's, and the router has none", async () => {
    for (const path of ["/openapi.json", "/docs", "/v1/openapi.json", "/docs/direct"]) {
      assert.strictEqual((await edge.call("GET", path, { key: null })).status, 200)
      assert.strictEqual((await router.call("GET", path, { key: null })).status, 404)
    }
    const document = await edge.call("GET", "/openapi.json", { key: null })
    assert.strictEqual((await edge.call("GET", "/partner/openapi.json", { key: null })).text, document.text)
  })

  it("doc 1, What the service does: healthz is the router's health", async () => {
    assert.strictEqual((await edge.call("GET", "/healthz", { key: null })).status, 200)
    router.stub.healthy = false
    const answer = await edge.call("GET", "/healthz", { key: null })
    assert.deepStrictEqual([answer.status, answer.headers["retry-after"]], [503, "1"])
  })

  it("A1-54: HEAD has the status and headers of GET, no body, and counts as a read", async () => {
    for (const path of ["/partner/v1/me", "/partner/v1/clients/7", "/partner/openapi.json", "/openapi.json"]) {
      const get = await edge.call("GET", path)
      const head = await edge.call("HEAD", path)
      assert.deepStrictEqual([head.status, head.text], [get.status, ""])
      assert.strictEqual(head.headers["content-length"], get.headers["content-length"])
      const left = get.headers["ratelimit-remaining"]
      if (left !== undefined) assert.strictEqual(Number(head.headers["ratelimit-remaining"]), Number(left) - 1)
    }
  })

  it("architecture 5: request ids pass, bad ones are replaced, and every answer has one", async () => {
    const kept = await edge.call("POST", "/partner/v1/clients", { body: {}, headers: { "x-request-id": "mine-1" } })
    assert.deepStrictEqual([kept.headers["x-request-id"], router.stub.lastRequestId], ["mine-1", "mine-1"])
    for (const path of ["/partner/v1/me", "/docs", "/nowhere"]) {
      const answer = await edge.call("GET", path, { headers: { "x-request-id": "a b" } })
      assert.match(String(answer.headers["x-request-id"]), /^[0-9a-f-]{36}$/)
    }
  })

  it("A1-08: the router sees the caller's address, and the caller can't make up another", async () => {
    const status = async (headers: Record<string, string> = {}) =>
      (await edge.call("GET", "/partner/v1/me", { headers })).status
    router.stub.setPartner({ allowedCidrs: ["127.0.0.0/8"] })
    assert.strictEqual(await status(), 200)
    assert.strictEqual(await status({ "x-forwarded-for": "203.0.113.5" }), 200)
    router.stub.setPartner({ allowedCidrs: ["203.0.113.0/24"] })
    assert.strictEqual(await status(), 401)
    for (const forged of ["203.0.113.5", "127.0.0.1, 203.0.113.5"]) {
      assert.strictEqual(await status({ "x-forwarded-for": forged }), 401)
      assert.strictEqual(await status({ "x-forwarded-for": forged, connection: "x-forwarded-for" }), 401)
    }
  })

  it("A1-08: behind a balancer of the operator the edge passes on the balancer's address of the caller", async () => {
    const behind = await startStubEdge([router], { edgeHosts: ["127.0.0.1"] })
    router.stub.setPartner({ allowedCidrs: ["203.0.113.0/24"] })
    const headers = { "x-forwarded-for": "10.9.9.9, 203.0.113.5" }
    assert.strictEqual((await behind.call("GET", "/partner/v1/me", { headers })).status, 200)
    await behind.close()
  })

  it("operator surface: an edge passes on its requests only with the option, and answers 404 otherwise", async () => {
    const closed = await startStubEdge([router], { passOperator: false })
    const nowhere = await closed.call("GET", "/nowhere")
    for (const method of ["GET", "HEAD", "POST", "DELETE"]) {
      for (const path of ["/operator/v1/x", "/operator/v1", "/operator/v1?x", "/operator/v1/partners"]) {
        const answer = await closed.call(method, path, method === "POST" ? { body: {} } : {})
        assert.strictEqual(answer.status, 404)
        if (method !== "HEAD") assert.strictEqual(answer.text, nowhere.text)
        assert.strictEqual((await edge.call(method, path)).status, 200)
      }
    }
    assert.strictEqual((await closed.call("GET", "/partner/v1/me")).status, 200)
    await closed.close()
  })

  it("RFC 9110, 7.6.1: headers of a connection, and headers that only the edge may set, are dropped", async () => {
    const { json } = await edge.call("POST", "/operator/v1/x?a=b", {
      body: {},
      headers: {
        connection: "keep-alive, X-Mine, Authorization",
        "x-mine": "1",
        te: "trailers",
        upgrade: "h2c",
        "x-forwarded-host": "evil",
        forwarded: "for=1.2.3.4",
        "x-real-ip": "1.2.3.4",
        "x-kept": "1"
      }
    })
    const { headers, url } = json as Echo
    assert.strictEqual(url, "/operator/v1/x?a=b")
    for (const gone of ["x-mine", "te", "upgrade", "x-forwarded-host", "forwarded", "x-real-ip"]) {
      assert.notProperty(headers, gone)
    }
    assert.deepInclude(headers, { "x-kept": "1", "x-forwarded-for": "127.0.0.1" })
    assert.property(headers, "authorization")
  })

  it("A1-52: an Idempotency-Key that is sent twice reaches the router twice", async () => {
    const answer = await edge.call("POST", "/partner/v1/clients", {
      body: {},
      headers: { "idempotency-key": ["a", "b"] }
    })
    assert.strictEqual(answer.status, 400)
  })
})

describe("architecture 5: bodies through the edge", () => {
  it("architecture 5: a large body arrives whole, declared or in chunks", async () => {
    const body = Buffer.alloc(9 * 1024 * 1024, "x")
    const declared = await edge.call("POST", "/operator/v1/x", { raw: body })
    assert.strictEqual((declared.json as Echo).size, body.length)
    const connection = await openRaw(edge)
    connection.socket.write(
      "POST /operator/v1/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    for (let part = 0; part < 9; part++) {
      connection.socket.write(`${(1024 * 1024).toString(16)}\r\n`)
      connection.socket.write(body.subarray(0, 1024 * 1024))
      connection.socket.write("\r\n")
    }
    connection.socket.write("0\r\n\r\n")
    assert.strictEqual((bodyOf(await connection.closed()) as Echo).size, body.length)
  })

  it("doc 1, Limits: a body over the edge cap is the edge's to refuse, declared or not", async () => {
    const declared = await openRaw(edge)
    declared.socket.write("POST /partner/v1/clients HTTP/1.1\r\nHost: x\r\nContent-Length: 12058625\r\n\r\n")
    // The edge discards the rest of a body for ten seconds before it closes. The answer does not wait for that.
    await declared.until('"code":4130')
    assert.strictEqual(statusLine(declared.received), "HTTP/1.1 413 Payload Too Large")
    declared.socket.destroy()

    const chunked = await openRaw(edge)
    chunked.socket.write("POST /operator/v1/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    const part = `${(1024 * 1024).toString(16)}\r\n${"x".repeat(1024 * 1024)}\r\n`
    for (let sent = 0; sent < 12; sent++) chunked.socket.write(part)
    await chunked.until('"code":4130')
    assert.strictEqual(statusLine(chunked.received), "HTTP/1.1 413 Payload Too Large")
    chunked.socket.destroy()
  })

  it.each([
    ["/partner/v1/clients", keys.trade, 999_999, "413 Payload Too Large"],
    ["/partner/v1/clients", "pbk_nobody", 2, "401 Unauthorized"],
    ["/partner/v1/nowhere", keys.trade, 2, "404 Not Found"]
  ])(
    "doc 1, Limits: a refusal by a router because of the headers is answered at once, no byte of the body sent: %s",
    async (path, key, length, status) => {
      const connection = await openRaw(edge)
      connection.socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${length}\r\n\r\n`
      )
      await connection.until("\r\n\r\n")
      assert.strictEqual(statusLine(connection.received), `HTTP/1.1 ${status}`)
      // A body of two bytes may still arrive, so the connection stays open.
      assert.strictEqual(/\r\nconnection: close\r\n/i.test(connection.received), status.startsWith("413"))
      connection.socket.destroy()
    }
  )

  it("A1-02: a key that is refused is refused before the body is sent", async () => {
    const connection = await openRaw(edge)
    connection.socket.write(
      "POST /partner/v1/clients HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n{"
    )
    assert.strictEqual(statusLine(await connection.closed()), "HTTP/1.1 401 Unauthorized")
  })

  it("RFC 9110, 10.1.1: only the router sends 100 Continue", async () => {
    const head =
      "POST /partner/v1/clients/41/collateral HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n"
    const asked = await openRaw(edge)
    asked.socket.write(`${head}Connection: close\r\nAuthorization: Bearer ${keys.trade}\r\n\r\n`)
    await asked.until("100 Continue")
    asked.socket.write("{}")
    assert.match(await asked.closed(), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created\r\n/)
    const refused = await openRaw(edge)
    refused.socket.write(`${head}\r\n`)
    assert.match(await refused.closed(), /^HTTP\/1\.1 401 /)
  })
})

describe("architecture 8: the edge closes", () => {
  it("architecture 8: requests in flight are answered, and then the connection ends", async () => {
    const closing = await startStubEdge([router])
    const release = Deferred.makeUnsafe<void>()
    const started = new Promise<void>((resolve) => {
      router.stub.collateral = () => {
        resolve()
        return Effect.as(Deferred.await(release), collateralBooked)
      }
    })
    const running = closing.call("POST", "/partner/v1/clients/41/collateral", { body: {} })
    await started
    const stopped = closing.stop()
    Deferred.doneUnsafe(release, Effect.void)
    const answer = await running
    assert.deepStrictEqual([answer.status, answer.headers.connection], [201, "close"])
    await stopped
    await closing.close()
  })
})
