/**
 * Requests that two readers could frame differently, and unknown methods, over real sockets: each gets one answer in
 * the envelope or none, its connection ends, and no part of it becomes another request (RFC 9112, 11.2; A1-01, A1-02).
 * The same rows run against the service and through an edge in front of it.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { bodyOf, openRaw, statusLine } from "./callRaw.ts"
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

const auth = `Host: x\r\nAuthorization: Bearer ${keys.trade}\r\n`
const me = `GET /partner/v1/me HTTP/1.1\r\n${auth}`
const write = `POST /partner/v1/clients/41/collateral HTTP/1.1\r\n${auth}`
const chunked = `${write}Transfer-Encoding: chunked\r\n\r\n`
const manyHeaders = Array.from({ length: 101 }, (_, i) => `H${i}: v\r\n`).join("")

/** Each is refused by its form alone, so the request behind it never runs. */
const shapes: ReadonlyArray<
  readonly [name: string, bytes: string] | readonly [name: string, bytes: string, status: number]
> = [
  ["length and chunks", `${write}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ["chunks and length", `${write}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
  ["chunks named twice", `${write}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ["a coding like chunked", `${write}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ["a control character before the coding", `${write}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`],
  ["a coding after chunked", `${write}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
  ["chunks of HTTP/1.0", `${write.replace("1.1", "1.0")}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ["a folded header", `${me}X: a\r\n b\r\n\r\n`],
  ["a folded length", `${write}Content-Length:\r\n 2\r\n\r\n{}`],
  ["a list of lengths", `${write}Content-Length: 2, 2\r\n\r\n{}`],
  ["the same length twice", `${write}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`],
  ["two lengths", `${write}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
  ["a negative length", `${write}Content-Length: -2\r\n\r\n{}`],
  ["a length with a plus", `${write}Content-Length: +2\r\n\r\n{}`],
  ["a hexadecimal length", `${write}Content-Length: 0x2\r\n\r\n{}`],
  ["an empty length", `${write}Content-Length: \r\n\r\n{}`],
  ["a length of two words", `${write}Content-Length: 2 2\r\n\r\n{}`],
  ["a length beyond every number", `${write}Content-Length: 99999999999999999999999\r\n\r\n{}`],
  ["lines ended by line feeds", `GET /partner/v1/me HTTP/1.1\n${auth.replaceAll("\r", "")}\n`],
  ["a line feed in a header", `${me}X: a\nY: b\r\n\r\n`],
  ["a carriage return in a header", `${me}X: a\rY: b\r\n\r\n`],
  ["a space before the colon", `${write}Content-Length : 2\r\n\r\n{}`],
  ["a header without a name", `${me}: a\r\n\r\n`],
  ["NUL in a header", `${me}X: a\0b\r\n\r\n`],
  ["NUL in the target", `GET /a\0b HTTP/1.1\r\n${auth}\r\n`],
  ["a space in the target", `GET /a b HTTP/1.1\r\n${auth}\r\n`],
  ["a fragment in the target", `GET /partner/v1/me#x HTTP/1.1\r\n${auth}\r\n`],
  ["a backslash for a path", `GET \\partner HTTP/1.1\r\n${auth}\r\n`],
  ["an absolute target", `GET https://x/partner/v1/me HTTP/1.1\r\n${auth}\r\n`],
  ["an authority for a target", `GET x:443 HTTP/1.1\r\n${auth}\r\n`],
  ["HTTP/2's preface", `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`],
  ["HTTP/2 in the first line", `GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n`],
  ["HTTP/1.2", `GET /healthz HTTP/1.2\r\nHost: x\r\n\r\n`],
  ["HTTP/0.9", `GET /healthz\r\n\r\n`],
  ["no host", `GET /partner/v1/me HTTP/1.1\r\nAuthorization: Bearer ${keys.read}\r\n\r\n`],
  ["two hosts", `${me}Host: y\r\n\r\n`],
  ["a line feed after an extension", `${chunked}2;a=b\n{}\r\n0\r\n\r\n`],
  ["a chunk size beyond every number", `${chunked}fffffffffffffffff\r\n{}\r\n0\r\n\r\n`],
  ["a chunk size with 0x", `${chunked}0x2\r\n{}\r\n0\r\n\r\n`],
  ["a negative chunk size", `${chunked}-2\r\n{}\r\n0\r\n\r\n`],
  ["a chunk longer than it says", `${chunked}2\r\n{}xx0\r\n\r\n`],
  ["chunks ended by line feeds", `${chunked}2\n{}\n0\n\n`],
  ["a length behind the chunks", `${chunked}2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n`],
  ["an endless extension", `${chunked}2;${"a".repeat(20_000)}\r\n{}\r\n0\r\n\r\n`],
  ["too many headers", `${me}${manyHeaders}\r\n`, 431],
  ["too long headers", `${me}X: ${"x".repeat(17_000)}\r\n\r\n`, 431],
  ["a verb nobody knows", `BREW /partner/v1/me HTTP/1.1\r\n${auth}\r\n`, 404],
  ["a verb in small letters", `get /partner/v1/me HTTP/1.1\r\n${auth}\r\n`, 404],
  ["CONNECT", `CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`, 404]
]

const answersIn = (text: string): number => text.split(/HTTP\/1\.[01] \d/).length - 1

/** Sends bytes followed by a request. Returns all received data until the connection is closed. */
const send = async (target: { readonly port: number; readonly ca: string }, bytes: string): Promise<string> => {
  const connection = await openRaw(target)
  connection.socket.write(Buffer.from(`${bytes}${me}\r\n`, "latin1"))
  // A reset counts as closed, because the server does not read the rest of a refused request.
  return connection.closed().catch(() => connection.received)
}

describe.each([
  ["the service", () => server],
  ["the edge", () => edge]
] as const)("RFC 9112: %s reads a request in one way or not at all", (_, target) => {
  it.each(shapes.map(([name, bytes, status = 400]) => [name, bytes, status] as const))(
    "A1-02: %s",
    async (_name, bytes, status) => {
      const runs = server.stub.runs
      const text = await send(target(), bytes)
      assert.isAtMost(answersIn(text), 1)
      if (text !== "") {
        assert.match(statusLine(text), new RegExp(`^HTTP/1\\.1 ${status} `))
        assert.match(text, /\r\nconnection: close\r\n/i)
        assert.match(text, /\r\ncache-control: no-store\r\n/i)
        assert.deepInclude(bodyOf(text), { code: status === 404 ? 4004 : 4000 })
      }
      assert.strictEqual(server.stub.runs, runs)
    }
  )

  it.each(["OPTIONS", "TRACE", "PATCH", "QUERY", "PURGE"])(
    "A1-02, SC-PLT-03: %s is an unknown route, and its connection stays open",
    async (verb) => {
      for (const path of ["/partner/v1/me", "/healthz", "/docs", "/operator/v1/x"]) {
        const answer = await target().call(verb, path)
        assert.deepStrictEqual([answer.status, (answer.json as { code: number }).code], [404, 4004])
      }
      assert.strictEqual((await target().call("GET", "/partner/v1/me")).status, 200)
    }
  )

  it("A1-02: requests to upgrade are ordinary ones", async () => {
    for (const protocol of ["websocket", "h2c"]) {
      const headers = { connection: "Upgrade", upgrade: protocol }
      assert.strictEqual((await target().call("GET", "/partner/v1/me", { headers })).status, 200)
    }
  })

  it.each([
    ["a read", `${me}Connection: Upgrade\r\nUpgrade: foo\r\n\r\n`],
    ["a write", `${write}Connection: Upgrade\r\nUpgrade: foo\r\nContent-Length: 2\r\n\r\n{}`]
  ])("RFC 9112: %s with an upgrade is the last of its connection", async (_name, asking) => {
    server.stub.collateral = () => Effect.succeed(collateralBooked)
    const connection = await openRaw(target())
    // Node drops the data that it has read behind such a request. If it came in two pieces, the second could count as a
    // request.
    connection.socket.write(`${asking}GET /partner/v1/none HTTP/1.1\r\nX: `)
    await connection.until("\r\n\r\n")
    connection.socket.write(`${me}\r\n`)
    const text = await connection.closed()
    assert.deepStrictEqual(answersIn(text), 1)
    assert.match(text, /^HTTP\/1\.1 20[01] /)
    assert.match(text, /\r\nconnection: close\r\n/i)
  })

  it.each([
    ["garbage", "GARBAGE\r\n\r\n"],
    ["a broken request", "GET / HTTP/1.1\r\nX : y\r\n\r\n"],
    ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"]
  ])("A1-02: %s behind a request leaves it its own answer, which is the last", async (_name, behind) => {
    const release = Deferred.makeUnsafe<void>()
    const started = new Promise<void>((resolve) => {
      server.stub.collateral = () => {
        resolve()
        return Effect.as(Deferred.await(release), collateralBooked)
      }
    })
    const connection = await openRaw(target())
    connection.socket.write(`${write}Content-Length: 2\r\n\r\n{}${behind}`)
    await started
    Deferred.doneUnsafe(release, Effect.void)
    const text = await connection.closed()
    assert.deepStrictEqual([statusLine(text), answersIn(text)], ["HTTP/1.1 201 Created", 1])
    assert.match(text, /\r\nconnection: close\r\n/i)
  })

  it("A1-02: whole requests one behind the other are answered in their order", async () => {
    server.stub.collateral = () => Effect.succeed(collateralBooked)
    const connection = await openRaw(target())
    const last = me.replace("\r\n", "\r\nConnection: close\r\n")
    connection.socket.write(`${write}Content-Length: 2\r\n\r\n{}${chunked}2;a=b\r\n{}\r\n0\r\n\r\n${last}\r\n`)
    const text = await connection.closed()
    assert.deepStrictEqual(text.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 201", "HTTP/1.1 201", "HTTP/1.1 200"])
  })
})
