/**
 * A take is executed once, however often it is requested, and takes money once; a writer's payment is booked once,
 * however often the venue reports it (D8; STS-2, STS-3; A1-51, A1-53). Kills of the processes are in
 * test/crash/stakingFaultCrash.test.ts.
 */
import { assert, describe, it } from "@effect/vitest"
import { ofClient } from "../support/Builders.ts"
import { answerWithin, progressOn, quickClock } from "../support/quickClock.ts"
import { openScenario } from "../support/Scenario.ts"
import { stakingSteps, stakingVenue } from "../support/stakingSteps.ts"
import { holdVenueBooks } from "../support/venueBooks.ts"

const world = stakingVenue()
/** The service queries the outcome of a call once before a test ends the wait of a route. */
const routes = quickClock()
const steps = await openScenario({
  layerVenue: world.layerVenue,
  clock: world.clock,
  venue: { progress: progressOn(routes) }
})
const { service, key } = steps
holdVenueBooks(service, () => world.venue.ledger())
const { lender, offered, take, taken, until, held, read, poll } = stakingSteps(service, key, world, steps)

const statesOf = async (clientId: number) => (await ofClient(service, "swaps", clientId)).map(({ state }) => state)
const postedOf = async (clientId: number, wanted: string) =>
  (await read(clientId, "/ledger?limit=500")).data.postings.filter(({ type }: { type: string }) => type === wanted)

describe("D8: a take is made once", () => {
  it("twenty concurrent requests under one key make one swap, and all are answered with it", async () => {
    const anna = await lender()
    const offerId = await offered("ETH-SWAP")
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => take(anna, offerId, "10", { "idempotency-key": "take-once" }))
    )
    const [first] = answers
    for (const { status, text } of answers) {
      if (status === 409) continue
      assert.deepStrictEqual([status, text], [200, first?.text])
    }
    assert.deepStrictEqual(await statesOf(anna), ["OPEN"])
    assert.strictEqual((await postedOf(anna, "SWAP_PRINCIPAL")).length, 1)
    const other = await take(anna, offerId, "11", { "idempotency-key": "take-once" })
    assert.strictEqual(other.status, 409, other.text)
  }, 60_000)

  it("concurrent takes from one balance never reserve more than it has", async () => {
    const anna = await lender({ eth: "25" })
    const offerId = await offered("ETH-SWAP")
    const answers = await Promise.all(Array.from({ length: 6 }, () => take(anna, offerId, "10")))
    assert.deepStrictEqual(
      answers.map(({ status }) => status).toSorted((one, another) => one - another),
      [200, 200, 400, 400, 400, 400]
    )
    assert.deepStrictEqual(await held(anna, "ETH"), ["4.99000000", "0.00000000"])
    assert.deepStrictEqual(await statesOf(anna), ["OPEN", "OPEN"])
  }, 60_000)

  it("a timeout releases no reserve: the same money can't be taken again while the outcome is unknown", async () => {
    const anna = await lender({ eth: "15" })
    const offerId = await offered("ETH-SWAP")
    world.failing((asked) => (asked === "takeOffer" || asked === "voidRefs" ? { lost: "before" } : {}))
    const asked = await routes.after(world.requested("voidRefs"), answerWithin, take(anna, offerId, "10"))
    assert.strictEqual(asked.status, 502, asked.text)
    const again = await take(anna, offerId, "10").finally(() => world.failing(() => ({})))
    assert.deepStrictEqual([again.status, again.json.code], [400, 4000], again.text)
    assert.deepStrictEqual(await held(anna, "ETH"), ["4.99500000", "10.00500000"])
    await poll(
      () => ofClient(service, "venueCalls", anna),
      ({ length }) => length === 0
    )
    assert.deepStrictEqual(await statesOf(anna), ["ACCEPTING"])
  }, 60_000)
})

describe("D8: a writer's payment is booked once", () => {
  it("with every event doubled and out of order, each payment is booked once, principal first and one share of the reward", async () => {
    const anna = await lender()
    const { swapId, contractId } = await taken(anna, "ETH-SWAP", "10")
    world.delivering(() => [30, 0, 15, 0])
    for (let n = 0; n < 20; n++) world.pay(contractId, "0.5")
    await until(anna, swapId, ({ paid }) => paid === "10.00000000")
    assert.strictEqual((await postedOf(anna, "COMMISSION")).length, 0)
    world.pay(contractId)
    const matured = await until(anna, swapId, ({ state }) => state === "MATURED")
    world.delivering(() => [0])
    assert.strictEqual(matured.paid, matured.expectedPayout)
    const settled = await postedOf(anna, "SWAP_SETTLE")
    assert.strictEqual(settled.length, 21)
    assert.strictEqual(new Set(settled.map(({ refs }: { refs: { paymentId: number } }) => refs.paymentId)).size, 21)
    const commissions = await postedOf(anna, "COMMISSION")
    assert.deepStrictEqual(
      commissions.map(({ amount }: { amount: string }) => amount),
      ["-0.00076712"]
    )
    const notices = (await ofClient(service, "notifications", anna)).filter(({ kind }) => kind === "SWAP_SETTLED")
    assert.strictEqual(notices.length, 1)
  }, 60_000)
})
