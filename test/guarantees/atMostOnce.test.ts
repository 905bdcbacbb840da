/**
 * At most one execution per Idempotency-Key and per unique reference, and the same bytes for every retry (doc 1,
 * Idempotency; A1-51..A1-53; doc 3, partnerRef), on real sockets and a real database.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Answer } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key, client, cash } = await openScenario()
const clientId = await client()

describe("at most once", () => {
  const collateral = (partnerRef: string, idempotencyKey: string | null, extra: object = {}): Promise<Answer> =>
    service.call("POST", `/partner/v1/clients/${clientId}/collateral`, {
      key,
      body: { partnerRef, direction: "DEPOSIT", amount: "1.00", ...extra },
      headers: idempotencyKey === null ? {} : { "idempotency-key": idempotencyKey }
    })
  const reportsOf = async (partnerRef: string): Promise<number> => {
    const page = await service.call("GET", `/partner/v1/clients/${clientId}/collateral?limit=200`, { key })
    return page.json.data.reports.filter((report: { partnerRef: string }) => report.partnerRef === partnerRef).length
  }

  it("40 requests with one key are one execution and the same bytes", async () => {
    const before = await cash(clientId)
    const answers = await Promise.all(Array.from({ length: 40 }, () => collateral("same-key", "key-1")))
    assert.strictEqual(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size, 1)
    assert.strictEqual(answers[0]?.status, 201)
    assert.strictEqual(answers.filter((answer) => answer.headers["idempotency-replayed"] === "true").length, 39)
    assert.strictEqual(await reportsOf("same-key"), 1)
    assert.strictEqual(Number(await cash(clientId)) - Number(before), 1)
  })

  it("refusals replay too, even when their reason no longer holds", async () => {
    const first = await collateral("too-much", "key-2", { direction: "WITHDRAWAL", amount: "900.00" })
    assert.strictEqual(first.status, 409)
    assert.strictEqual(first.json.data.status, "REFUSED")
    await collateral("funds", "key-3", { amount: "1000.00" })
    const again = await collateral("too-much", "key-2", { direction: "WITHDRAWAL", amount: "900.00" })
    assert.deepStrictEqual([again.status, again.text], [first.status, first.text])
    const invalid = await collateral("", "key-4")
    const invalidAgain = await collateral("", "key-4")
    assert.strictEqual(invalid.status, 400)
    assert.deepStrictEqual([invalidAgain.status, invalidAgain.text], [invalid.status, invalid.text])
  })

  it("a key reused for another request is a conflict and changes nothing", async () => {
    await collateral("mine", "key-5")
    const before = await cash(clientId)
    const other = await collateral("other", "key-5")
    assert.deepStrictEqual([other.status, other.json.code], [409, 4092])
    assert.strictEqual(await reportsOf("other"), 0)
    assert.strictEqual(await cash(clientId), before)
  })

  it("40 requests with one partnerRef and no key book once", async () => {
    const before = await cash(clientId)
    const answers = await Promise.all(Array.from({ length: 40 }, () => collateral("same-ref", null)))
    assert.deepStrictEqual([...new Set(answers.map((answer) => answer.status))].sort(), [200, 201])
    assert.strictEqual(answers.filter((answer) => answer.status === 201).length, 1)
    assert.strictEqual(await reportsOf("same-ref"), 1)
    assert.strictEqual(Number(await cash(clientId)) - Number(before), 1)
  })
})
