/**
 * Accounts with knock-out contracts and too little money (F7, F9, F10; D23): prefunded accounts are NORMAL at any mark;
 * others get a margin call, a close-out and protection; near levels are notified once (A2-31).
 */
import { assert, describe, it } from "@effect/vitest"
import { get } from "../support/Builders.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { contractVenue } from "../support/contractVenue.ts"
import { openScenario } from "../support/Scenario.ts"

const world = contractVenue()
const { service, key, call, report, adjust, cash, rowOf } = await openScenario({ layerVenue: world.layerVenue })
const { trader, rfqBody, post, until, poll } = contractSteps(service, key, { call, report })

const picture = async (clientId: number) => (await get(service, key, `/clients/${clientId}/margin`)).json
const kinds = async (clientId: number): Promise<ReadonlyArray<string>> =>
  (await get(service, key, `/clients/${clientId}/notifications`)).json.data.items.map(
    ({ kind }: { readonly kind: string }) => kind
  )
const count = (all: ReadonlyArray<string>, kind: string): number => all.filter((each) => each === kind).length
const history = async (clientId: number) =>
  (await get(service, key, `/clients/${clientId}/barriers?state=history`)).json.data.barriers

/** A client with one contract of a premium of 190, entered at 60,000 with its barrier at 58,000. */
const opened = async () => {
  const clientId = await trader()
  const { rfqId } = (await post(clientId, "/rfq", rfqBody())).json.data
  world.quote(rfqId, "60000")
  const { contractId } = await until(clientId, rfqId, (rfq) => rfq.state === "ACCEPTED")
  return { clientId, contractId: contractId as number }
}
const at = async (clientId: number, price: string, pnl: string) => {
  world.price(price)
  return poll(
    () => picture(clientId),
    ({ barrierUnrealizedPnl }) => barrierUnrealizedPnl === pnl
  )
}

describe("an account with contracts alone", () => {
  it("SC-MRG-08: with cash for its premiums the account is NORMAL at any loss and gets one notice, that of the near barrier", async () => {
    const { clientId, contractId } = await opened()
    await adjust(clientId, "-808.8")
    assert.strictEqual(await cash(clientId), "190.000000")
    const deep = await at(clientId, "58050", "-190.000000")
    assert.deepInclude(deep, { riskState: "NORMAL", closeOutEquity: "0.000000", barrierMargin: "0.000000" })
    const said = await poll(
      () => kinds(clientId),
      (all) => all.includes("BARRIER_NEAR_KO")
    )
    assert.notInclude(said, "MARGIN_CALL")
    await at(clientId, "58040", "-190.000000")
    await at(clientId, "60000", "0.000000")
    assert.strictEqual(count(await kinds(clientId), "BARRIER_NEAR_KO"), 1)
    world.price("58040")
    await poll(
      () => kinds(clientId),
      (all) => count(all, "BARRIER_NEAR_KO") === 2
    )
    world.price("60000")
    assert.strictEqual((await post(clientId, `/barriers/${contractId}/close`, {})).status, 200)
  })

  it("SC-MRG-21: the margin call stops withdrawals, the close-out is announced once, and the write-off names its episode", async () => {
    const { clientId, contractId } = await opened()
    await adjust(clientId, "-898.8")
    assert.deepInclude(await picture(clientId), { riskState: "MARGIN_CALL", marginLevel: "52.63" })
    assert.strictEqual(count(await kinds(clientId), "MARGIN_CALL"), 1)
    const out = await report(clientId, { direction: "WITHDRAWAL", amount: "1.00" })
    assert.deepStrictEqual([out.status, out.json.code], [409, 4092])
    world.price("58200")
    const [ended] = await poll(
      () => history(clientId),
      (all) => all.length === 1
    )
    assert.deepInclude(ended, {
      contractId,
      state: "TORN_UP",
      closeReason: "liquidation",
      settlePrice: "58200.0",
      pnl: "-180.000000"
    })
    world.price("60000")
    await poll(
      () => cash(clientId),
      (now) => now === "0.000000"
    )
    const { postings } = (await get(service, key, `/clients/${clientId}/ledger?limit=2`)).json.data
    assert.deepInclude(postings[0], { type: "NBP_WRITEOFF", amount: "80.000000" })
    assert.match(postings[0].refs.episodeId, /^CO-[1-9][0-9]*$/)
    const all = await kinds(clientId)
    for (const kind of ["CLOSE_OUT", "RESTRICTION_SET", "RESTRICTION_LIFTED"])
      assert.strictEqual(count(all, kind), 1, kind)
  })

  it("F9: a timely deposit ends the margin call in its own commit", async () => {
    const { clientId } = await opened()
    await adjust(clientId, "-900")
    assert.strictEqual((await rowOf(clientId)).riskState, "MARGIN_CALL")
    const listed = (await get(service, key, "/clients?limit=200")).json.data.clients
    assert.deepInclude(
      listed.find((row: { readonly clientId: number }) => row.clientId === clientId),
      { riskState: "MARGIN_CALL" }
    )
    const refused = await post(clientId, "/rfq", rfqBody())
    assert.strictEqual(refused.status, 400)
    assert.strictEqual((await report(clientId, { amount: "500.00" })).status, 201)
    assert.strictEqual((await rowOf(clientId)).riskState, "NORMAL")
    assert.notInclude(await kinds(clientId), "RESTRICTION_SET")
  })
})
