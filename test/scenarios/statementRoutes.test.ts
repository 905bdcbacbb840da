/** The routes of statements under every wrong input and past their limits: the documented answer, and nothing written (STS-15, STS-21). */
import { assert, describe, it } from "@effect/vitest"
import { statementLimits } from "../../src/machines/shared/Limits.ts"
import { get } from "../support/Builders.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key, client, now, call } = await openScenario()

const list = async (clientId: number) =>
  (await get(service, key, `/clients/${clientId}/statements`)).json.statements as ReadonlyArray<object>
const day = 86_400_000

describe("POST .../statements", () => {
  it("STS-15: a refusal is keyed by its field and writes nothing", async () => {
    const clientId = await client()
    const at = await now()
    const bodies: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
      [{}, ["kind"]],
      [{ kind: null }, ["kind"]],
      [{ kind: "account" }, ["kind"]],
      [{ kind: ["ACCOUNT"] }, ["kind"]],
      [{ kind: "ACCOUNT", taxYear: 2025 }, ["taxYear"]],
      [{ kind: "COSTS", quarter: "2025-Q1" }, ["quarter"]],
      [{ kind: "TAX", from: 1, to: 2 }, ["from", "to"]],
      [{ kind: "CLIENT_ASSETS", taxYear: 2025 }, ["taxYear"]],
      [{ kind: "ACCOUNT", from: 5 }, ["to"]],
      [{ kind: "ACCOUNT", from: 6, to: 5 }, ["to"]],
      [{ kind: "ACCOUNT", from: 5, to: 5 }, ["to"]],
      [{ kind: "ACCOUNT", from: "1", to: 1e18 }, ["from", "to"]],
      [{ kind: "TRANSACTIONS", from: 1.5, to: -1 }, ["from", "to"]],
      [{ kind: "ACCOUNT", from: at + day, to: at + 2 * day }, ["from"]],
      [{ kind: "ACCOUNT", from: 0, to: 366 * day + 1 }, ["to"]],
      [{ kind: "TAX", taxYear: new Date(at).getUTCFullYear() }, ["taxYear"]],
      [{ kind: "TAX", taxYear: 1e18 }, ["taxYear"]],
      [{ kind: "CLIENT_ASSETS", quarter: "0000-Q1" }, ["quarter"]],
      [{ kind: "CLIENT_ASSETS", quarter: "9998-Q4" }, ["quarter"]],
      [[], []]
    ]
    for (const [body, fields] of bodies) {
      const answer = await call("POST", clientId, "/statements", body)
      assert.deepStrictEqual([answer.status, answer.json.code], [400, 4000], answer.text)
      assert.deepStrictEqual(Object.keys(answer.json.data?.errors ?? {}), fields, answer.text)
    }
    assert.deepStrictEqual(await list(clientId), [])
  })

  it("A2-75: the 31st build within an hour is 429 with Retry-After; existing statements are still answered", async () => {
    const clientId = await client()
    const from = (await now()) - 40 * day
    const made = (n: number) =>
      call("POST", clientId, "/statements", { kind: "ACCOUNT", from: from + n, to: from + day })
    for (let n = 0; n < statementLimits.builds.most; n++) assert.strictEqual((await made(n)).status, 200)
    const refused = await made(30)
    assert.deepStrictEqual([refused.status, refused.json.code], [429, 4290])
    assert.match(String(refused.headers["retry-after"]), /^[1-9][0-9]{0,3}$/)
    assert.strictEqual((await made(7)).status, 200, "the same period says the same without a build")
    assert.lengthOf(await list(clientId), 30)
  })

  it("STS-21: a partner's queue that is full is 503 with Retry-After, and the retry makes each once", async () => {
    const clientId = await client()
    const from = (await now()) - 40 * day
    const made = (n: number) =>
      call("POST", clientId, "/statements", { kind: "ACCOUNT", from: from + n, to: from + day })
    const first = await Promise.all(Array.from({ length: 16 }, (_, n) => made(n)))
    for (const answer of first.filter(({ status }) => status !== 200))
      assert.deepStrictEqual([answer.status, answer.json.code, answer.headers["retry-after"]], [503, 5030, "1"])
    for (let n = 0; n < 16; n++) assert.strictEqual((await made(n)).status, 200)
    assert.lengthOf(await list(clientId), 16)
  })
})

describe("reads", () => {
  it("A1-01: limits, cursors and kinds in every wrong form; ids that name nothing of the client's", async () => {
    const clientId = await client()
    const other = await client()
    const row = (await call("POST", clientId, "/statements", { kind: "COSTS" })).json
    const query = (text: string) => get(service, key, `/clients/${clientId}/statements?${text}`)
    for (const text of [
      "limit=0",
      "limit=201",
      "limit=x",
      "limit=1.5",
      "limit=1&limit=2",
      "before=0",
      "before=x",
      "kind=x"
    ]) {
      const answer = await query(text)
      assert.deepStrictEqual([answer.status, answer.json.code], [400, 4000], text)
    }
    assert.deepStrictEqual((await query("limit=200&kind=COSTS&before=9007199254740991")).json.statements, [row])
    assert.deepStrictEqual((await query("kind=TAX")).json.statements, [])
    for (const form of ["", "/pdf", "/csv"]) {
      for (const id of ["0", "-1", "x", "1.5", "1e3", "01", "999999999", "9007199254740993", "1000000000000000000"]) {
        const answer = await get(service, key, `/clients/${clientId}/statements/${id}${form}`)
        assert.deepStrictEqual([answer.status, answer.json.code], [404, 4004], id)
      }
      const foreign = await get(service, key, `/clients/${other}/statements/${row.statementId}${form}`)
      assert.deepStrictEqual([foreign.status, foreign.json.code], [404, 4004])
    }
  })

  it("STS-32: odd Accept and Range change nothing; a tag in any form that names the file is 304", async () => {
    const clientId = await client()
    const row = (await call("POST", clientId, "/statements", { kind: "COSTS" })).json
    const path = `/partner/v1/clients/${clientId}/statements/${row.statementId}/csv`
    const whole = await service.call("GET", path, { key })
    const etag = String(whole.headers.etag)
    for (const headers of [
      { accept: "text/html" },
      { accept: "x;;" },
      { range: "bytes=0-9" },
      { "if-none-match": '"x,*"' }
    ]) {
      const answer = await service.call("GET", path, { key, headers })
      assert.deepStrictEqual([answer.status, answer.text], [200, whole.text], JSON.stringify(headers))
    }
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const answer = await service.call("GET", path, { key, headers: { "if-none-match": tag } })
      assert.deepStrictEqual([answer.status, answer.text, answer.headers["content-type"]], [304, "", undefined], tag)
    }
  })
})
