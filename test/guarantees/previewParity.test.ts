/**
 * A preview predicts the result of the following request, to the last decimal place, and so does explain (A2-28,
 * A2-110), for every request on accounts of every size.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { contractSteps } from "../support/contractSteps.ts"
import { contractVenue } from "../support/contractVenue.ts"
import { openScenario } from "../support/Scenario.ts"

const world = contractVenue()
const { service, key, call, report } = await openScenario({ layerVenue: world.layerVenue })
const { trader, rfqBody, post } = contractSteps(service, key, { call, report })

const price = (from: number, to: number) =>
  fc.integer({ min: from * 10, max: to * 10 }).map((ticks) => (ticks / 10).toFixed(1))
const request = fc.record(
  {
    side: fc.constantFrom("BUY", "SELL"),
    qty: fc.integer({ min: 1, max: 8_000 }).map((lots) => (lots / 10_000).toFixed(4)),
    "barrier.level": price(57_000, 63_000),
    "barrier.takeProfit": price(57_000, 66_000)
  },
  { requiredKeys: ["side", "qty", "barrier.level"] }
)

describe("A2-28: preview and request", () => {
  it("agree in verdict, sentence and figures, and explain shows the same gate", async () => {
    const clientId = await trader("2000.00")
    let taken = 0
    await fc.assert(
      fc.asyncProperty(request, async (paths) => {
        const body = rfqBody({ ...paths, autoAccept: false })
        const preview = await post(clientId, "/rfq/preview", body)
        const explained = (await post(clientId, "/rfq/explain", body)).json.data
        const answer = await post(clientId, "/rfq", body)
        assert.strictEqual(explained.outcome, answer.status === 200 ? "ACCEPTED" : "REFUSED")
        if (preview.status !== 200) {
          assert.deepStrictEqual([answer.status, answer.json.msg], [preview.status, preview.json.msg])
          return
        }
        const { accepted, reason, premium, estimatedCommission, impliedLeverage, potentialProfit } = preview.json.data
        assert.strictEqual(answer.status, accepted ? 200 : 400, answer.text)
        if (!accepted) return assert.deepStrictEqual([answer.json.msg, explained.sentence], [reason, reason])
        taken++
        assert.deepInclude(answer.json.data, {
          maxLossAtRequest: premium,
          commission: estimatedCommission,
          impliedLeverage,
          potentialProfit
        })
        const { rfqId } = answer.json.data
        assert.strictEqual((await post(clientId, `/rfq/${rfqId}/cancel`, {})).status, 200)
      }),
      { numRuns: 40 }
    )
    assert.isAbove(taken, 0)
  }, 60_000)
})
