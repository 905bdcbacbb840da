// The edge over real sockets: HEAD, request ids, public routes, bytes that are no request, and an orderly close (doc 1,
// What the service does and Authentication; A1-02, A1-54, A1-55; architecture 8).
import { assert, afterAll, beforeAll, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { once } from "node:events"
import { connect as connectPlain } from "node:net"
import { connect } from "node:tls"
import { bodyCaps } from "../../src/machines/shared/Limits.ts"
import { collateralBooked, keys } from "./canned.ts"
import { type Running, startStubServer } from "./stubServer.ts"

let server: Running
beforeAll(async () => {
  server = await startStubServer({
    operatorApp: Effect.succeed(HttpServerResponse.empty({ status: 404 }))
  })
})
afterAll(() => server.close())

/** Sends raw bytes over TLS and resolves with everything that comes back until the server closes. */
const raw = async (bytes: string, on: Running = server): Promise<string> => {
  const socket = connect({ host: "127.0.0.1", port: on.port, ca: on.ca })
  let text = ""
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")))
  socket.on("error", () => {})
  await once(socket, "secureConnect")
  socket.write(bytes)
  await once(socket, "close")
  return text
}
/** As `raw`, and then says that nothing more will come. */
const cutOff = async (bytes: string): Promise<string> => {
  const socket = connect({ host: "127.0.0.1", port: server.port, ca: server.ca })
  let text = ""
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")))
  socket.on("error", () => {})
  await once(socket, "secureConnect")
  socket.end(bytes)
  await once(socket, "close")
  return text
}
const statusLine = (text: string) => text.slice(0, text.indexOf("\r\n"))
const bodyOf = (text: string): unknown => JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4))

describe("A1-54: HEAD", () => {
  for (const path of [
    "/partner/v1/me",
    "/partner/v1/clients/41",
    "/partner/v1/clients/7",
    "/openapi.json",
    "/partner/openapi.json",
    "/docs"
  ]) {
    it(`A1-54: ${path} has the status and headers of GET, and no body`, async () => {
      const head = await server.call("HEAD", path)
      const get = await server.call("GET", path)
      const steady = ({ headers }: typeof get) =>
        Object.fromEntries(
          Object.entries(headers).filter(
            ([name]) => !/^(date|x-request-id|ratelimit-remaining|ratelimit-reset)$/.test(name)
          )
        )
      assert.strictEqual(head.status, get.status)
      assert.strictEqual(head.text, "")
      if (path !== "/partner/v1/me") assert.deepStrictEqual(steady(head), steady(get))
      assert.isDefined(head.headers["content-length"])
    })
  }
})

