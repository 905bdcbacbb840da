/**
 * The pages for readers: made and compressed once, identified by their tags, limited per address in concurrency and per
 * minute. Thousands of requests by strangers delay no partner (doc 1; RFC 9110, 8.8.3, 12.5.3 and 13.1.2; architecture
 * 5: the edge).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { request as httpsRequest } from "node:https"
import type { IncomingHttpHeaders } from "node:http"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { VisitorLimits } from "../../src/http/middleware/VisitorLimits.ts"
import { pipelineLimit } from "../../src/http/middleware/pipeline.ts"
import { Page } from "../../src/http/Page.ts"
import { openRaw } from "./callRaw.ts"
import { type RunningEdge, startStubEdge } from "./stubEdge.ts"
import { type Running, startStubServer } from "./stubServer.ts"

let server: Running
let router: Running
let edge: RunningEdge
beforeAll(async () => {
  server = await startStubServer()
  router = await startStubServer({ edgeHosts: ["127.0.0.1"], behindEdge: true })
  edge = await startStubEdge([router])
})
afterAll(async () => {
  await edge.close()
  await router.close()
  await server.close()
})

interface Fetched {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

const fetchPage = (
  { port, ca }: { readonly port: number; readonly ca: string },
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = "GET"
): Promise<Fetched> =>
  new Promise((resolve, reject) => {
    const request = httpsRequest({ host: "127.0.0.1", port, ca, path, headers, method, agent: false }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", reject)
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) })
      )
    })
    request.on("error", reject)
    request.end()
  })

const decoded = ({ headers, bytes }: Fetched): string =>
  String(
    headers["content-encoding"] === "br"
      ? brotliDecompressSync(bytes)
      : headers["content-encoding"] === "gzip"
        ? gunzipSync(bytes)
        : bytes
  )

describe.each([
  ["the service", "/docs", () => server],
  ["the service", "/openapi.json", () => server],
  ["the service", "/partner/openapi.json", () => server],
  ["an edge", "/docs", () => edge],
  ["an edge", "/openapi.json", () => edge],
  ["a router behind an edge", "/partner/openapi.json", () => edge]
] as const)("RFC 9110: %s and its %s", (_, path, target) => {
  it("RFC 9110, 13.1.2: a reader that has the page in this form gets 304 with the same tag and nothing else", async () => {
    for (const coding of ["identity", "gzip", "br"]) {
      const accepting = { "accept-encoding": coding }
      const { headers } = await fetchPage(target(), path, accepting)
      const etag = String(headers.etag)
      for (const sent of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const answer = await fetchPage(target(), path, { ...accepting, "if-none-match": sent })
        assert.deepStrictEqual([answer.status, answer.bytes.length], [304, 0], sent)
        for (const name of ["etag", "vary", "cache-control"]) assert.strictEqual(answer.headers[name], headers[name])
        assert.notProperty(answer.headers, "content-type")
      }
      for (const sent of ['"other"', etag.replaceAll('"', ""), `${etag.slice(0, -1)}-x"`]) {
        assert.strictEqual((await fetchPage(target(), path, { ...accepting, "if-none-match": sent })).status, 200, sent)
      }
    }
    const tags = await Promise.all(
      ["identity", "gzip", "br"].map(
        async (coding) => (await fetchPage(target(), path, { "accept-encoding": coding })).headers.etag
      )
    )
    assert.strictEqual(new Set(tags).size, 3)
  })

  it("A1-54: HEAD has the length and tag of each form", async () => {
    for (const coding of ["identity", "br"]) {
      const get = await fetchPage(target(), path, { "accept-encoding": coding })
      const head = await fetchPage(target(), path, { "accept-encoding": coding }, "HEAD")
      assert.deepStrictEqual([head.status, head.bytes.length], [200, 0])
      for (const name of ["content-length", "etag", "content-encoding", "content-type"]) {
        assert.strictEqual(head.headers[name], get.headers[name])
      }
    }
  })
})

describe("RFC 9110, 12.5.3: the form of a page", () => {
  const path = "/openapi.json"
  it.each([
    [undefined, undefined],
    ["identity", undefined],
    ["gzip", "gzip"],
    ["gzip, deflate, br, zstd", "br"],
    ["br;q=0, gzip;q=0.1", "gzip"],
    ["GZIP", "gzip"],
    ["*", "br"],
    ["br;q=0, *;q=0.5", "gzip"],
    ["deflate", undefined]
  ])("RFC 9110, 12.5.3: Accept-Encoding %s gets %s", async (accepted, coding) => {
    const plain = await fetchPage(server, path)
    const answer = await fetchPage(server, path, accepted === undefined ? {} : { "accept-encoding": accepted })
    assert.deepStrictEqual([answer.status, answer.headers["content-encoding"]], [200, coding])
    assert.strictEqual(answer.headers.vary, "Accept-Encoding")
    assert.strictEqual(answer.headers["cache-control"], "public, max-age=300")
    assert.strictEqual(Number(answer.headers["content-length"]), answer.bytes.length)
    assert.isTrue(decoded(answer) === decoded(plain))
    if (coding !== undefined) assert.isBelow(answer.bytes.length * 2, plain.bytes.length)
  })
})

describe("architecture 5: a page is made once", () => {
  it("architecture 5: readers that arrive while a form is being made share it, and later ones get the same form", async () => {
    const gate = Deferred.makeUnsafe<void>()
    const made: Array<string> = []
    const page = new Page("text", { "content-type": "text/plain" }, (coding, bytes) => {
      made.push(coding)
      return Effect.runPromise(Effect.as(Deferred.await(gate), bytes))
    })
    const ask = (coding: string) =>
      Effect.runPromise(page.answer({ method: "GET", headers: { "accept-encoding": coding } }, () => null))
    const asked = ["br", "gzip", "br", "gzip", "br"].map(ask)
    Deferred.doneUnsafe(gate, Effect.void)
    for (const answer of await Promise.all(asked)) assert.strictEqual(answer.status, 200)
    await ask("br")
    await ask("identity")
    assert.deepStrictEqual(made, ["br", "gzip"])
  })
})

describe("architecture 5: limits for readers", () => {
  const at = 1_000_000
  const enter = (limits: VisitorLimits, address: string, now: number) => limits.enter(address, now)

  it("architecture 5: pages in flight are limited for one address and in all; a place is returned once", () => {
    const limits = new VisitorLimits({ sending: 3, sendingPerSource: 2 })
    const first = enter(limits, "203.0.113.1", at)
    assert.deepStrictEqual(
      ["203.0.113.1", "203.0.113.1", "203.0.113.2", "203.0.113.3"].map((from) => enter(limits, from, at)._tag),
      ["Admitted", "OverShare", "Admitted", "Full"]
    )
    if (first._tag !== "Admitted") throw new Error(first._tag)
    first.leave()
    first.leave()
    assert.deepStrictEqual(
      ["203.0.113.3", "203.0.113.4"].map((from) => enter(limits, from, at)._tag),
      ["Admitted", "Full"]
    )
  })

  it("architecture 5: pages a minute are limited for one address or IPv6 network, and the answer states when the next is possible", () => {
    const limits = new VisitorLimits({ perMinute: 2, sendingPerSource: 100, sending: 100 })
    const rows: ReadonlyArray<readonly [address: string, now: number, tag: string]> = [
      ["2001:db8:1:2::1", at, "Admitted"],
      ["2001:db8:1:2::2", at, "Admitted"],
      ["2001:db8:1:2:3::3", at, "OverShare"],
      ["2001:db8:1:3::1", at, "Admitted"],
      ["::ffff:203.0.113.1", at, "Admitted"],
      ["203.0.113.1", at, "Admitted"],
      ["203.0.113.1", at, "OverShare"],
      ["2001:db8:1:2::1", at + 29_999, "OverShare"],
      ["2001:db8:1:2::1", at + 30_000, "Admitted"],
      ["2001:db8:1:2::1", at + 20_000, "OverShare"]
    ]
    for (const [address, now, tag] of rows) assert.strictEqual(enter(limits, address, now)._tag, tag, address)
    const refused = enter(limits, "203.0.113.1", at + 1_000)
    assert.deepStrictEqual(refused, { _tag: "OverShare", retrySeconds: 29 })
  })

  it("architecture 5: the number of stored addresses is limited", () => {
    const limits = new VisitorLimits({ perMinute: 1, sources: 2, sending: 100 })
    const tags = ["10.0.0.1", "10.0.0.2", "10.0.0.1", "10.0.0.3", "10.0.0.2", "10.0.0.3"].map(
      (from) => enter(limits, from, at)._tag
    )
    assert.deepStrictEqual(tags, ["Admitted", "Admitted", "OverShare", "Admitted", "Admitted", "OverShare"])
  })

  it("architecture 5: over its share an address gets 429 with Retry-After, no partner does, and tags cost nothing", async () => {
    const strict = await startStubServer({ visitors: { perMinute: 2 } })
    const [first, second, third] = [
      await fetchPage(strict, "/docs"),
      await fetchPage(strict, "/openapi.json"),
      await fetchPage(strict, "/docs")
    ]
    assert.deepStrictEqual([first.status, second.status, third.status], [200, 200, 429])
    assert.deepInclude(JSON.parse(String(third.bytes)), { code: 4290 })
    assert.strictEqual(third.headers["retry-after"], "30")
    assert.strictEqual((await fetchPage(strict, "/docs", { "if-none-match": String(first.headers.etag) })).status, 304)
    assert.strictEqual((await fetchPage(strict, "/docs", {}, "HEAD")).status, 200)
    assert.strictEqual((await strict.call("GET", "/partner/v1/me")).status, 200)
    assert.strictEqual((await strict.call("GET", "/healthz", { key: null })).status, 200)
    await strict.close()
  })
})

describe("architecture 5: strangers flood the pages", () => {
  const strangers = 100
  const asked = pipelineLimit - 1
  const bounds = { sending: 6, sendingPerSource: 6, perMinute: 40 }

  it.each(["/docs", "/openapi.json"])(
    "architecture 5: %s by thousands of requests in a row, answers unread: partners are answered, and few pages are sent",
    async (path) => {
      const flooded = await startStubServer({ visitors: bounds })
      const ask = `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: br\r\n`
      const row = `${ask}\r\n`.repeat(asked - 1) + `${ask}Connection: close\r\n\r\n`
      const connections = await Promise.all(Array.from({ length: strangers }, () => openRaw(flooded)))
      for (const { socket } of connections) {
        socket.pause()
        socket.write(row)
      }
      for (let n = 0; n < 100; n++) assert.strictEqual((await flooded.call("GET", "/partner/v1/me")).status, 200)
      // A caller that does not read delays only its own queue. Once it reads, each of its requests gets its answer.
      for (const { socket } of connections) socket.resume()
      const texts = await Promise.all(connections.map((connection) => connection.closed()))
      const statuses = texts.flatMap((text) => text.match(/HTTP\/1\.1 \d+ /g) ?? [])
      const count = (status: string) => statuses.filter((line) => line.includes(status)).length
      assert.strictEqual(count(" 200 ") + count(" 429 ") + count(" 503 "), strangers * asked)
      assert.isAtLeast(count(" 200 "), 1)
      assert.isAtMost(count(" 200 "), bounds.perMinute + 40)
      for (const text of texts) {
        const refused = text.match(/HTTP\/1\.1 (429|503) /g) ?? []
        assert.lengthOf(text.match(/\r\nretry-after: \d+\r\n/gi) ?? [], refused.length)
      }
      await flooded.close()
    }
  )
})
