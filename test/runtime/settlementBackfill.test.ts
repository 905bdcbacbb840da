/**
 * The migration that gives older corrections their settlement items makes exactly what the service would have made: the
 * items of a running service are thrown away and made again by the migration alone (F28; doc 3, Settlement item).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { m0006 } from "../../src/runtime/migrations/0006_settlement.ts"
import { Adjustments } from "../../src/runtime/services/money/ledger/Adjustments.ts"
import { brokenInvariants, collateral, query, rowsOf } from "../support/Builders.ts"
import { operator, type Service, startService } from "../support/Service.ts"

describe("migration 0006", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.stop())

  const adjust = (clientId: number, amount: string, currency = "USDC", reference?: string) =>
    service.run(
      Effect.flatMap(Adjustments, (adjustments) =>
        adjustments.adjust(operator, String(clientId), {
          currency,
          amount,
          reason: "test",
          ...(reference === undefined ? {} : { reference })
        })
      ).pipe(Effect.provide(Adjustments.layer))
    )
  const made = async () =>
    (await rowsOf(service, "settlementItems")).map(({ id, context, ...row }) => {
      assert.strictEqual(context["itemId"], id)
      return { ...row, context: { ...context, itemId: 0 } }
    })

  it("F28: makes the same items as the service, in the order of the postings, and no others", async () => {
    const [one, two] = [await service.partner(), await service.partner()]
    const broker = await service.partner({ custody: "BROKER", collateralAsset: "" })
    const clients = [await service.client(one.key), await service.client(one.key), await service.client(two.key)]
    const amounts = ["0.000001", "12345678.9", "-0.5", "7", "-12345678.400001", "1000000"]
    for (const amount of amounts) await adjust(clients[0] as number, amount, "USDC", `ref ${amount} ä"`)
    for (const clientId of clients) {
      await adjust(clientId, "10")
      await adjust(clientId, "3.5", "EUR")
    }
    await adjust(await service.client(broker.key), "99")
    await collateral(service, one.key, clients[1] as number, { partnerRef: "in", direction: "DEPOSIT", amount: "4" })
    const live = await made()
    assert.lengthOf(live, amounts.length + clients.length)
    await query(service, "DROP TABLE settlement_items")
    await service.run(m0006)
    assert.deepStrictEqual(await made(), live)
    assert.deepStrictEqual(await brokenInvariants(service), [])
  })
})
