/**
 * Bodies that are no JSON object, and invalid amounts: the answers of the operator surface (doc 1, Envelope; A2-62, F2;
 * operator surface, rules).
 */
import { assert, describe, it } from "@effect/vitest"
import { signedAmount } from "../../src/runtime/services/money/ledger/Adjustments.ts"
import { openOperator, operatorCalls } from "./operatorScenario.ts"

const service = await openOperator()
const request = operatorCalls(service)

const send = (raw: string | Uint8Array) =>
  request("POST", "/partners", {
    raw,
    headers: { "content-type": "application/json" }
  })

describe("doc 1, Envelope: operator bodies", () => {
  const unreadable: ReadonlyArray<readonly [name: string, raw: string | Uint8Array]> = [
    ["cut off", '{"code":'],
    ["empty", ""],
    ["two documents", "{}{}"],
    ["bytes that are no UTF-8", new Uint8Array([0x22, 0xff, 0x22])],
    ["null", "null"],
    ["a list", "[]"],
    ["a number", "7"],
    ["a text", '"x"']
  ]
  it.each(unreadable)("A1-01: %s is 400 code 4000 with one sentence and no field map", async (_, raw) => {
    const { status, json } = await send(raw)
    const sentence = "The request body must be a JSON object."
    const data = { reason: "INVALID_BODY" }
    assert.deepStrictEqual([status, json], [400, { code: 4000, msg: sentence, error: sentence, data }])
  })

  it("A1-01: an object with bad fields still has its field map", async () => {
    const { status, json } = await send("{}")
    const { data } = json as { readonly data: { readonly errors: Readonly<Record<string, string>> } }
    assert.strictEqual(status, 400)
    assert.includeMembers(Object.keys(data.errors), ["code", "name"])
    assert.notProperty(data.errors, "")
  })
})

describe("A1-01: operator paths", () => {
  it.each([
    ["/partners", 200],
    ["/partners?dryRun=false", 200],
    ["/partners/", 404],
    ["//partners", 404],
    ["/partners//", 404],
    ["/Partners", 404],
    ["/audit", 200],
    ["/audit/", 404],
    ["/ledger//verify", 404],
    ["", 404],
    ["/", 404]
  ])("A1-01: GET /operator/v1%s answers %i: case and slashes are exact", async (path, status) => {
    const answer = await request("GET", path)
    assert.strictEqual(answer.status, status)
    if (status === 404) assert.deepInclude(answer.json, { code: 4004 })
  })
})

describe("operator surface, rules: a command that requires no field accepts no body", () => {
  const call = (path: string, raw: string, key = service.keys.ADMIN) => request("POST", `/${path}`, { key, raw })

  it("POST without a body is POST with {}", async () => {
    const broker = { custody: "BROKER", collateralAsset: "", sandbox: false } as const
    const { code, key, keyId } = await service.partner({ code: "BODYLESS", ...broker })
    const clientId = await service.client(key)
    const body = { partnerRef: "d", currency: "USDC", amount: "1" }
    const notice = await service.call("POST", `/partner/v1/clients/${clientId}/deposits`, { key, body })
    const spare = await service.done(["operator", "create", "--label", "l", "--role", "SUPPORT"])
    const answers = [
      await call(`deposits/${notice.json.data.noticeId}/confirm`, ""),
      await call(`keys/${keyId}/revoke`, ""),
      await call(`operators/${spare.operatorId}/revoke`, ""),
      await call(`partners/${code}/limits`, "")
    ]
    assert.deepStrictEqual(
      answers.map(({ status, text }) => (status === 200 ? "200" : text)),
      ["200", "200", "200", "200"]
    )
    // Refused by the state, not by the body.
    for (const path of [`clients/${clientId}/kyc/clear`, "screening/imports/999999/finish"]) {
      const [none, empty] = [await call(path, ""), await call(path, "{}")]
      assert.deepStrictEqual([none.status, none.json], [empty.status, empty.json])
      assert.include([404, 409], none.status)
    }
  })

  it("fields are checked as usual, and a body that is no object is refused", async () => {
    const long = await call("keys/1/revoke", JSON.stringify({ reason: "r".repeat(501) }))
    const { data } = long.json as { readonly data: { readonly errors: object } }
    assert.deepStrictEqual([long.status, Object.keys(data.errors)], [400, ["reason"]])
    for (const raw of ["[]", "7", '"x"', "{"]) {
      const { status, json } = await call("keys/1/revoke", raw)
      assert.deepStrictEqual([status, (json as { msg: string }).msg], [400, "The request body must be a JSON object."])
    }
    const lift = await call("clients/1/lift", "")
    assert.strictEqual(lift.status, 400)
  })
})

describe("operator surface, rules: a body is JSON whatever its content type", () => {
  it.each([{}, { "content-type": "text/plain" }, { "content-type": "application/x-www-form-urlencoded" }])(
    "with headers %j a command is judged like any other",
    async (headers) => {
      const { status, json } = await request("POST", "/partners", {
        raw: "{}",
        headers
      })
      const { data } = json as { readonly data: { readonly errors: Readonly<Record<string, string>> } }
      assert.strictEqual(status, 400)
      assert.includeMembers(Object.keys(data.errors), ["code", "name"])
    }
  )
})

describe("A2-62: the amount of ledger adjust", () => {
  const malformed =
    "The amount must be a plain decimal number such as 12.50 or -12.50, without exponent, grouping or spaces."
  const amounts: ReadonlyArray<readonly [amount: string, sentence: string]> = [
    ["0", "The amount must not be zero."],
    ["+0", "The amount must not be zero."],
    ["-0.00", "The amount must not be zero."],
    ["--1", malformed],
    ["- 1", malformed],
    ["1e3", malformed],
    ["1,000", malformed],
    ["01", malformed],
    ["-", malformed],
    ["", malformed],
    ["-1.2345678", "The amount must have at most 6 decimal places for USDC."],
    ["-99999999999999999", "The amount is too large."]
  ]
  it.each(amounts)("F2: %j is refused: %s", (amount, sentence) => {
    assert.strictEqual(signedAmount({ amount, currency: "USDC" }), sentence)
  })

  it("F2: the operator reads the sentence at the field", async () => {
    const partner = await service.partner({ code: "ZERO" })
    const clientId = String(await service.client(partner.key))
    const zero = ["ledger", "adjust", clientId, "--currency", "USDC", "--amount", "0", "--reason", "a correction"]
    const ran = await service.cli(zero)
    assert.deepStrictEqual(
      [ran.status, ran.refusal.code, ran.refusal.data.errors],
      [1, 4000, { amount: "The amount must not be zero." }]
    )
  })
})
