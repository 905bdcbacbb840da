/**
 * Invalid bodies and path ids: refused before a key is claimed, without running the service (A1-01; doc 1, Limits: body
 * caps).
 */
import { assert, afterAll, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import * as fc from "fast-check"
import { parseBody } from "../../src/http/middleware/parseBody.ts"
import { partnerRoutes } from "../../src/http/features.ts"
import { toWire } from "../../src/machines/shared/wireRefusal.ts"
import { bodyCaps, bodyMembers } from "../../src/machines/shared/Limits.ts"
import { invalidFields } from "../../src/machines/shared/Refusal.ts"
import { edgeCapCases } from "../fixtures/golden.ts"
import type { Answer, CallOptions } from "./callServer.ts"
import { clientId, clientWire } from "./canned.ts"
import { type Running, startStubServer } from "./stubServer.ts"

const collateral = `/partner/v1/clients/${clientId}/collateral`
let server: Running
beforeAll(async () => {
  server = await startStubServer()
})
afterAll(() => server.close())
beforeEach(() => {
  server.stub.runs = 0
  server.stub.lastBody = undefined
})
const post = (raw: string | Uint8Array, headers: CallOptions["headers"] = {}) =>
  server.call("POST", collateral, { raw, headers })
const told = (answer: Answer) => [answer.status, (answer.json as { code: number }).code]

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`

describe("A1-01: bodies", () => {
  const bad: ReadonlyArray<readonly [name: string, raw: string | Uint8Array]> = [
    ["empty", ""],
    ["cut off", '{"a":'],
    ["two documents", "{}{}"],
    ["NaN", '{"a":NaN}'],
    ["a number beyond every double", '{"a":1e999}'],
    ["a raw control character", '{"a":"\u0001"}'],
    ["an escaped NUL", '{"a":"\\u0000"}'],
    ["an escaped NUL in a name", '{"\\u0000":1}'],
    ["a lone high surrogate", '{"a":["\\ud800"]}'],
    ["a lone low surrogate", '{"a":"\\udc00x"}'],
    ["bytes that are no UTF-8", new Uint8Array([0x22, 0xff, 0x22])],
    ["UTF-16", Buffer.from('{"a":1}', "utf16le")],
    ["nested too deeply", nested(65)],
    ["nested absurdly", nested(30_000)],
    ["nested too deeply behind a string that ends in a backslash", `["\\\\",${nested(64)}]`]
  ]
  for (const [name, raw] of bad) {
    it(`A1-01: ${name} is 400 4000 without a field map, and no service runs`, async () => {
      const answer = await post(raw, { "idempotency-key": "never-claimed" })
      assert.deepStrictEqual(told(answer), [400, 4000])
      assert.deepStrictEqual((answer.json as { readonly data: unknown }).data, { reason: "INVALID_BODY" })
      assert.deepStrictEqual([server.stub.runs, server.stub.answers.size], [0, 0])
    })
  }

  it("A1-01: __proto__ members are dropped at every depth and never become a prototype", async () => {
    await post('{"__proto__":{"x":1},"a":{"__proto__":null,"b":1},"constructor":2}')
    assert.deepStrictEqual(server.stub.lastBody, { a: { b: 1 }, constructor: 2 } as never)
    assert.strictEqual(Object.getPrototypeOf(server.stub.lastBody), Object.prototype)
  })

  it("A1-01: duplicate members: the last wins; pairs of surrogates, deep but legal nesting and any Content-Type pass", async () => {
    await post('{"a":1,"a":"\\ud83d\\ude00"}', { "content-type": "text/plain" })
    assert.deepStrictEqual(server.stub.lastBody, { a: "😀" })
    assert.strictEqual((await post(nested(64))).status, 201)
    assert.strictEqual((await post(`["${"[{".repeat(100)}\\"${"[".repeat(100)}"]`)).status, 201)
  })

  it("A1-01: depth is judged over the bytes, before anything is built from them", () => {
    const deep = { ok: false, sentence: "The request body is nested too deeply." } as const
    // Not JSON, which only a parser detects: these bodies are refused before the parser runs.
    for (const text of ["[".repeat(65), '{"a":'.repeat(65), `x${"[{".repeat(33)}`]) {
      assert.deepStrictEqual(parseBody(Buffer.from(text)), deep)
    }
  })

  it("A1-01: exactly the values of more than 64 containers inside each other are too deep", () => {
    const wrap = fc.array(fc.constantFrom("array", "object"), { minLength: 55, maxLength: 70 })
    fc.assert(
      fc.property(wrap, fc.jsonValue({ maxDepth: 4, stringUnit: "binary-ascii" }), (wraps, inner) => {
        const value = wraps.reduce<unknown>((held, kind) => (kind === "array" ? [held, "]"] : { "[{": held }), inner)
        const depth = (node: unknown): number =>
          typeof node === "object" && node !== null ? 1 + Math.max(0, ...Object.values(node).map(depth)) : 0
        const text = JSON.stringify(value)
        if (text.includes("__proto__") || text.includes("\\u0000")) return
        assert.strictEqual(parseBody(Buffer.from(text)).ok, depth(value) <= 64)
      })
    )
  })

  it("A1-01: brackets in a long string don't count, those behind it do, wherever its escapes lie", () => {
    const long = fc.record({ before: fc.nat(300), run: fc.nat(9), after: fc.nat(300), quotes: fc.nat(3) })
    fc.assert(
      fc.property(long, ({ before, run, after, quotes }) => {
        const escapes = `${"\\".repeat(run)}${'"'.repeat(quotes)}${"[".repeat(after)}`
        const text = JSON.stringify([`${"[".repeat(before)}${escapes}${escapes}`, 1])
        assert.isTrue(parseBody(Buffer.from(text)).ok, text)
        const deep = parseBody(Buffer.from(`${text}${"[".repeat(65)}`))
        assert.deepStrictEqual(deep.ok ? "" : deep.sentence, "The request body is nested too deeply.")
      })
    )
  })

  it("A1-01: a body of more members and entries than 50,000 in all is answered before anything is built from it", () => {
    const many = { ok: false, sentence: "The request body has more than 50000 members and entries." } as const
    const members = (count: number) => Array.from({ length: count }, (_, i) => `"k${i}":1`).join(",")
    const entries = (item: string, count: number) => `[${Array.from({ length: count }, () => item).join(",")}`
    for (const text of [
      `{${members(bodyMembers + 1)}}`,
      `{"name":"a",${members(900_000)}}`,
      // Not JSON, which only a parser detects: these bodies are refused before the parser runs.
      entries("1", bodyMembers + 1),
      entries("[]", bodyMembers / 2 + 1),
      entries('{"a":{"b":1}}', bodyMembers / 3 + 1)
    ]) {
      assert.deepStrictEqual(parseBody(Buffer.from(text)), many)
    }
    for (const text of [
      `{${members(bodyMembers)}}`,
      `${entries("1", bodyMembers)}]`,
      `["${",[{".repeat(bodyMembers)}"]`
    ]) {
      assert.isTrue(parseBody(Buffer.from(text)).ok)
    }
  })

  it("A1-01: a document body of 900,000 members is 400 4000, and no service runs", async () => {
    const raw = `{${Array.from({ length: 900_000 }, (_, i) => `"k${i}":1`).join(",")}}`
    const answer = await server.call("POST", `/partner/v1/clients/${clientId}/documents`, { raw })
    assert.deepStrictEqual([...told(answer), server.stub.runs], [400, 4000, 0])
  })

  it("A1-27: an answer names a thousand faults at the most, the first ones", () => {
    const errors = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`items.${i}`, "It is wrong."]))
    const { data } = toWire(invalidFields(errors))
    assert.deepStrictEqual(Object.keys((data as { errors: object }).errors), Object.keys(errors).slice(0, 1_000))
    assert.deepStrictEqual(toWire(invalidFields({ a: "It is wrong." })).data, {
      reason: "INVALID_FIELDS",
      errors: { a: "It is wrong." }
    })
  })

  it("A1-01: a JSON value that is no object reaches the service, whose answer names the fault", async () => {
    for (const raw of ["null", "[]", '"x"', "7"]) assert.strictEqual((await post(raw)).status, 201)
    assert.strictEqual(server.stub.runs, 4)
  })

  it("A1-01: parseBody agrees with JSON.parse on every harmless value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: "grapheme" }), (value) => {
        const text = JSON.stringify(value)
        if (text.includes("__proto__") || text.includes("\\u0000")) return
        assert.deepStrictEqual(parseBody(Buffer.from(text)), { ok: true, value: JSON.parse(text) as unknown })
      })
    )
  })
})

