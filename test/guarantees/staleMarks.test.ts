/**
 * A price that nobody hears any more opens nothing and lets no money out (F3, F18, A2-14): a request, a preview and an accept
 * are refused in the same words; closing stays open.
 */
import { assert, describe, it } from "@effect/vitest"
import { barrierSteps } from "../support/barrierSteps.ts"
import { barrierVenue } from "../support/barrierVenue.ts"
import { openScenario } from "../support/Scenario.ts"

const world = barrierVenue()
const { service, key, call, report } = await openScenario({ layerVenue: world.layerVenue })
const { trader, asked, post, until, looking } = barrierSteps(service, key, { call, report })
const stale = "The market has no live price at the moment: try again shortly."

describe("F3: a mark that is older than ten seconds", () => {
  it("F18: nothing new is opened, and what is open can be asked to close", async () => {
    const clientId = await trader()
    const first = (await post(clientId, "/rfq", asked())).json.data
    world.quote(first.rfqId, "60000")
    const { contractId } = await until(clientId, first.rfqId, (rfq) => rfq.state === "ACCEPTED")
    const { rfqId } = (await post(clientId, "/rfq", asked({ autoAccept: false }))).json.data
    const quoteId = world.quote(rfqId, "60000")
    world.freeze()
    const preview = await looking(
      async () => (await post(clientId, "/rfq/preview", asked())).json.data,
      ({ accepted }) => accepted === false
    )
    assert.strictEqual(preview.reason, stale)
    const refused = await post(clientId, "/rfq", asked())
    assert.deepStrictEqual([refused.status, refused.json.msg], [400, stale])
    const accepted = await post(clientId, `/rfq/${rfqId}/accept`, { quoteId })
    assert.deepStrictEqual([accepted.status, accepted.json.msg], [400, stale])
    const out = await report(clientId, { direction: "WITHDRAWAL", amount: "1.00" })
    assert.strictEqual(out.status, 409, out.text)
    const closing = await post(clientId, `/barriers/${contractId}/close`, {})
    assert.strictEqual(closing.status, 200, closing.text)
  }, 30_000)
})