describe("doc 1, Limits: a body that is not read to its end ends the connection", () => {
  const head = (path: string, ...lines: ReadonlyArray<string>) =>
    [`POST ${path} HTTP/1.1`, "Host: x", `Authorization: Bearer ${keys.trade}`, ...lines, "", ""].join("\r\n")
  const chunked = "Transfer-Encoding: chunked"
  const overCap = `${(bodyCaps.onboarding + 1).toString(16)}\r\n${"x".repeat(bodyCaps.onboarding + 1)}`

  const unread: ReadonlyArray<readonly [name: string, bytes: string, code: number]> = [
    ["chunks beyond the route's cap", `${head("/partner/v1/clients", chunked)}${overCap}`, 4000],
    ["the whole chunked body sent", `${head("/partner/v1/clients", chunked)}${overCap}\r\n0\r\n\r\n`, 4000],
    ["a declared length beyond the route's cap", head("/partner/v1/clients", "Content-Length: 999999"), 4000],
    ["a declared length beyond the edge cap", head("/partner/v1/clients", "Content-Length: 99999999"), 4130],
    ["the same on the operator surface", head("/operator/v1/x", "Content-Length: 99999999"), 4130],
    ["the same on a public route", head("/health", "Content-Length: 99999999"), 4130]
  ]
  it.each(unread)("A1-02: %s: 413 says connection: close, and means it", async (_, bytes, code) => {
    const text = await raw(bytes)
    assert.match(statusLine(text), / 413 /)
    assert.match(text, /\r\nconnection: close\r\n/i)
    assert.deepInclude(bodyOf(text), { code })
    assert.lengthOf(text.match(/HTTP\/1\.1 /g) ?? [], 1)
  })

  it("A1-02: a 413 of the operator surface's own does the same", async () => {
    const strict = await startStubServer({
      operatorApp: Effect.succeed(HttpServerResponse.jsonUnsafe({ code: 4130 }, { status: 413 }))
    })
    try {
      const text = await raw(`${head("/operator/v1/x", chunked)}1\r\nx`, strict)
      assert.match(text, /\r\nconnection: close\r\n/i)
      assert.deepInclude(bodyOf(text), { code: 4130 })
    } finally {
      await strict.close()
    }
  })

  it("A1-02: a body that ends early is 400 code 4000 and ends the connection", async () => {
    const text = await cutOff(`${head("/partner/v1/clients", "Content-Length: 10")}{"a"`)
    assert.match(statusLine(text), / 400 /)
    assert.match(text, /\r\nconnection: close\r\n/i)
    assert.deepInclude(bodyOf(text), { code: 4000 })
  })

  it("A1-02: a refusal of a body that was read leaves the connection open", async () => {
    const { status, headers } = await server.call("POST", "/partner/v1/clients", { raw: "{" })
    assert.deepStrictEqual([status, headers.connection], [400, "keep-alive"])
  })
})

describe("A1-02: request ids", () => {
  it("A1-02: a sane id comes back and reaches the service; another one is replaced", async () => {
    const id = "Order-7:a.b_c"
    const kept = await server.call("POST", "/partner/v1/clients", { body: {}, headers: { "x-request-id": id } })
    assert.deepStrictEqual([kept.headers["x-request-id"], server.stub.lastRequestId], [id, id])
    for (const bad of ["a b", "x".repeat(129), "<script>"]) {
      for (const path of ["/partner/v1/me", "/healthz", "/nowhere"]) {
        const answer = await server.call("GET", path, { headers: { "x-request-id": bad } })
        assert.match(String(answer.headers["x-request-id"]), /^[0-9a-f-]{36}$/)
      }
    }
  })
})

describe("A1-55: public routes", () => {
  it("A1-55: the description is public at both addresses, byte for byte the same", async () => {
    const edge = await server.call("GET", "/openapi.json", { key: null })
    const router = await server.call("GET", "/partner/openapi.json", { key: null })
    assert.deepStrictEqual([edge.status, edge.text === router.text], [200, true])
    assert.strictEqual((edge.json as { openapi: string }).openapi, "3.1.0")
  })

  it("A1-55: healthz tells status, version and time", async () => {
    const { json } = await server.call("GET", "/healthz", { key: null })
    assert.deepInclude(json, { status: "ok", version: "2.4.1" })
    assert.isTrue(Number.isSafeInteger((json as { time: number }).time))
  })

  it("A1-55: the reference loads nothing from elsewhere and its policy admits its own scripts alone", async () => {
    const page = await server.call("GET", "/docs", { key: null })
    const policy = String(page.headers["content-security-policy"])
    assert.match(String(page.headers["content-type"]), /^text\/html/)
    assert.notMatch(page.text, /<(script|link)[^>]+(src|href)=/)
    assert.notInclude(policy.split(";").find((part) => part.includes("script-src")) ?? "", "unsafe")
    assert.include(policy, "default-src 'none'")
  })

  it("architecture 5: empty answers of the operator surface become the envelope", async () => {
    const answer = await server.call("GET", "/operator/v1/nowhere", { key: null })
    assert.deepStrictEqual([answer.status, (answer.json as { code: number }).code], [404, 4004])
  })
})

