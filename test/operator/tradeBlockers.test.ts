/**
 * Open contracts, requests for quotes, working orders and open positions block every end of a client, a partner or a
 * custody model, and a refused payout names them; after their end they block nothing (D1, D15, D4, D5, D6).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { contractSteps } from "../support/contractSteps.ts"
import { contractVenue } from "../support/contractVenue.ts"
import { get, rowCounts } from "../support/Builders.ts"
import { stepsOf } from "../support/steps.ts"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"

const world = contractVenue()
let service: OperatorService
let steps: ReturnType<typeof contractSteps>
let clientId: number
let rfqId: number
let contractId: number
beforeAll(async () => {
  service = await startOperatorService({ layerVenue: world.layerVenue })
  const { key } = await service.partner({ code: "BLK", custody: "PARTNER" })
  steps = contractSteps(service, key, stepsOf(service, key))
  clientId = await steps.trader()
  const request = async (): Promise<number> =>
    (await steps.post(clientId, "/rfq", steps.rfqBody({ autoAccept: true }))).json.data.rfqId
  const first = await request()
  world.quote(first, "60000")
  contractId = (await steps.until(clientId, first, ({ state }) => state === "ACCEPTED")).contractId
  rfqId = await request()
})
afterAll(() => service.stop())

const reason = ["--reason", "agreement ended"]
const commands = {
  "client close": () => ["client", "close", String(clientId), ...reason],
  "partner status CLOSED": () => ["partner", "status", "BLK", "CLOSED", ...reason],
  "partner custody": () => ["partner", "custody", "BLK", "BROKER", ...reason]
} as const

const ofClient = ["Requests for quotes are open: 1 OPEN.", "Knock-out contracts are open: 1 OPEN."]
const ofPartner = () => [
  `Requests for quotes are open: 1 OPEN, 190.000000 USDC (request ${rfqId}). To clear: POST .../rfq/{rfqId}/cancel, or wait until its window is over.`,
  `Knock-out contracts are open: 1 OPEN, 190.000000 USDC (contract ${contractId}). To clear: POST .../barriers/{contractId}/close, or wait until it ends.`
]

describe("D4, D5: open requests and contracts block", () => {
  it.each([
    ["client close", () => ofClient],
    ["partner status CLOSED", ofPartner],
    ["partner custody", ofPartner]
  ] as const)("%s, each named, and nothing is written", async (command, sentences) => {
    const before = await rowCounts(service)
    const { status, refusal } = await service.cli(commands[command]())
    assert.deepStrictEqual([status, refusal.code], [1, 4092], refusal.msg)
    assert.includeMembers(refusal.data.blockers, [...sentences()])
    assert.deepStrictEqual(await rowCounts(service), before)
  })

  it("a payout of held money is refused and names the holds; free money is paid", async () => {
    await service.done(["kyc", "reject", String(clientId), ...reason], "COMPLIANCE")
    const payout = (amount: string) =>
      service.cli(["client", "payout", String(clientId), "--currency", "USDC", "--amount", amount, ...reason])
    const { status, refusal } = await payout("900")
    assert.deepStrictEqual(
      [status, refusal.code, refusal.msg],
      [1, 4092, "The client is short of margin for its open positions."]
    )
    assert.include(refusal.data.blockers, "Knock-out contracts are open: 1 OPEN.")
    assert.strictEqual((await payout("1")).status, 0)
  })

  it("once they have ended nothing of them blocks", async () => {
    await steps.post(clientId, `/rfq/${rfqId}/cancel`, {})
    world.price("57900")
    await steps.poll(
      () => service.done(["contract", "show", String(contractId)]),
      ({ state }) => state !== "OPEN"
    )
    for (const command of Object.values(commands)) {
      const { refusal } = await service.cli(command())
      assert.notMatch(JSON.stringify(refusal?.data?.blockers ?? []), /quotes are open|contracts are open/)
    }
  })
})

describe("D6: working orders and open positions block", () => {
  const perp = "BTC-USDC-PERP"
  let holder: number
  let orderId: number
  let ask: ReturnType<typeof contractSteps>
  beforeAll(async () => {
    world.price("60000")
    const { key } = await service.partner({ code: "ORD", custody: "PARTNER" })
    ask = contractSteps(service, key, stepsOf(service, key))
    holder = await ask.trader()
    await ask.poll(
      () => get(service, key, `/ticker?symbol=${perp}`),
      ({ json }) => json.data?.markPrice === "60000.0"
    )
    const order = { symbol: perp, qty: "0.1" }
    const bought = await ask.post(holder, "/orders", { ...order, side: "BUY", type: "MARKET" })
    assert.deepInclude(bought.json, { state: "FILLED" }, bought.text)
    const level = { side: "SELL", type: "LIMIT", price: "61500", reduceOnly: true }
    const rests = await ask.post(holder, "/orders", { ...order, ...level })
    assert.deepInclude(rests.json, { state: "ACKED" }, rests.text)
    orderId = rests.json.orderId
  })
  const ends = [
    ["client close", () => ["client", "close", String(holder), ...reason]],
    ["partner status CLOSED", () => ["partner", "status", "ORD", "CLOSED", ...reason]],
    ["partner custody", () => ["partner", "custody", "ORD", "BROKER", ...reason]]
  ] as const
  const named = ["Orders are working: 1 ACKED.", "Positions are open: 1 OPEN."]

  it.each(ends)("%s, each named with its remedy, and nothing is written", async (command, line) => {
    const before = await rowCounts(service)
    const { status, refusal } = await service.cli(line())
    assert.deepStrictEqual([status, refusal.code], [1, 4092], refusal.msg)
    const blockers: ReadonlyArray<string> = refusal.data.blockers
    if (command === "client close") assert.includeMembers([...blockers], named)
    else {
      const said = blockers.join("\n")
      assert.include(said, `(order ${orderId}). To clear: DELETE .../orders/{orderId}.`)
      assert.match(said, /Positions are open: 1 OPEN, .* To clear: POST \.\.\.\/orders with reduceOnly\./)
    }
    assert.deepStrictEqual(await rowCounts(service), before)
  })

  it("A2-101: closing objects of a client whose documents were rejected stay, and a payout of held money names them", async () => {
    await service.done(["kyc", "reject", String(holder), ...reason], "COMPLIANCE")
    const line = ["client", "payout", String(holder), "--currency", "USDC", "--amount", "900", ...reason]
    const { status, refusal } = await service.cli(line)
    assert.deepStrictEqual([status, refusal.code], [1, 4092], refusal.msg)
    assert.includeMembers(refusal.data.blockers, named)
  })

  it("once the order is cancelled and the position closed nothing of them blocks", async () => {
    const pulled = await service.cli(["order", "cancel", String(orderId), ...reason])
    assert.strictEqual(pulled.status, 0)
    const sold = { symbol: perp, side: "SELL", type: "MARKET", qty: "0.1", reduceOnly: true }
    const closed = await ask.post(holder, "/orders", sold)
    assert.deepInclude(closed.json, { state: "FILLED" }, closed.text)
    for (const [, line] of ends) {
      const { refusal } = await service.cli(line())
      assert.notMatch(JSON.stringify(refusal?.data?.blockers ?? []), /Orders are working|Positions are open/)
    }
  })
})
