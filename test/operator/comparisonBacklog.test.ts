/**
 * While the service is behind the venue's events, a difference is no break: the second look of the comparison waits until what the
 * venue had said is taken (A2-103).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Latch, Layer } from "effect"
import { Venue } from "../../src/runtime/ports/Venue.ts"
import { layerVenueProgressMemory } from "../../src/runtime/ports/VenueProgressMemory.ts"
import { VenueLink } from "../../src/runtime/services/venue/VenueLink.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { contractVenue } from "../support/contractVenue.ts"
import { expectLog } from "../support/expectLog.ts"
import { inTurn } from "../support/orderRows.ts"
import { quickClock } from "../support/quickClock.ts"
import { stepsOf } from "../support/steps.ts"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"

const world = contractVenue()
let looks = 0
let asked = 0
/** Between the two looks of a comparison, ms. The test ends the pause: what differs between them it makes itself. */
const betweenLooks = 5_000
const clock = quickClock()
/** Open: all events are taken. */
const taken = Latch.makeUnsafe(true)
const layerVenue = Layer.effect(
  Venue,
  Effect.map(Venue, (port) =>
    Venue.of({ ...port, account: (name) => Effect.tap(port.account(name), () => Effect.sync(() => ++looks)) })
  )
).pipe(Layer.provide(world.layerVenue))
const progress = Layer.merge(
  layerVenueProgressMemory(() =>
    Effect.suspend(() => {
      asked++
      return taken.await
    })
  ),
  clock.layer
)
let service: OperatorService
let steps: ReturnType<typeof contractSteps>
let clientId: number
let uid: string
beforeAll(async () => {
  service = await startOperatorService({ layerVenue, venue: { progress } })
  await service.run(Effect.map(VenueLink, ({ set }) => set({ connected: true, number: 1 })))
  const { key } = await service.partner({ code: "BHD", custody: "PARTNER" })
  steps = contractSteps(service, key, stepsOf(service, key))
  clientId = await steps.trader()
  uid = (await service.done(["client", "show", String(clientId)])).clientUid
})
afterAll(() => service.stop())

const plant = (more: bigint) =>
  inTurn(service, clientId, (turn) => {
    const row = turn.state.get("balances", `${clientId}\u0000USDC`)
    if (row === undefined) throw new Error("no balance")
    turn.draft.put("balances", { ...row, fromVenue: row.fromVenue + more })
  })
const reconcile = async (): Promise<ReadonlyArray<string>> =>
  (await clock.during(betweenLooks, () => service.done(["venue", "reconcile", uid]))).differences

describe("A2-103: a comparison behind the venue's events", () => {
  it("looks a second time once they are taken, and finds nothing that they explain", async () => {
    taken.closeUnsafe()
    await plant(5_000_000n)
    const before = { looks, asked }
    const waiting = reconcile()
    await steps.looking(
      () => Promise.resolve(asked),
      (times) => times > before.asked
    )
    assert.strictEqual(looks - before.looks, 1)
    // As the event would that was still to come.
    await plant(-5_000_000n)
    taken.openUnsafe()
    assert.deepStrictEqual([await waiting, looks - before.looks], [[], 2])
  }, 60_000)

  it("and what stands then is a break", async () => {
    await plant(5_000_000n)
    expectLog(/service and venue differ/)
    assert.deepStrictEqual(await reconcile(), ["The ledger has 5 USDC of the venue, and the venue's own books have 0."])
    await plant(-5_000_000n)
  }, 60_000)
})
