/**
 * PENDING deposit notices after their mailbox left memory: they are loaded again with the client, so that finance can
 * decide them and the threshold still counts them (D9; F25).
 */
import { assert, describe, it } from "@effect/vitest"
import { Deposits } from "../../src/runtime/services/money/deposit/Deposits.ts"
import { get } from "../support/Builders.ts"
import { operator } from "../support/Service.ts"
import { broker, openScenario } from "../support/Scenario.ts"

const { service, partner, fresh } = await openScenario({ settings: { residentClients: 1 }, partner: broker })

describe("deposits, reloaded", () => {
  const file = (clientId: number, amount: string) =>
    service.call("POST", `/partner/v1/clients/${clientId}/deposits`, {
      key: partner.key,
      body: { partnerRef: fresh(), currency: "USDC", amount }
    })
  /** More clients than memory holds, so that every earlier client is evicted. */
  const crowdOut = async () => {
    for (let n = 0; n < 4; n++) await service.client(partner.key)
  }

  it("F25, D9: PENDING counts and is decided after a reload; decided, it is not loaded again", async () => {
    const clientId = await service.client(partner.key)
    const { noticeId } = (await file(clientId, "14999.999999")).json.data
    await crowdOut()
    assert.strictEqual((await file(clientId, "0.000001")).status, 403)
    await crowdOut()
    const confirmed = await service.run(Deposits.use((deposits) => deposits.confirm(operator, noticeId, null)))
    assert.isTrue(confirmed.ok)
    await crowdOut()
    const again = await service.run(Deposits.use((deposits) => deposits.confirm(operator, noticeId, null)))
    assert.deepStrictEqual(again, confirmed)
    assert.strictEqual((await file(clientId, "0.000001")).status, 403)
    const { balances } = (await get(service, partner.key, `/clients/${clientId}/balances`)).json
    assert.strictEqual(balances[0].cash, "14999.999999")
  })
})