describe("A1-02: bytes that are no request of ours", () => {
  const rows: ReadonlyArray<readonly [name: string, bytes: string, status: string, code: number]> = [
    ["another protocol", "GET / FTP/9.9\r\n\r\n", "HTTP/1.1 400 Bad Request", 4000],
    ["an unknown verb", "BREW / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404 Not Found", 4004],
    ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", "HTTP/1.1 404 Not Found", 4004],
    [
      "headers beyond the limit",
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
      "HTTP/1.1 431 Request Header Fields Too Large",
      4000
    ],
    [
      "a length that is no number",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
      "HTTP/1.1 400 Bad Request",
      4000
    ],
    [
      "a length and chunks at once",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 400 Bad Request",
      4000
    ],
    [
      "an upgrade",
      `GET /partner/v1/me HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\nAuthorization: Bearer pbk_no\r\n\r\n`,
      "HTTP/1.1 401 Unauthorized",
      4010
    ],
    [
      "an expectation nobody has",
      "GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: tea\r\n\r\n",
      "HTTP/1.1 404 Not Found",
      4004
    ]
  ]
  for (const [name, bytes, status, code] of rows) {
    it(`A1-01: ${name} is answered in the envelope`, async () => {
      const text = await raw(bytes)
      assert.strictEqual(statusLine(text), status)
      assert.match(text, /\r\nx-request-id: [0-9a-f-]{36}\r\n/i)
      assert.deepInclude(bodyOf(text), { code })
    })
  }

  it("doc 1, Limits: a declared size over the edge cap is refused before the body is asked for", async () => {
    const text = await raw(
      "POST /partner/v1/clients HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 12058625\r\n\r\n"
    )
    assert.strictEqual(statusLine(text), "HTTP/1.1 413 Payload Too Large")
  })

  it("RFC 9110: a caller that waits for 100 Continue gets it", async () => {
    const text = await raw(
      `POST /partner/v1/clients/41/collateral HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nAuthorization: Bearer ${keys.trade}\r\nContent-Length: 2\r\n\r\n{}`
    )
    assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created\r\n/)
  })

  it("doc 1, What the service does: plain HTTP and old TLS are not served", async () => {
    const plain = connectPlain({ host: "127.0.0.1", port: server.port })
    let answered = ""
    plain.on("data", (chunk: Buffer) => (answered += chunk.toString("latin1")))
    plain.on("error", () => {})
    plain.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    await once(plain, "close")
    assert.notInclude(answered, "200")
    const old = connect({
      host: "127.0.0.1",
      port: server.port,
      ca: server.ca,
      minVersion: "TLSv1.1",
      maxVersion: "TLSv1.1"
    })
    const failed = await new Promise<boolean>((resolve) => {
      old.on("error", () => resolve(true))
      old.on("secureConnect", () => resolve(false))
    })
    assert.isTrue(failed)
  })
})

describe("architecture 8: close", () => {
  it("architecture 8: running requests finish, their connections end, idle ones are closed, new ones refused", async () => {
    const closing = await startStubServer()
    const gate = Deferred.makeUnsafe<void>()
    const started = new Promise<void>((resolve) => {
      closing.stub.collateral = () => {
        resolve()
        return Effect.as(Deferred.await(gate), collateralBooked)
      }
    })
    const idle = connect({ host: "127.0.0.1", port: closing.port, ca: closing.ca })
    idle.on("error", () => {})
    await once(idle, "secureConnect")
    idle.resume()
    const running = closing.call("POST", "/partner/v1/clients/41/collateral", { body: {} })
    await started
    const idleClosed = once(idle, "close")
    const stopped = closing.stop()
    await idleClosed
    Deferred.doneUnsafe(gate, Effect.void)
    const answer = await running
    await stopped
    assert.deepStrictEqual([answer.status, answer.headers["connection"]], [201, "close"])
    const refused = connectPlain({ host: "127.0.0.1", port: closing.port })
    const [error] = (await once(refused, "error")) as [NodeJS.ErrnoException]
    assert.strictEqual(error.code, "ECONNREFUSED")
    await closing.close()
  })
})
