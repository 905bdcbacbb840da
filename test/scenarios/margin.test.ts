/** The margin of an account with knock-out contracts, on the marks of the moment (doc 2, Margin picture; F4, F7, F16). */
import { assert, describe, it } from "@effect/vitest"
import { get } from "../support/Builders.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { contractVenue } from "../support/contractVenue.ts"
import { openScenario, openService } from "../support/Scenario.ts"
import { startService } from "../support/Service.ts"

const world = contractVenue()
const { service, key, call, report } = await openScenario({ layerVenue: world.layerVenue })
const { trader, rfqBody, post, until, poll } = contractSteps(service, key, { call, report })
const unattached = await openService(startService)

const picture = async (clientId: number) => (await get(service, key, `/clients/${clientId}/margin`)).json

describe("the margin picture", () => {
  it("F7: profits of contracts are equity and no margin; losses use the premium up", async () => {
    const clientId = await trader()
    assert.deepInclude(await picture(clientId), {
      equity: "1000.000000",
      freeMargin: "1000.000000",
      marginLevel: null,
      marksFresh: true
    })
    const { rfqId } = (await post(clientId, "/rfq", rfqBody())).json.data
    world.quote(rfqId, "60000")
    await until(clientId, rfqId, (rfq) => rfq.state === "ACCEPTED")
    const at = async (price: string, pnl: string) => {
      world.price(price)
      return poll(
        () => picture(clientId),
        ({ barrierUnrealizedPnl }) => barrierUnrealizedPnl === pnl
      )
    }
    assert.deepInclude(await at("61000", "100.000000"), {
      cash: "998.800000",
      equity: "1098.800000",
      closeOutEquity: "998.800000",
      barrierMargin: "190.000000",
      freeMargin: "808.800000",
      marginLevel: "525.68",
      barriers: 1,
      pendingAcceptMargin: "0.000000"
    })
    assert.deepInclude(await at("59000", "-100.000000"), {
      equity: "898.800000",
      closeOutEquity: "898.800000",
      barrierMargin: "90.000000",
      freeMargin: "808.800000",
      riskState: "NORMAL"
    })
    world.price("60000")
  })

  it("is visible to no other partner, and absent without a venue", async () => {
    const clientId = await trader()
    const other = await service.partner()
    assert.strictEqual((await get(service, other.key, `/clients/${clientId}/margin`)).status, 404)
    const partner = await unattached.partner()
    const alone = await unattached.client(partner.key)
    const { status, json } = await get(unattached, partner.key, `/clients/${alone}/margin`)
    assert.deepStrictEqual([status, json.code], [503, 5030])
  })
})
