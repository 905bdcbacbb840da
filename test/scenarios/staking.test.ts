/**
 * Staking swaps over HTTP at the simulated venue, from the take to the writer's last payment (doc 2, Staking; D8; F22;
 * STS-1, STS-2, STS-3, STS-4, STS-6, STS-7, STS-8; A2-57, A2-59; SC-STK-02..09). The plain course of payments is
 * SC-STK-01 of the YAML scenarios.
 */
import { assert, describe, it } from "@effect/vitest"
import { notReached, ofClient, rowCounts } from "../support/Builders.ts"
import { openScenario } from "../support/Scenario.ts"
import { stakingSteps, stakingVenue } from "../support/stakingSteps.ts"
import { holdVenueBooks } from "../support/venueBooks.ts"

const day = 86_400_000
const world = stakingVenue()
const steps = await openScenario({ layerVenue: world.layerVenue, clock: world.clock })
const { service, key, call } = steps
holdVenueBooks(service, () => world.venue.ledger())
const { lender, offered, take, taken, until, later, held, read, swap, writeOff, poll } = stakingSteps(
  service,
  key,
  world,
  steps
)

const noticed = async (clientId: number) =>
  (await ofClient(service, "notifications", clientId)).map(({ kind }) => kind).filter((kind) => kind.startsWith("SWAP"))
const posted = async (clientId: number) =>
  (await read(clientId, "/ledger")).data.postings
    .filter(({ type }: { type: string }) => /^SWAP|^COMMISSION/.test(type))
    .map(({ type, kind, amount }: { type: string; kind: string; amount: string }) => `${type} ${kind} ${amount}`)
    .toReversed()

describe("a staking swap", () => {
  it("SC-STK-02, SC-STK-03: a writer who falls short leaves a claim, and two late payments cure it with one share of the reward", async () => {
    const anna = await lender()
    const { swapId, contractId, openedTs, maturityTs } = await taken(anna, "ETH-SWAP", "10")
    assert.strictEqual(maturityTs, openedTs + 7 * day)
    world.defaulting(1)
    await later(7 * day)
    const short = await until(anna, swapId, ({ state }) => state === "DEFAULTED")
    assert.deepInclude(short, { claim: "10.00767123", settleReason: "default", closedTs: null })
    assert.deepStrictEqual(await noticed(anna), ["SWAP_DEFAULTED"])
    world.pay(contractId, "4")
    const part = await until(anna, swapId, ({ paid }) => paid === "4.00000000")
    assert.deepInclude(part, { state: "DEFAULTED", claim: "6.00767123", recovered: "4.00000000" })
    world.pay(contractId)
    const cured = await until(anna, swapId, ({ state }) => state === "CURED")
    assert.deepInclude(cured, { commission: "0.00076712", recovered: "10.00767123", settleReason: "cured" })
    assert.deepStrictEqual(await noticed(anna), ["SWAP_DEFAULTED", "SWAP_SETTLED"])
    assert.strictEqual((await posted(anna)).filter((line: string) => line.startsWith("COMMISSION")).length, 1)
  }, 60_000)

  it("SC-STK-04: a write-off lowers the claim, the last one closes it; later money undoes it first", async () => {
    const anna = await lender()
    const { swapId, contractId } = await taken(anna, "ETH-SWAP", "10")
    world.defaulting(1)
    await later(7 * day)
    await until(anna, swapId, ({ state }) => state === "DEFAULTED")
    const part = await writeOff(swapId, "1.00767123")
    assert.deepInclude(part, { state: "DEFAULTED", claim: "9.00000000", writtenOff: "1.00767123", closedTs: null })
    const whole = await writeOff(swapId, "9")
    assert.deepInclude(whole, { state: "DEFAULTED", claim: "0.00000000", writtenOff: "10.00767123" })
    assert.isNotNull(whole.closedTs)
    world.pay(contractId, "10.005")
    const late = await until(anna, swapId, ({ paid }) => paid === "10.00500000")
    assert.deepInclude(late, {
      state: "DEFAULTED",
      writtenOff: "0.00267123",
      claim: "0.00000000",
      commission: "0.00050000"
    })
    world.pay(contractId)
    const cured = await until(anna, swapId, ({ state }) => state === "CURED")
    assert.deepInclude(cured, { writtenOff: "0.00000000", commission: "0.00076712" })
  }, 60_000)

  it("SC-STK-07: the venue corrects its fee, once each time", async () => {
    const anna = await lender()
    const { swapId, contractId } = await taken(anna, "ETH-SWAP", "10")
    world.correctFee(contractId, "0.004")
    await until(anna, swapId, ({ fee }) => fee === "0.00400000")
    world.correctFee(contractId, "0.006")
    await until(anna, swapId, ({ fee }) => fee === "0.00600000")
    assert.deepStrictEqual((await posted(anna)).slice(-2), [
      "SWAP_FEE_ADJUST cash 0.00100000",
      "SWAP_FEE_ADJUST cash -0.00200000"
    ])
  }, 60_000)

  it("SC-STK-06: an offer that others have taken answers 400 with its rest, an ended one 404", async () => {
    const [anna, ben] = [await lender(), await lender()]
    const offerId = await offered("ETH-SWAP", { qty: "12" })
    assert.strictEqual((await take(anna, offerId, "10")).status, 200)
    const more = await take(ben, offerId, "5")
    assert.deepStrictEqual([more.status, more.json.code], [400, 4000], more.text)
    assert.deepInclude(more.json.data ?? {}, { state: "REJECTED", rejectReason: "quantity not left" })
    assert.deepStrictEqual(await held(ben, "ETH"), ["20.00000000", "0.00000000"])
    const gone = await take(ben, 999_999, "1")
    assert.deepStrictEqual([gone.status, gone.json.code], [404, 4004], gone.text)
  }, 60_000)

  it("SC-STK-09: USDC is taken out of the lesser of cash and free margin", async () => {
    const anna = await lender({ usdc: "1000.00", eth: "0" })
    const before = await rowCounts(service)
    const offerId = await offered("USDC-SWAP", { qty: "5000" })
    const refused = await take(anna, offerId, "1000.01")
    assert.deepStrictEqual([refused.status, refused.json.code], [400, 4000], refused.text)
    assert.deepStrictEqual(await rowCounts(service), before)
    const opened = await take(anna, offerId, "1000")
    assert.strictEqual(opened.json.data.state, "OPEN", opened.text)
    assert.deepStrictEqual(await held(anna, "USDC"), ["0.000000", "0.000000"])
    const items = await ofClient(service, "settlementItems", anna)
    assert.deepStrictEqual(
      items.map(({ type, amount }) => [type, amount]),
      [["SWAP_PRINCIPAL", -1_000_000_000n]]
    )
    await later(7 * day)
    await until(anna, opened.json.data.swapId, ({ state }) => state === "MATURED")
    const types = (await ofClient(service, "settlementItems", anna)).map(({ type }) => type)
    assert.deepStrictEqual(types, ["SWAP_PRINCIPAL", "SWAP_SETTLE", "COMMISSION"])
  }, 60_000)

  it("SC-STK-08: a market that is delisted settles its swaps finally", async () => {
    const anna = await lender({ eth: "0" })
    await steps.adjust(anna, "100", "SOL")
    const { swapId } = await taken(anna, "SOL-SWAP", "50")
    world.delist("SOL-SWAP")
    const settled = await until(anna, swapId, ({ state }) => state === "FINAL_SETTLEMENT")
    assert.deepInclude(settled, { settleReason: "finalSettlement", outstanding: "0.000000000" })
    assert.deepStrictEqual(await noticed(anna), ["SWAP_SETTLED"])
  }, 60_000)
})

