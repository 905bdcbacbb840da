/**
 * The edge over real sockets: HEAD, request ids, public routes, bytes that are no request, and an orderly close (doc 1,
 * Authentication; A1-02, A1-54, A1-55; architecture 8).
 */
import { assert, afterAll, beforeAll, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { once } from "node:events"
import { connect as connectPlain } from "node:net"
import { connect } from "node:tls"
import { bodyOf, callRaw, statusLine } from "./callRaw.ts"
import { collateralBooked, keys } from "./canned.ts"
import { type Running, startStubServer } from "./stubServer.ts"

let server: Running
beforeAll(async () => {
  server = await startStubServer({
    operatorApp: Effect.succeed(HttpServerResponse.empty({ status: 404 }))
  })
})
afterAll(() => server.close())

const raw = (bytes: string) => callRaw(server, bytes)

describe("A1-54: HEAD", () => {
  for (const path of [
    "/partner/v1/me",
    "/partner/v1/clients/41",
    "/partner/v1/clients/7",
    "/openapi.json",
    "/partner/openapi.json",
    "/docs",
    "/"
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

describe("architecture 5: request ids", () => {
  it("architecture 5: a valid id is returned and reaches the service; an invalid one is replaced", async () => {
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

  it("A1-55: healthz shows status, version and time", async () => {
    const { json, headers } = await server.call("GET", "/healthz", { key: null })
    assert.deepInclude(json, { status: "ok", version: "2.4.1" })
    assert.strictEqual(headers["cache-control"], "no-store")
    assert.isTrue(Number.isSafeInteger((json as { time: number }).time))
  })

  it("the address alone leads to the reference, by a page without scripts", async () => {
    const page = await server.call("GET", "/", { key: null })
    assert.deepStrictEqual([page.status, page.headers["content-type"]], [200, "text/html; charset=utf-8"])
    assert.include(page.text, 'href="/docs"')
    assert.include(String(page.headers["content-security-policy"]), "script-src 'none'")
  })

  it("A1-55: the reference loads nothing from elsewhere and its policy admits its own scripts alone", async () => {
    const page = await server.call("GET", "/docs", { key: null })
    const policy = String(page.headers["content-security-policy"])
    assert.match(String(page.headers["content-type"]), /^text\/html/)
    assert.notMatch(page.text, /<(script|link)[^>]+(src|href)=/)
    assert.notInclude(policy.split(";").find((part) => part.includes("script-src")) ?? "", "unsafe")
    assert.include(policy, "default-src 'none'")
  })

  it("A1-55: the reference renders the description that is served, webhooks and parameters included", async () => {
    const { text } = await server.call("GET", "/docs", { key: null })
    const served = await server.call("GET", "/openapi.json", { key: null })
    const [, rendered = ""] = /\n\s+content: (\{"openapi".*\})\n/.exec(text) ?? []
    assert.deepStrictEqual(JSON.parse(rendered), served.json)
  })

  it("A1-07: the key's scheme is bearer in small letters, else the API reference would demand a user name", async () => {
    const { json } = await server.call("GET", "/openapi.json", { key: null })
    const { securitySchemes } = (json as { components: { securitySchemes: Record<string, object> } }).components
    assert.deepInclude(securitySchemes["bearer"], { type: "http", scheme: "bearer" })
    assert.deepInclude(securitySchemes["partnerKey"], { type: "apiKey", name: "X-Partner-Key", in: "header" })
  })

  it("architecture 5: empty answers of the operator surface become the envelope", async () => {
    const answer = await server.call("GET", "/operator/v1/nowhere", { key: null })
    assert.deepStrictEqual([answer.status, (answer.json as { code: number }).code], [404, 4004])
  })
})

describe("A1-02: bytes that are no request of ours", () => {
  const me = `GET /partner/v1/me HTTP/1.1\r\nAuthorization: Bearer ${keys.read}`
  const write = `POST /partner/v1/clients/41/collateral HTTP/1.1\r\nAuthorization: Bearer ${keys.trade}`
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
    ["an expectation nobody has", `${me}\r\nHost: x\r\nExpect: tea\r\n\r\n`, "HTTP/1.1 400 Bad Request", 4000],
    [
      "an expectation beside the known one",
      `${me}\r\nHost: x\r\nExpect: tea, 100-continue\r\n\r\n`,
      "HTTP/1.1 400 Bad Request",
      4000
    ],
    ["HTTP/1.1 without Host", `${me}\r\n\r\n`, "HTTP/1.1 400 Bad Request", 4000],
    ["Host sent twice", `${me}\r\nHost: x\r\nhost: x\r\n\r\n`, "HTTP/1.1 400 Bad Request", 4000],
    [
      "a coding before the chunks",
      `${write}\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      "HTTP/1.1 400 Bad Request",
      4000
    ],
    [
      "chunks of chunks",
      `${write}\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      "HTTP/1.1 400 Bad Request",
      4000
    ],
    ["an unknown coding", `${write}\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n{}`, "HTTP/1.1 400 Bad Request", 4000],
    [
      "chunks of HTTP/1.0",
      `${write.replace("1.1", "1.0")}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      "HTTP/1.1 400 Bad Request",
      4000
    ]
  ]
  for (const [name, bytes, status, code] of rows) {
    it(`A1-01: ${name} is answered in the envelope`, async () => {
      const text = await raw(bytes)
      assert.strictEqual(statusLine(text), status)
      assert.match(text, /\r\nx-request-id: [0-9a-f-]{36}\r\n/i)
      assert.match(text, /\r\ncache-control: no-store\r\n/i)
      assert.deepInclude(bodyOf(text), { code })
    })
  }

  it("RFC 9112: HTTP/1.0 needs no Host, and a coding is named in any case", async () => {
    const old = await raw(`${me.replace("1.1", "1.0")}\r\n\r\n`)
    assert.strictEqual(statusLine(old), "HTTP/1.1 200 OK")
    const patient = await raw(`${write.replace("1.1", "1.0")}\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`)
    assert.strictEqual(statusLine(patient), "HTTP/1.1 201 Created")
    const chunked = await raw(
      `${write}\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`
    )
    assert.strictEqual(statusLine(chunked), "HTTP/1.1 201 Created")
  })

  it("A1-02: an unsound request keeps its id and ends its connection: the next bytes are not read as another request", async () => {
    const text = await raw(
      `${write}\r\nHost: x\r\nX-Request-Id: mine\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${me}\r\nHost: x\r\n\r\n`
    )
    assert.match(text, /\r\nx-request-id: mine\r\n/i)
    assert.match(text, /\r\nconnection: close\r\n/i)
    assert.strictEqual(text.split("HTTP/1.1 ").length, 2)
  })

  it("doc 1, Limits: a declared size over the edge cap is refused before the edge requests the body", async () => {
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
