/**
 * Events of accounts of another service at the same venue: the cursor passes them, they are neither stored nor logged,
 * and the events of this service's own accounts between them are applied.
 */
import { assert, describe, it } from "@effect/vitest"
import type { AccountFact } from "../../../src/machines/venue/VenueEvent.ts"
import { venueUnder } from "../../../src/runtime/adapters/venue/ownNames.ts"
import { CallWorld, uidOf } from "./CallWorld.ts"

const bust = (stamp: { readonly account: string; readonly sequence: number }): AccountFact => ({
  type: "bust",
  ...stamp,
  tradeId: 1,
  orderId: 1,
  reason: "taken back"
})

describe("events of another service's name", () => {
  it("are passed by their number, whether they can be read or not", () => {
    const world = new CallWorld(undefined, (venue) => venueUnder("AAAAAA", venue))
    const process = world.launch()
    process.probe(7, 1)
    world.run(5_000)
    assert.deepStrictEqual([...world.probes.values()], ["EXECUTED"])
    const foreign = `BBBBBB:${uidOf(7)}`
    for (let n = 0; n < 300; n++) world.venue.publish(foreign, bust)
    const { number } = world.venue.events.at(-1) ?? { number: 0 }
    world.venue.send({ unreadable: "{", reason: "no JSON", number: number + 1, account: foreign })
    world.run(1_000)
    process.probe(7, 2)
    world.run(5_000)
    assert.deepStrictEqual([...world.probes.values()], ["EXECUTED", "EXECUTED", "EXECUTED"])
    assert.deepStrictEqual(world.store.rows("venueQuarantine"), [])
    assert.deepStrictEqual(
      world.store.rows("venueAccounts").map(({ clientId }) => clientId),
      [7]
    )
    assert.strictEqual(process.events.mark, world.venue.events.length)
    assert.deepStrictEqual(world.errors, [])
  })
})