describe("a take that the venue does not answer", () => {
  it("SC-STK-05: 502 with its reserve, ACCEPTING under the key; 300 s after the venue is certain it is released", async () => {
    const anna = await lender()
    const offerId = await offered("ETH-SWAP")
    world.failing((asked) => (asked === "takeOffer" ? { lost: "before" } : {}))
    const headers = { "idempotency-key": "take-1" }
    const asked = await take(anna, offerId, "10", headers).finally(() => world.failing(() => ({})))
    assert.deepStrictEqual([asked.status, asked.json.code], [502, 5020], asked.text)
    const { swapId } = asked.json.data
    assert.deepStrictEqual(asked.json, notReached({ swapId, offerId, state: "ACCEPTING" }))
    assert.deepStrictEqual(await held(anna, "ETH"), ["9.99500000", "10.00500000"])
    const again = await take(anna, offerId, "10", headers)
    assert.deepStrictEqual([again.status, again.text], [502, asked.text])
    await poll(
      () => ofClient(service, "venueCalls", anna),
      ({ length }) => length === 0
    )
    await later(299_000)
    assert.strictEqual((await swap(anna, swapId)).state, "ACCEPTING")
    await later(10_000)
    const released = await until(anna, swapId, ({ state }) => state === "REJECTED")
    assert.strictEqual(released.rejectReason, "not found at the venue")
    assert.deepStrictEqual(await held(anna, "ETH"), ["20.00000000", "0.00000000"])
  }, 90_000)

  it("SC-STK-05: executed, and its answer lost: adopted by the venue's report", async () => {
    const anna = await lender()
    const offerId = await offered("ETH-SWAP")
    world.failing((asked) => (asked === "takeOffer" ? { lost: "after" } : {}))
    const asked = await take(anna, offerId, "10").finally(() => world.failing(() => ({})))
    assert.include([200, 502], asked.status)
    const { swapId } = asked.json.data
    const adopted = await until(anna, swapId, ({ state }) => state === "OPEN")
    assert.isNotNull(adopted.contractId)
    assert.deepStrictEqual(await held(anna, "ETH"), ["9.99500000", "0.00000000"])
  }, 60_000)
})

describe("explain", () => {
  it("walks the gates of a take in their order, and writes nothing", async () => {
    const anna = await lender({ eth: "1" })
    const offerId = await offered("ETH-SWAP")
    const before = await rowCounts(service)
    const explained = async (id: number | string, body: object) =>
      (await call("POST", anna, `/staking/${id}/explain`, body)).json.data
    const fits = await explained(offerId, { qty: "0.5" })
    assert.deepInclude(fits, { write: "take", outcome: "ACCEPTED" })
    const short = await explained(offerId, { qty: "1" })
    assert.deepInclude(short, { outcome: "REFUSED", code: 4000 })
    assert.strictEqual(short.gates.find(({ status }: { status: string }) => status === "failed").gate, "balance")
    assert.deepInclude(await explained(offerId, { qty: "0.0005" }), { outcome: "REFUSED", code: 4000 })
    assert.deepInclude(await explained("nothing", { qty: "1" }), { outcome: "REFUSED", code: 4004 })
    assert.deepStrictEqual(await rowCounts(service), before)
  }, 60_000)
})
