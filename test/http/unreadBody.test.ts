/**
 * Bodies that the server does not read to their end, over real sockets: the following bytes can't be distinguished from
 * a request, so the connection ends with the answer (doc 1, Limits: body caps; A1-02 gates 1 and 8).
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { assert, afterAll, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { bodyCaps } from "../../src/machines/shared/Limits.ts"
import { presentedGoodKey, UnreadBodies, type UnreadLimits } from "../../src/http/middleware/UnreadBodies.ts"
import { bodyOf, callRaw, openRaw, statusLine } from "./callRaw.ts"
import { keys } from "./canned.ts"
import { type RunningEdge, startStubEdge } from "./stubEdge.ts"
import { type Running, startStubServer } from "./stubServer.ts"

let server: Running
beforeAll(async () => {
  server = await startStubServer({
    limits: { unread: { millis: 100 } },
    operatorApp: Effect.succeed(HttpServerResponse.empty({ status: 404 }))
  })
})
afterAll(() => server.close())

describe("doc 1, Limits: a body that is not read to its end ends the connection", () => {
  const head = (path: string, ...lines: ReadonlyArray<string>) =>
    [`POST ${path} HTTP/1.1`, "Host: x", `Authorization: Bearer ${keys.trade}`, ...lines, "", ""].join("\r\n")
  const chunked = "Transfer-Encoding: chunked"
  const documents = "/partner/v1/clients/41/documents"
  const overEdge = `${(bodyCaps.edge + 1).toString(16)}\r\n${" ".repeat(bodyCaps.edge + 1)}`
  const overDocument = `${bodyCaps.edge.toString(16)}\r\n${" ".repeat(bodyCaps.edge)}\r\n0\r\n\r\n`
  const overCap = `${(bodyCaps.onboarding + 1).toString(16)}\r\n${"x".repeat(bodyCaps.onboarding + 1)}`

  const unread: ReadonlyArray<readonly [name: string, bytes: string, code: number]> = [
    ["chunks beyond the route's cap", `${head("/partner/v1/clients", chunked)}${overCap}`, 4000],
    ["the whole chunked body sent", `${head("/partner/v1/clients", chunked)}${overCap}\r\n0\r\n\r\n`, 4000],
    ["a declared length beyond the route's cap", head("/partner/v1/clients", "Content-Length: 999999"), 4000],
    ["a declared length beyond the edge cap", head("/partner/v1/clients", "Content-Length: 99999999"), 4130],
    ["a document's chunks beyond the edge cap", `${head(documents, chunked)}${overEdge}`, 4130],
    ["a document's chunks up to the edge cap", `${head(documents, chunked)}${overDocument}`, 4000],
    ["the same on the operator surface", head("/operator/v1/x", "Content-Length: 99999999"), 4130],
    ["the same on a public route", head("/health", "Content-Length: 99999999"), 4130]
  ]
  it.each(unread)("A1-02: %s: 413 sends connection: close, and the connection is closed", async (_, bytes, code) => {
    const text = await callRaw(server, bytes)
    assert.match(statusLine(text), / 413 /)
    assert.match(text, /\r\nconnection: close\r\n/i)
    assert.deepInclude(bodyOf(text), { code })
    assert.lengthOf(text.match(/HTTP\/1\.1 /g) ?? [], 1)
  })

  it("A1-02: a 413 of the operator surface's own does the same", async () => {
    const strict = await startStubServer({
      limits: { unread: { millis: 100 } },
      operatorApp: Effect.succeed(HttpServerResponse.jsonUnsafe({ code: 4130 }, { status: 413 }))
    })
    try {
      const text = await callRaw(strict, `${head("/operator/v1/x", chunked)}1\r\nx`)
      assert.match(text, /\r\nconnection: close\r\n/i)
      assert.deepInclude(bodyOf(text), { code: 4130 })
    } finally {
      await strict.close()
    }
  })

  it("A1-02: a body that ends early is 400 code 4000 and ends the connection", async () => {
    const connection = await openRaw(server)
    connection.socket.end(`${head("/partner/v1/clients", "Content-Length: 10")}{"a"`)
    const text = await connection.closed()
    assert.match(statusLine(text), / 400 /)
    assert.match(text, /\r\nconnection: close\r\n/i)
    assert.deepInclude(bodyOf(text), { code: 4000 })
  })

  it("A1-02: a refusal of a body that was read leaves the connection open", async () => {
    const { status, headers } = await server.call("POST", "/partner/v1/clients", { raw: "{" })
    assert.deepStrictEqual([status, headers.connection], [400, "keep-alive"])
  })
})

describe("A1-02: the rest of a refused body is discarded within limits", () => {
  const kibibyte = 1024
  const head = (key: string, length: number, method: string) =>
    `${method} /partner/v1/clients HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${length}\r\n\r\n`
  const limited = (unread: Partial<UnreadLimits>) => startStubServer({ limits: { unread } })
  /** A connection whose request was refused and whose body never arrives. */
  const refused = async (target: Running, key: string, length = 1024 * kibibyte, method = "POST") => {
    const connection = await openRaw(target)
    connection.socket.write(head(key, length, method))
    await connection.until('"code":')
    return connection
  }

  it("so many connections at once, and fewer of them without a good key; the rest end with their answers", async () => {
    const strict = await limited({ connections: 3, withoutKey: 1 })
    const unknown = await refused(strict, "pbk_unknown")
    await (await refused(strict, "pbk_unknown")).closed()
    const known = [await refused(strict, keys.trade), await refused(strict, keys.read)]
    await (await refused(strict, keys.trade)).closed()
    for (const { socket } of [unknown, ...known]) assert.isFalse(socket.closed)
    unknown.socket.destroy()
    for (const { socket } of known) socket.destroy()
    await strict.close()
  })

  it.each([
    ["over the edge cap", bodyCaps.edge + 1, "POST"],
    ["under an unknown verb", 1024 * kibibyte, "PATCH"]
  ])("a good key counts for a body that is refused before the key is judged: %s", async (_, length, method) => {
    const strict = await limited({ connections: 2, withoutKey: 1 })
    const unknown = await refused(strict, "pbk_unknown", length, method)
    await (await refused(strict, "pbk_unknown", length, method)).closed()
    const known = await refused(strict, keys.trade, length, method)
    await (await refused(strict, keys.trade, length, method)).closed()
    for (const { socket } of [unknown, known]) {
      assert.isFalse(socket.closed)
      socket.destroy()
    }
    await strict.close()
  })

  it("a place is free again when its body has ended", async () => {
    const strict = await limited({ connections: 1 })
    const first = await refused(strict, keys.trade)
    first.socket.write("x".repeat(1024 * kibibyte))
    await first.closed()
    const second = await refused(strict, keys.trade)
    assert.isFalse(second.socket.closed)
    second.socket.destroy()
    await strict.close()
  })

  it("a body that is longer, or takes longer, is not waited for", async () => {
    const short = await limited({ bytes: 64 * kibibyte })
    const long = await refused(short, keys.trade)
    long.socket.write("x".repeat(256 * kibibyte))
    await long.closed()
    await short.close()
    const quick = await limited({ millis: 50 })
    await (await refused(quick, keys.trade)).closed()
    await quick.close()
  })

  it("a close of the server waits for none of them", async () => {
    const closing = await limited({})
    const waiting = await refused(closing, keys.trade)
    await closing.stop()
    await waiting.closed()
    await closing.close()
  })

  it("a body that is refused while the server closes is not discarded", () => {
    let ends = 0
    new UnreadBodies(AbortSignal.abort()).discard(new IncomingMessage(new Socket()), () => ends++)
    assert.strictEqual(ends, 1)
  })

  const framings = ["Content-Length: 1048576", "Transfer-Encoding: chunked"] as const
  it.each(framings)("a refusal whose connection ends has the header: %s", async (framing) => {
    const connection = await openRaw(server)
    const [path, ...rest] = head("pbk_unknown", 1024 * kibibyte, "POST")
      .split("\r\n")
      .filter((line) => !line.startsWith("Content-Length"))
    connection.socket.write([path, framing, ...rest].join("\r\n"))
    const text = await connection.closed()
    assert.match(statusLine(text), / 401 /)
    assert.match(text, /\r\nconnection: close\r\n/i)
  })
})