describe("doc 1, Limits: body caps", () => {
  it("doc 1, Limits: onboarding accepts 262,144 bytes and not one more", async () => {
    const body = (bytes: number) => `{"t":"${"x".repeat(bytes - 8)}"}`
    const full = await server.call("POST", "/partner/v1/clients", { raw: body(bodyCaps.onboarding) })
    const over = await server.call("POST", "/partner/v1/clients", { raw: body(bodyCaps.onboarding + 1) })
    assert.deepStrictEqual([full.status, told(over)], [201, [413, 4000]])
  })

  it("doc 1, Limits: a body that does not declare its length is cut off at the cap", async () => {
    const raw = `{"t":"${"x".repeat(bodyCaps.onboarding)}"}`
    const answer = await server.call("POST", "/partner/v1/clients", {
      raw,
      headers: { "transfer-encoding": "chunked", "content-length": [] }
    })
    assert.deepStrictEqual(told(answer), [413, 4000])
  })

  it("doc 1, Limits: a collateral report accepts 65,536 bytes and not one more, declared or not", async () => {
    const body = (bytes: number) => `{"t":"${"x".repeat(bytes - 8)}"}`
    const chunked = { "transfer-encoding": "chunked", "content-length": [] }
    assert.strictEqual((await post(body(bodyCaps.collateral))).status, 201)
    assert.strictEqual((await post(body(bodyCaps.collateral), chunked)).status, 201)
    assert.deepStrictEqual(told(await post(body(bodyCaps.collateral + 1))), [413, 4000])
    assert.deepStrictEqual(told(await post(body(bodyCaps.collateral + 1), chunked)), [413, 4000])
  })

  it("doc 1, Limits: the edge cap is 12,058,624 bytes: above it 4130, up to it the route's own cap answers", async () => {
    const declared = async (bytes: number) => told(await post("", { "content-length": String(bytes) }))
    assert.deepStrictEqual(await declared(bodyCaps.edge), [413, 4000])
    assert.deepStrictEqual(await declared(bodyCaps.edge + 1), [413, 4130])
  })

  it.each(edgeCapCases)("$id: a declared length of $contentLength", async ({ contentLength, status, code }) => {
    const answer = await server.call("GET", "/partner/v1/me", {
      raw: "",
      headers: { "content-length": String(contentLength) }
    })
    assert.deepStrictEqual([answer.status, answer.status === 200 ? null : told(answer)[1]], [status, code])
  })

  it("doc 1, Limits: every write has a cap of its own, no larger than the edge's", () => {
    for (const { operation, method, rules } of partnerRoutes.routes.filter((route) => route.method !== "GET")) {
      assert.isAbove(rules.bodyCap, 0, `${method} ${operation}`)
      assert.isAtMost(rules.bodyCap, bodyCaps.edge, `${method} ${operation}`)
    }
  })
})

