// Bodies and path ids that are not what they should be: told as such, before a key is claimed and without running the
// service (A1-01; doc 1, Limits: body caps).
import { assert, afterAll, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { parseBody } from "../../src/http/middleware/parseBody.ts"
import { matchRoute } from "../../src/http/middleware/routes.ts"
import { bodyCaps } from "../../src/machines/shared/Limits.ts"
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
    ["nested absurdly", nested(100_000)]
  ]
  for (const [name, raw] of bad) {
    it(`A1-01: ${name} is 400 4000 without a field map, and no service runs`, async () => {
      const answer = await post(raw, { "idempotency-key": "never-claimed" })
      assert.deepStrictEqual(told(answer), [400, 4000])
      assert.notProperty(answer.json, "data")
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
  })

  it("A1-01: a JSON value that is no object reaches the service, which says so", async () => {
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
  it("doc 1, Limits: onboarding takes 262,144 bytes and not one more", async () => {
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

  it("doc 1, Limits: the edge cap is 12,058,624 bytes", async () => {
    const body = (bytes: number) => `{"t":"${"x".repeat(bytes - 8)}"}`
    assert.strictEqual((await post(body(bodyCaps.edge))).status, 201)
    assert.deepStrictEqual(told(await post("", { "content-length": String(bodyCaps.edge + 1) })), [413, 4130])
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
    it(`A1-01: ${path} is no route`, () => assert.isNull(matchRoute("GET", path)))
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
    assert.strictEqual(matchRoute("GET", "/partner/v1/clients/by-ref/x")?.route.operation, "clients.getByRef")
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
    it(`A1-09: ${path} is told by its parameter`, async () => {
      const answer = await server.call("GET", path)
      assert.deepStrictEqual(told(answer), [400, 4000])
      const { msg, data } = answer.json as { msg: string; data: { errors: Record<string, string> } }
      assert.deepStrictEqual(data.errors, { [parameter]: msg })
      assert.match(msg, /^[A-Z].*\.$/)
    })
  }

  it("A1-09: several bad parameters are told together; good ones reach the service, unknown ones are ignored", async () => {
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
})
