/**
 * The order of the gates (A1-02): every request below violates two neighbouring rules and must get the refusal of the
 * first.
 */
import { assert, afterAll, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { bodyCaps } from "../../src/machines/shared/Limits.ts"
import type { Answer, CallOptions } from "./callServer.ts"
import { clientId, keys } from "./canned.ts"
import { type Running, startStubServer, Stub } from "./stubServer.ts"

let server: Running
beforeAll(async () => {
  server = await startStubServer()
})
afterAll(() => server.close())
beforeEach(() => {
  server.stub.partner = new Stub().partner
  server.stub.runs = 0
})

const outside = ["203.0.113.0/24"]
const huge = { "content-length": String(bodyCaps.edge + 1) }
const collateral = `/partner/v1/clients/${clientId}/collateral`
const overRouteCap = JSON.stringify({ text: "x".repeat(bodyCaps.onboarding) })

interface Case {
  readonly gates: string
  readonly method: string
  readonly path: string
  readonly options?: CallOptions
  readonly before?: () => void
  readonly expected: readonly [status: number, code: number]
}

const set =
  (...change: Parameters<Stub["setPartner"]>) =>
  () =>
    server.stub.setPartner(...change)

const cases: ReadonlyArray<Case> = [
  {
    gates: "0 verb, 1 edge cap",
    method: "PATCH",
    path: collateral,
    options: { headers: huge, raw: "" },
    expected: [404, 4004]
  },
  { gates: "0 verb, 2 key", method: "OPTIONS", path: "/partner/v1/me", options: { key: null }, expected: [404, 4004] },
  {
    gates: "1 edge cap, 2 key",
    method: "POST",
    path: collateral,
    options: { key: null, headers: huge, raw: "" },
    expected: [413, 4130]
  },
  {
    gates: "2 key, 3 suspended",
    method: "GET",
    path: "/partner/v1/me",
    before: set({ state: "SUSPENDED", allowedCidrs: outside }),
    expected: [401, 4010]
  },
  {
    gates: "3 suspended, 4 rate",
    method: "GET",
    path: "/partner/v1/me",
    before: set({ state: "SUSPENDED", readPerMinute: 0 }),
    expected: [403, 4037]
  },
  {
    gates: "4 rate, 5 route",
    method: "GET",
    path: "/partner/v1/nowhere",
    before: set({ readPerMinute: 0 }),
    expected: [429, 4290]
  },
  {
    gates: "5 route, 6 scope",
    method: "POST",
    path: "/partner/v1/nowhere",
    options: { key: keys.read },
    expected: [404, 4004]
  },
  {
    gates: "6 scope, 7 Idempotency-Key",
    method: "POST",
    path: collateral,
    options: { key: keys.read, headers: { "idempotency-key": "a b" }, body: {} },
    expected: [403, 4034]
  },
  {
    gates: "6 scope, 10 client",
    method: "POST",
    path: "/partner/v1/clients/7/collateral",
    options: { key: keys.read, body: {} },
    expected: [403, 4034]
  },
  {
    gates: "7 Idempotency-Key, 8 route cap",
    method: "POST",
    path: "/partner/v1/clients",
    options: { headers: { "idempotency-key": "a b" }, raw: overRouteCap },
    expected: [400, 4000]
  },
  {
    gates: "8 route cap, 9 reliance",
    method: "POST",
    path: "/partner/v1/clients",
    options: { raw: overRouteCap },
    before: set({}, "SUSPENDED"),
    expected: [413, 4000]
  },
  {
    gates: "9 reliance, 11 validation",
    method: "POST",
    path: "/partner/v1/clients",
    options: { raw: "{" },
    before: set({}, "NONE"),
    expected: [403, 4036]
  },
  {
    gates: "10 client, 11 validation of a body",
    method: "POST",
    path: "/partner/v1/clients/7/collateral",
    options: { raw: "{" },
    expected: [404, 4004]
  },
  {
    gates: "10 client, 11 validation of a query",
    method: "GET",
    path: "/partner/v1/clients/7/ledger?limit=0",
    expected: [404, 4004]
  },
  { gates: "11 validation, 12 service", method: "POST", path: collateral, options: { raw: "{" }, expected: [400, 4000] }
]

const codeOf = (answer: Answer): unknown => (answer.json as { readonly code: unknown }).code

describe("A1-02: order of the gates", () => {
  for (const { gates, method, path, options, before, expected } of cases) {
    it(`A1-02: ${gates}`, async () => {
      before?.()
      const answer = await server.call(method, path, options)
      assert.deepStrictEqual([answer.status, codeOf(answer)], [...expected])
      assert.strictEqual(server.stub.runs, 0)
    })
  }

  it("A1-02: a request that breaks nothing runs once", async () => {
    const answer = await server.call("POST", collateral, { body: {} })
    assert.deepStrictEqual([answer.status, server.stub.runs], [201, 1])
  })

  it("A1-02: the closed partner's key is an unknown key, byte for byte", async () => {
    server.stub.setPartner({ state: "CLOSED" })
    const closed = await server.call("GET", "/partner/v1/me")
    server.stub.setPartner({ state: "ACTIVE", allowedCidrs: outside })
    const elsewhere = await server.call("GET", "/partner/v1/me")
    const nobody = await server.call("GET", "/partner/v1/me", { key: "pbk_nobody" })
    const none = await server.call("GET", "/partner/v1/me", { key: null })
    const names = (answer: Answer) => Object.keys(answer.headers)
    for (const answer of [closed, elsewhere, nobody]) {
      assert.strictEqual(answer.status, 401)
      assert.strictEqual(answer.text, none.text)
      assert.deepStrictEqual(names(answer), names(none))
    }
  })

  it("A1-07: Authorization with a partner key wins over X-Partner-Key, any other Authorization does not", async () => {
    const status = async (headers: CallOptions["headers"]) =>
      (await server.call("GET", "/partner/v1/me", { key: null, headers: headers ?? {} })).status
    assert.strictEqual(await status({ "x-partner-key": keys.trade }), 200)
    assert.strictEqual(await status({ authorization: `bearer ${keys.trade}` }), 200)
    assert.strictEqual(await status({ authorization: "Bearer pbk_nobody", "x-partner-key": keys.trade }), 401)
    assert.strictEqual(await status({ authorization: `Bearer ${keys.trade}`, "x-partner-key": "pbk_nobody" }), 200)
    assert.strictEqual(await status({ authorization: "Basic eDp5", "x-partner-key": keys.trade }), 200)
    assert.strictEqual(await status({ authorization: "Bearer bok_other", "x-partner-key": keys.trade }), 200)
  })

  it("A1-07: a key matches byte for byte: characters like white space around it make it another key", async () => {
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await server.call("GET", "/partner/v1/me", { key: null, headers })).status
    for (const odd of ["\u00a0", "\u0085", "\u00ad", "\t", "."]) {
      // Tabs and spaces at the end of a header are no part of its value (RFC 9110, 5.5).
      const expected = odd === "\t" ? 200 : 401
      assert.strictEqual(await status({ authorization: `Bearer ${keys.trade}${odd}` }), expected)
      assert.strictEqual(await status({ "x-partner-key": `${keys.trade}${odd}` }), expected)
      assert.strictEqual(await status({ authorization: `Bearer ${odd}${keys.trade}` }), 401)
      assert.strictEqual(await status({ authorization: `Bearer${odd}${keys.trade}` }), 401)
    }
    assert.strictEqual(await status({ authorization: `BEARER   ${keys.trade}` }), 200)
    assert.strictEqual(await status({ authorization: `Bearer ${keys.trade.toUpperCase()}` }), 401)
    assert.strictEqual(await status({ authorization: "Bearer PBK_OTHER", "x-partner-key": keys.trade }), 200)
  })
})
