/**
 * Migration 0020 over what the version before left behind: packages of persons who were refused for good (D1, D2), and
 * deposits of assets without a value (F25).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import { m0020 } from "../../src/runtime/migrations/0020_ended.ts"
import { Lifecycle } from "../../src/runtime/services/lifecycle/Lifecycle.ts"
import { brokenInvariants, get, ofClient, onboard, person, query } from "../support/Builders.ts"
import { operator, type Service, startService } from "../support/Service.ts"
import { testSealing } from "./engine/fixtures.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"

describe("migration 0020", () => {
  let database: TestDatabase
  let service: Service
  let key: string
  beforeAll(async () => {
    database = await makeTestDatabase()
    service = await startService({ database: { url: database.url, sealing: testSealing } })
    key = (await service.partner()).key
  })
  afterAll(async () => {
    await service.stop()
    await database.drop()
  })

  const held = async (n: number) => {
    const { json } = await onboard(service, key, person(n, "ended", { "attestation.riskRating": "HIGH" }))
    return json.data.clientId as number
  }
  const file = async (clientId: number) => (await get(service, key, `/clients/${clientId}/kyc`)).json.data
  const refuse = (clientId: number) =>
    service.run(
      Effect.provide(
        Lifecycle.use((decisions) => decisions.rejectPerson(operator, String(clientId), "forged")),
        Lifecycle.layer
      )
    )

  it("D2: the package of a refused person is REJECTED like those of this version; a held client's stays", async () => {
    // The person that is refused here must be no other test's: a refused person is known by names and birth date (A1-28).
    const [refused, waiting] = [await held(71), await held(72)]
    await refuse(refused)
    const { reviewedBy, reviewedAt, ...expected } = await file(refused)
    assert.deepStrictEqual([reviewedBy, typeof reviewedAt], ["ADMIN", "number"])
    // As the version before left it.
    await query(
      service,
      `UPDATE kyc_packages SET state = 'SPOT_CHECK', version = '1',
         context = (context::jsonb || '{"reviewedBy": null, "reviewedAt": null, "reviewNote": null}')::json
        WHERE client_id = $1`,
      [BigInt(refused)]
    )
    await service.run(m0020)
    await service.stop()
    service = await startService({ database: { url: database.url, sealing: testSealing } })
    assert.deepStrictEqual(await file(refused), { ...expected, reviewedBy: null, reviewedAt: null })
    assert.strictEqual((await file(waiting)).status, "SPOT_CHECK")
    assert.deepStrictEqual(await brokenInvariants(service), [])
  })

  it("F25: each booked deposit of an asset without a value counts as reaching the threshold from now on", async () => {
    const firm = await service.partner({ code: "COINS", custody: "BROKER", collateralAsset: "", sandbox: true })
    const clientId = await service.client(firm.key)
    const send = (method: string, path: string, body: object) =>
      service.call(method, `/partner/v1/clients/${clientId}${path}`, { key: firm.key, body })
    assert.strictEqual((await send("PUT", "/mifid", sampleMifid())).status, 200)
    for (const [currency, amount] of [
      ["BTC", "2"],
      ["BTC", "0.1"],
      ["EUR", "1.50"]
    ]) {
      const filed = await send("POST", "/deposits", { partnerRef: `${currency} ${amount}`, currency, amount })
      assert.strictEqual(filed.json.data.status, "CONFIRMED", filed.text)
    }
    const deposited = async () =>
      (await ofClient(service, "balances", clientId)).map(({ currency, deposited }) => `${currency} ${deposited}`)
    const booked = ["BTC 30000000000", "EUR 1500000"]
    assert.deepStrictEqual(await deposited(), booked)
    await query(service, "UPDATE balances SET deposited = 0 WHERE currency = 'BTC'")
    await service.run(m0020)
    assert.deepStrictEqual(await deposited(), booked)
    assert.deepStrictEqual(await brokenInvariants(service), [])
  })
})
