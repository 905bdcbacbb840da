/**
 * Open contracts and requests for quotes stand in the way of whatever ends a client, a partner or a custody model, and are
 * named where a payout is refused; once they have ended nothing of them blocks (D1, D15, D4, D5).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { barrierSteps } from "../support/barrierSteps.ts"
import { barrierVenue } from "../support/barrierVenue.ts"
import { rowCounts } from "../support/Builders.ts"
import { stepsOf } from "../support/steps.ts"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"

const world = barrierVenue()
let service: OperatorService
let steps: ReturnType<typeof barrierSteps>
let clientId: number
let rfqId: number
let contractId: number
beforeAll(async () => {
  service = await startOperatorService({ layerVenue: world.layerVenue })
  const { key } = await service.partner({ code: "BLK", custody: "PARTNER" })
  steps = barrierSteps(service, key, stepsOf(service, key))
  clientId = await steps.trader()
  const request = async (): Promise<number> =>
    (await steps.post(clientId, "/rfq", steps.asked({ autoAccept: true }))).json.data.rfqId
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

  it("a payout of what they tie up is refused and names them; what is free of them is paid", async () => {
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
    await steps.looking(
      () => service.done(["contract", "show", String(contractId)]),
      ({ state }) => state !== "OPEN"
    )
    for (const command of Object.values(commands)) {
      const { refusal } = await service.cli(command())
      assert.notMatch(JSON.stringify(refusal?.data?.blockers ?? []), /quotes are open|contracts are open/)
    }
  })
})