describe("architecture 8: memory of bodies", () => {
  it("architecture 8: over the bound a body is 503 5030 with Retry-After and ends its connection; none of it stays counted", async () => {
    // An eighth of the budget is for bodies of routes with small caps, such as this route.
    const small = await startStubServer({ bodyBudget: { bytes: 8_000, waitMillis: 20 } })
    const send = (path: string, bytes: number, headers: CallOptions["headers"] = {}) =>
      small.call("POST", path, { raw: `"${"x".repeat(bytes - 2)}"`, headers })
    const chunked = { "transfer-encoding": "chunked", "content-length": [] }
    for (const headers of [{}, chunked, {}]) {
      const over = await send(collateral, 1_001, headers)
      assert.deepStrictEqual(told(over), [503, 5030])
      assert.deepStrictEqual([over.headers["retry-after"], over.headers["connection"]], ["1", "close"])
      assert.strictEqual((await send(collateral, 1_000, headers)).status, 201)
    }
    await small.close()
  })

  it("architecture 8: bodies of the other surfaces count too", async () => {
    const small = await startStubServer({
      bodyBudget: { bytes: 8_000 },
      operatorApp: Effect.succeed(HttpServerResponse.jsonUnsafe({}))
    })
    const send = (bytes: number) => small.call("POST", "/operator/v1/x", { raw: "x".repeat(bytes) })
    const over = await send(7_001)
    assert.deepStrictEqual([...told(over), over.headers["retry-after"]], [503, 5030, "1"])
    for (const _ of [1, 2]) assert.strictEqual((await send(7_000)).status, 200)
    const open = await small.call("GET", "/healthz", { raw: "x".repeat(7_001) })
    assert.strictEqual(open.status, 200, "a public route reads no body")
    await small.close()
  })
})

