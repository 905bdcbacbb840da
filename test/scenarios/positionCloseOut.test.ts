/**
 * A close-out of a position and halts of its market (F9; A2-90; D23): the close-out waits for a halt by the venue, and
 * not for a halt of ours.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { MarketHalts } from "../../src/runtime/services/market/MarketHalts.ts"
import type { VenueCommand } from "../../src/venue/VenueCommand.ts"
import { get, ofClient } from "../support/Builders.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { contractVenue } from "../support/contractVenue.ts"
import { openScenario } from "../support/Scenario.ts"
import { operator } from "../support/Service.ts"

const perp = "BTC-USDC-PERP"
const world = contractVenue()
const { service, key, call, report, rowOf } = await openScenario({ layerVenue: world.layerVenue })
const { trader, post, poll } = contractSteps(service, key, { call, report })

const venue = (command: VenueCommand) => void world.venue.apply({ type: "command", command })
/** Holds index, mark and last of the perpetual. */
const price = (mark: string) => venue({ type: "price", symbol: perp, price: mark, only: null })

const positions = async (clientId: number) => (await get(service, key, `/clients/${clientId}/positions`)).json.positions

/** A client with 700 USDC and a long of 0.1 from about 60,000, at a leverage of ten. */
const holder = async (): Promise<number> => {
  price("60000")
  const clientId = await trader("700.00")
  await poll(
    () => get(service, key, `/ticker?symbol=${perp}`),
    ({ json }) => json.data?.markPrice === "60000.0"
  )
  const bought = await post(clientId, "/orders", { symbol: perp, side: "BUY", type: "MARKET", qty: "0.1" })
  assert.deepInclude(bought.json, { state: "FILLED" }, bought.text)
  return clientId
}
const closedOut = (clientId: number) =>
  poll(
    () => rowOf(clientId),
    ({ lifecycleState, riskState }) => lifecycleState === "ACTIVE" && riskState === "NORMAL"
  )

describe("an account with a position", () => {
  it("F9, A2-90: a halt of the venue is waited for, one of ours is not", async () => {
    const [clientId, halts] = [await holder(), await service.run(MarketHalts.use((live) => Effect.succeed(live)))]
    const { ok } = await service.run(halts.halt(operator, { scope: perp, message: "Upkeep.", until: null }))
    assert.isTrue(ok)
    venue({ type: "halt", symbol: perp })
    await poll(
      () => get(service, key, "/trading-status"),
      ({ json }) => json.data.halts.length === 2
    )
    price("55000")
    await poll(
      () => ofClient(service, "closeOuts", clientId),
      ([episode]) => episode?.state === "WAITING_MARKET"
    )
    assert.lengthOf(await positions(clientId), 1)
    venue({ type: "resume", symbol: perp })
    await poll(
      () => positions(clientId),
      (open) => open.length === 0
    )
    await closedOut(clientId)
    // Our halt is still in force, so opening orders are refused.
    const { status } = await post(clientId, "/orders", { symbol: perp, side: "BUY", type: "MARKET", qty: "0.001" })
    assert.strictEqual(status, 400)
    assert.deepStrictEqual(
      halts.active().map(({ scope }) => scope),
      [perp]
    )
    await service.run(halts.resume(operator, perp))
  })
})