describe("A1-02: at an edge only a key that the service accepted gives an unread body the larger share of places", () => {
  const routes = [
    "GET /partner/openapi.json",
    "GET /healthz",
    "POST /healthz",
    "POST /",
    "POST /docs",
    "POST /openapi.json",
    "POST /nowhere",
    "POST /partner/v1/clients",
    "POST /partner/v1/nowhere",
    "POST /operator/v1/partners",
    "POST /operator/v1/busy"
  ]
  const routesOfKeys = /\/v1\//
  /** Answers like the operator surface: 401 without a valid key, or 503 while bodies use all memory. */
  const operatorApp = Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    const isGood = request.headers["authorization"] === "Bearer bok_good"
    if (isGood) presentedGoodKey(NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage)
    const status = isGood ? 403 : request.url.endsWith("/busy") ? 503 : 401
    return HttpServerResponse.jsonUnsafe({ code: status * 10 }, { status })
  })
  let router: Running
  let edge: RunningEdge
  beforeAll(async () => {
    router = await startStubServer({ operatorApp, edgeHosts: ["127.0.0.1"], behindEdge: true })
    edge = await startStubEdge([router], { limits: { unread: { connections: 3, withoutKey: 1 } } })
  })
  afterAll(async () => {
    await edge.close()
    await router.close()
  })

  /** A request that is answered although its body never arrives completely. */
  const answered = async (route: string, key: string | null) => {
    const connection = await openRaw(edge)
    const authorization = key === null ? [] : [`Authorization: Bearer ${key}`]
    const lines = [`${route} HTTP/1.1`, "Host: x", ...authorization, "Content-Length: 1048576", "", "x"]
    connection.socket.write(lines.join("\r\n"))
    await connection.until("\r\n\r\n")
    return connection
  }

  it("callers without one share the smaller number, whatever route they call", async () => {
    const first = await answered("POST /partner/v1/clients", null)
    for (const route of routes) {
      const keysOf = [null, "pbk_unknown", "bok_unknown", ...(routesOfKeys.test(route) ? [] : [keys.trade, "bok_good"])]
      for (const key of keysOf) await (await answered(route, key)).closed()
    }
    const known = [
      await answered("POST /partner/v1/clients", keys.read),
      await answered("POST /operator/v1/x", "bok_good")
    ]
    await (await answered("POST /partner/v1/clients", keys.read)).closed()
    for (const { socket, received } of [first, ...known]) {
      assert.isFalse(socket.closed)
      assert.notMatch(received, /x-key-accepted/i)
      socket.destroy()
    }
  })
})
