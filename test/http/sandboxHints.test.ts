/**
 * X-Sandbox-Hint: a sandbox names the parameters and members that a route does not know, in a header of the usual
 * answer. Other services do not, and no name can break the header.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Running, startStubServer } from "./stubServer.ts"

describe("X-Sandbox-Hint", () => {
  let sandbox: Running
  let other: Running
  beforeAll(async () => {
    sandbox = await startStubServer({ sandbox: true })
    other = await startStubServer()
  })
  afterAll(async () => {
    await sandbox.close()
    await other.close()
  })

  const hintOf = async (server: Running, method: string, path: string, body?: object) => {
    const answer = await server.call(method, `/partner/v1${path}`, body === undefined ? {} : { body })
    return { status: answer.status, hint: answer.headers["x-sandbox-hint"] }
  }
  const order = { symbol: "BTC-USDC-PERP", side: "BUY", type: "MARKET", qty: "1" }
  const many = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`other${at}`, 1]))

  it.each<readonly [name: string, method: string, path: string, body: object | undefined, hint: string | undefined]>([
    ["a slip", "GET", "/clients?limt=5", undefined, "unknown parameter limt; did you mean limit?"],
    ["known ones", "GET", "/clients?limit=5&q=a", undefined, undefined],
    ["one sent twice", "GET", "/clients?zzzzzz=1&zzzzzz=2", undefined, "unknown parameter zzzzzz"],
    ["one that no header takes", "GET", "/clients?%0d%0aX-A:%20b%C3%A4=1", undefined, "unknown parameter ??X-A??b?"],
    ["a long one", "GET", `/clients?${"a".repeat(500)}=1`, undefined, `unknown parameter ${"a".repeat(60)}...`],
    ["a member", "POST", "/clients/41/orders", { ...order, qyt: "1" }, "unknown member qyt; did you mean qty?"],
    ["known members", "POST", "/clients/41/orders", order, undefined],
    [
      "a member inside",
      "POST",
      "/clients",
      { kyc: { personalInfo: { firstName: "Ada" } } },
      "unknown member kyc.personalInfo.firstName; did you mean first_name?"
    ],
    [
      "both",
      "POST",
      "/clients/41/orders?dryRun=1",
      { ...order, leverag: 5 },
      "unknown parameter dryRun, unknown member leverag; did you mean leverage?"
    ],
    ["a body that is no object", "POST", "/clients/41/orders", [1, [2]], undefined]
  ])("%s", async (_, method, path, body, hint) => {
    const told = await hintOf(sandbox, method, path, body)
    assert.strictEqual(told.hint, hint)
    assert.deepStrictEqual(await hintOf(other, method, path, body), { status: told.status, hint: undefined })
  })

  it("names five of many, in a header of a few hundred letters", async () => {
    const { hint } = await hintOf(sandbox, "POST", "/clients/41/orders", { ...order, ...many })
    assert.strictEqual(String(hint).split(", ").length, 5)
    assert.isBelow(String(hint).length, 800)
  })

  it("a request that is refused before its route is looked at has none", async () => {
    const answer = await sandbox.call("GET", "/partner/v1/clients?limt=5", { key: null })
    assert.deepStrictEqual([answer.status, answer.headers["x-sandbox-hint"]], [401, undefined])
  })
})
