/**
 * Answers stored before there were principals of several kinds are replayed under the migrated schema: to their partner,
 * and to nobody else with the same key (doc 1, Idempotency; A1-51, A1-52).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { m0021 } from "../../src/runtime/migrations/0021_answer_principals.ts"
import { brokenInvariants, collateral, query } from "../support/Builders.ts"
import { type Answer, type Service, startService } from "../support/Service.ts"

const lives: Array<Service> = []
const service = (): Service => lives.at(-1) as Service

/** The table as version 0019 left it. */
const asBefore = async (life: Service): Promise<void> => {
  await query(life, "ALTER TABLE answers RENAME COLUMN principal TO partner_id")
  await query(life, "ALTER TABLE answers ALTER COLUMN partner_id TYPE bigint USING substr(partner_id, 9)::bigint")
}

describe("migration 0021", () => {
  beforeAll(async () => void lives.push(await startService()))
  afterAll(async () => {
    assert.deepStrictEqual(await brokenInvariants(service()), [])
    for (const life of lives.toReversed()) await life.stop()
  })

  it("A1-51: what a partner was answered before is replayed to it byte for byte, and its key is free to others", async () => {
    const [one, two] = [await service().partner(), await service().partner()]
    const clients = [await service().client(one.key), await service().client(two.key)] as const
    const body = { partnerRef: "before", direction: "DEPOSIT", amount: "5" }
    const send = (key: string, clientId: number): Promise<Answer> =>
      collateral(service(), key, clientId, body, { "idempotency-key": "shared" })
    const first = await send(one.key, clients[0])
    assert.strictEqual(first.status, 201)

    await asBefore(service())
    await service().run(m0021)
    assert.deepStrictEqual(await query(service(), "SELECT principal, key FROM answers WHERE key = 'shared'"), [
      { principal: `partner:${one.partnerId}`, key: "shared" }
    ])
    lives.push(await startService({ database: service().database }))

    const again = await send(one.key, clients[0])
    assert.deepStrictEqual([again.status, again.text, again.headers["idempotency-replayed"]], [201, first.text, "true"])
    const other = await send(two.key, clients[1])
    assert.deepStrictEqual([other.status, other.headers["idempotency-replayed"]], [201, undefined])
    assert.notStrictEqual(other.text, first.text)
  })
})
