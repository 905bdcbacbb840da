/**
 * Interfirm records and changes of custody are in the chain of seals: no change, addition or deletion stays undetected
 * (A3-45).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { verifyLedger } from "../../src/runtime/ledger/verify.ts"
import { Interfirm } from "../../src/runtime/services/money/settlement/Interfirm.ts"
import { brokenInvariants, partners, query } from "../support/Builders.ts"
import { operator, type Service, startService } from "../support/Service.ts"

let service: Service
beforeAll(async () => {
  service = await startService()
  const partner = await service.partner({ sandbox: false })
  const { code } = (await query<{ code: string }>(service, "SELECT code FROM partners"))[0] as { code: string }
  await service.client(partner.key)
  for (const [txRef, amount] of [
    ["wire 1", "5"],
    ["wire 2", "-5"]
  ] as const) {
    const verdict = await service.run(
      Effect.provide(
        Interfirm.use((books) =>
          books.record(operator, code, { amount, periodFrom: 0, periodTo: 1, txRef, note: "first" })
        ),
        Interfirm.layer
      )
    )
    assert.isTrue(verdict.ok)
  }
  const changed = await partners(service, (commands) =>
    commands.custody(operator, code, { custody: "BROKER", reason: "agreed" })
  )
  assert.isTrue(changed.ok)
  for (const table of ["interfirm_records", "custody_changes", "seals"])
    await query(service, `ALTER TABLE ${table} DISABLE TRIGGER USER`)
})
afterAll(() => service.stop())

const plants = [
  ["an altered amount", "UPDATE interfirm_records SET amount = amount + 1 WHERE tx_ref = 'wire 1'"],
  ["an altered model", "UPDATE custody_changes SET collateral_asset = collateral_asset || 'x'"],
  ["a record taken away", "DELETE FROM interfirm_records WHERE tx_ref = 'wire 2'"],
  [
    "a record added",
    "INSERT INTO interfirm_records SELECT 999999999, partner_id, currency, period_from, period_to, amount, 'wire 3', note, recorded_by, recorded_at FROM interfirm_records LIMIT 1"
  ]
] as const

/** Verifies with a planted break, and removes the plant. */
const withPlant = async (plant: string): Promise<ReadonlyArray<string>> => {
  const tables = ["interfirm_records", "custody_changes"]
  for (const table of tables) await query(service, `CREATE TABLE kept_${table} AS SELECT * FROM ${table}`)
  await query(service, plant)
  const report = await service.run(verifyLedger)
  for (const table of tables) {
    await query(service, `DELETE FROM ${table}`)
    await query(service, `INSERT INTO ${table} SELECT * FROM kept_${table}`)
    await query(service, `DROP TABLE kept_${table}`)
  }
  return report.checks.filter(({ ok, name }) => !ok && /seal|chain/.test(name)).map(({ name }) => name)
}

describe("A3-45: the chain over interfirm records and changes of custody", () => {
  it.each(plants.map(([what, plant]) => ({ what, plant })))("is broken by $what", async ({ plant }) => {
    assert.lengthOf(await withPlant(plant), 1)
    assert.deepStrictEqual(await brokenInvariants(service), [])
  })
})