describe("A1-01: paths", () => {
  const unknown = [
    "0",
    "-1",
    "01",
    "1e1",
    "1.0",
    "+1",
    "%34%31",
    "9007199254740992",
    "9223372036854775808",
    "99999999999999999999",
    " 41",
    "41 ",
    "x"
  ]
  for (const id of unknown) {
    it(`A1-01: the id ${id} names no client`, async () => {
      const answer = await server.call("GET", `/partner/v1/clients/${encodeURI(id).replace("%25", "%")}`)
      assert.deepStrictEqual(told(answer), [404, 4004])
    })
  }

  const elsewhere = [
    "/partner/v1/clients/41/",
    "/partner/v1//clients/41",
    "/Partner/v1/me",
    "/partner/v1/ME",
    "/partner/v1/",
    "/partner/v1",
    "/partner/v1/clients/41/none"
  ]
  for (const path of elsewhere) {
    it(`A1-01: ${path} is no route`, () => assert.isNull(partnerRoutes.match("GET", path)))
  }

  it("A1-18: a reference is percent-decoded, with slashes and any characters; a broken or overlong one is unknown", async () => {
    const found = await server.call(
      "GET",
      `/partner/v1/clients/by-ref/${encodeURIComponent(clientWire.partnerClientRef)}`
    )
    assert.strictEqual(found.status, 200)
    for (const ref of ["%ff", "%", "a%00b", "x".repeat(65), "%20"]) {
      assert.deepStrictEqual(told(await server.call("GET", `/partner/v1/clients/by-ref/${ref}`)), [404, 4004])
    }
    assert.strictEqual(partnerRoutes.match("GET", "/partner/v1/clients/by-ref/x")?.route.operation, "clients.getByRef")
  })
})

describe("doc 1, Endpoints: query parameters", () => {
  const list = "/partner/v1/clients"
  const rows: ReadonlyArray<readonly [path: string, parameter: string]> = [
    [`${list}?limit=0`, "limit"],
    [`${list}?limit=201`, "limit"],
    [`${list}?limit=`, "limit"],
    [`${list}?limit=1e1`, "limit"],
    [`${list}?limit=05`, "limit"],
    [`${list}?limit=5&limit=6`, "limit"],
    [`${list}?before=0`, "before"],
    [`${list}?before=9007199254740992`, "before"],
    [`${list}?state=active`, "state"],
    [`${list}?level=`, "level"],
    [`${list}?q=a%00b`, "q"],
    [`${collateral}?status=PENDING`, "status"],
    [`/partner/v1/collateral?limit=201`, "limit"],
    [`/partner/v1/clients/41/ledger?limit=501`, "limit"]
  ]
  for (const [path, parameter] of rows) {
    it(`A1-09: ${path} is named by its parameter`, async () => {
      const answer = await server.call("GET", path)
      assert.deepStrictEqual(told(answer), [400, 4000])
      const { msg, data } = answer.json as { msg: string; data: { errors: Record<string, string> } }
      assert.deepStrictEqual(data.errors, { [parameter]: msg })
      assert.match(msg, /^[A-Z].*\.$/)
    })
  }

  it("A1-09: several bad parameters are named together; good ones reach the service, unknown ones are ignored", async () => {
    const both = await server.call("GET", `${list}?limit=0&state=x`)
    const { data } = both.json as { data: { errors: Record<string, string> } }
    assert.deepStrictEqual(Object.keys(data.errors), ["limit", "state"])
    await server.call("GET", `${list}?limit=200&before=7&q=%20A%25_%20&state=ACTIVE&level=MICA&x=1`)
    assert.deepStrictEqual(server.stub.lastListQuery, {
      limit: 200,
      before: 7,
      q: "A%_",
      state: "ACTIVE",
      level: "MICA"
    })
    await server.call("GET", `${list}?q=`)
    assert.deepStrictEqual(server.stub.lastListQuery, { limit: 50 })
  })

  it("A1-09: q has no limit except the header's, and is cleaned like the texts with which it is compared", async () => {
    const long = "x".repeat(10_000)
    assert.strictEqual((await server.call("GET", `${list}?q=${long}`)).status, 200)
    assert.deepStrictEqual(server.stub.lastListQuery, { limit: 50, q: long })
    await server.call("GET", `${list}?q=${encodeURIComponent("\u0085 e\u0301 \u2003")}`)
    assert.deepStrictEqual(server.stub.lastListQuery, { limit: 50, q: "\u00e9" })
  })
})
