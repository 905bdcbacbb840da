/**
 * Rate windows, the address allowlist and verbs on the real service (doc 1, Authentication and Limits; A1-04, A1-05,
 * A1-08; SC-PLT-01..03).
 */
import { assert, describe, it } from "@effect/vitest"
import { get, onboard, partners, person } from "../support/Builders.ts"
import { type Answer, operator } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, partner } = await openScenario()

describe("platform", () => {
  const me = (key: string): Promise<Answer> => get(service, key, "/me")

  it("SC-PLT-02: the read and the trade window are apart, HEAD is a read, a refusal says when to come back", async () => {
    const own = await service.partner()
    await partners(service, (commands) => commands.limits(operator, own.code, { read: 3, trade: 2 }))
    const client = await onboard(service, own.key, person(1, "rate"))
    assert.strictEqual(client.status, 201)
    await get(service, own.key, "/me")
    await service.call("HEAD", "/partner/v1/me", { key: own.key })
    assert.strictEqual((await get(service, own.key, "/nowhere")).status, 404)
    const read = await get(service, own.key, "/me")
    assert.deepStrictEqual([read.status, read.json.code], [429, 4290])
    assert.match(String(read.headers["retry-after"]), /^([1-9]|[1-5][0-9]|60)$/)
    assert.strictEqual((await onboard(service, own.key, {})).status, 400)
    assert.strictEqual((await onboard(service, own.key, {})).status, 429)
    assert.strictEqual((await me(partner.key)).status, 200)
  })

  it("SC-PLT-01: an address outside the allowlist is answered as an unknown key is", async () => {
    const own = await service.partner()
    await partners(service, (commands) => commands.cidrs(operator, own.code, ["203.0.113.0/24"]))
    const [outside, unknown] = [await me(own.key), await me("pbk_unknown")]
    assert.deepStrictEqual([outside.status, outside.text], [unknown.status, unknown.text])
    assert.deepStrictEqual([outside.status, outside.json.code], [401, 4010])
    await partners(service, (commands) => commands.cidrs(operator, own.code, ["127.0.0.1", "203.0.113.0/24"]))
    assert.strictEqual((await me(own.key)).status, 200)
  })

  it.each(["OPTIONS", "PATCH", "TRACE"])("SC-PLT-03: %s answers 404 4004", async (method) => {
    const { status, json } = await service.call(method, "/partner/v1/me", { key: partner.key })
    assert.deepStrictEqual([status, json.code], [404, 4004])
  })
})
