/**
 * A stale price opens no position, releases no money and begins no close-out (F3, F18, A2-14): a request, a preview and
 * an accept are refused with the same sentence, and closing stays possible.
 */
import { assert, describe, it } from "@effect/vitest"
import { advance, get, ofClient } from "../support/Builders.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { contractVenue } from "../support/contractVenue.ts"
import { progressOn, quickClock } from "../support/quickClock.ts"
import { openScenario } from "../support/Scenario.ts"

const world = contractVenue()
/** The interval of checks of the risk monitor, ms. */
const betweenLooks = 1_000
const clock = quickClock()
const { service, key, call, report, adjust, rowOf } = await openScenario({
  layerVenue: world.layerVenue,
  venue: { progress: progressOn(clock) }
})
const { trader, rfqBody, post, until, poll } = contractSteps(service, key, { call, report })
/** No mark is live at this age, ms. */
const tooOld = 10_001
/** The venue publishes no more prices, and its published marks become too old. */
const silenced = async (): Promise<void> => {
  world.freeze()
  await advance(service, tooOld)
}
/** The venue publishes prices again, with the service's time. */
const heardAgain = (): void => {
  world.freeze(false)
  world.leap(tooOld)
}
const stale = "The market has no live price at the moment: try again shortly."

const unjudged = "The margin of the client's open positions can not be judged without live prices: try again shortly."

const opened = async (clientId: number): Promise<number> => {
  const { rfqId } = (await post(clientId, "/rfq", rfqBody())).json.data
  world.quote(rfqId, "60000")
  return (await until(clientId, rfqId, (rfq) => rfq.state === "ACCEPTED")).contractId
}
const contractsOf = async (clientId: number, state: "open" | "history") =>
  (await get(service, key, `/clients/${clientId}/barriers?state=${state}`)).json.data.barriers

describe("F3: a mark that is older than ten seconds", () => {
  it("F18: no position is opened, and an open one can be closed on request", async () => {
    const clientId = await trader()
    const contractId = await opened(clientId)
    const { rfqId } = (await post(clientId, "/rfq", rfqBody({ autoAccept: false }))).json.data
    const quoteId = world.quote(rfqId, "60000")
    await silenced()
    const preview = await poll(
      async () => (await post(clientId, "/rfq/preview", rfqBody())).json.data,
      ({ accepted }) => accepted === false
    )
    assert.strictEqual(preview.reason, stale)
    const refused = await post(clientId, "/rfq", rfqBody())
    assert.deepStrictEqual([refused.status, refused.json.msg], [400, stale])
    const accepted = await post(clientId, `/rfq/${rfqId}/accept`, { quoteId })
    assert.deepStrictEqual([accepted.status, accepted.json.msg], [400, stale])
    const unheard = await post(clientId, `/rfq/${rfqId}/accept`, { quoteId: quoteId + 1_000 })
    assert.deepStrictEqual([unheard.status, unheard.json.msg], [400, stale], "the market comes before the quote")
    const out = await report(clientId, { direction: "WITHDRAWAL", amount: "1.00" })
    assert.deepStrictEqual([out.status, out.json.data.report.refusal], [409, unjudged], out.text)
    const closing = await post(clientId, `/barriers/${contractId}/close`, {})
    assert.strictEqual(closing.status, 200, closing.text)
    heardAgain()
    await poll(
      async () => (await post(clientId, "/rfq/preview", rfqBody())).json.data,
      ({ accepted: taken }) => taken
    )
  }, 30_000)

  it("no close-out begins: the account gets a margin call, and its contract stays, until there is a price again", async () => {
    const clientId = await trader()
    const contractId = await opened(clientId)
    const picture = async () => (await get(service, key, `/clients/${clientId}/margin`)).json
    await silenced()
    await poll(picture, ({ marksFresh }) => marksFresh === false)
    await adjust(clientId, "-950")
    assert.strictEqual((await picture()).riskState, "CLOSE_OUT")
    await clock.rounds(betweenLooks, 3)
    assert.deepInclude(await rowOf(clientId), { riskState: "MARGIN_CALL", lifecycleState: "ACTIVE" })
    assert.deepStrictEqual(await ofClient(service, "closeOuts", clientId), [])
    assert.strictEqual((await contractsOf(clientId, "open"))[0].contractId, contractId)
    heardAgain()
    const [ended] = await poll(
      () => contractsOf(clientId, "history"),
      ({ length }) => length === 1
    )
    assert.deepInclude(ended, { contractId, state: "TORN_UP", settlePrice: "60000.0", pnl: "0.000000" })
  }, 40_000)
})
