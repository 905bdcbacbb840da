/**
 * An outcome that contains all of its event also applies that event: the event then needs no turn and no commit
 * (decision 17). An outcome that names another event than the next one, or arrives after it, applies none.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { VenueShape } from "../../../src/runtime/ports/Venue.ts"
import type { RequestFault } from "../../../src/runtime/ports/VenueMemory.ts"
import { CallWorld } from "./CallWorld.ts"

const client = 7

/** A venue whose outcomes name an event; `off`: the distance from the event that the call made. */
const naming =
  (off: number) =>
  (venue: VenueShape): VenueShape => {
    let made = 0
    return {
      ...venue,
      write: (name, request) =>
        Effect.map(venue.write(name, request), (outcome) =>
          outcome.order === null ? outcome : { ...outcome, events: { first: ++made + off, last: made + off } }
        )
    }
  }

/** The client's commits, and the stored sequence, after this number of consecutive calls. */
const played = (
  bend: (venue: VenueShape) => VenueShape,
  { calls = 3, hasStream = true, fault = {} }: { calls?: number; hasStream?: boolean; fault?: RequestFault } = {}
) => {
  const world = new CallWorld((name) => (name === "placeOrder" ? fault : {}), bend)
  world.venue.deaf = !hasStream
  const process = world.launch()
  for (let call = 0; call < calls; call++) {
    process.probe(client, 1)
    world.run(500)
  }
  const states = [...world.probes.values()]
  assert.deepStrictEqual([world.inFlight, states, world.errors], [[], states.map(() => "EXECUTED"), []])
  const [account] = world.store.rows("venueAccounts")
  return { token: world.store.image(`client:${client}`).token, sequence: account?.sequence, events: process.events }
}

describe("decision 17: an outcome and its event", () => {
  it("a call and its end are two commits if the outcome names its event, and the stream's number is passed", () => {
    const { token, sequence, events } = played(naming(0))
    assert.deepStrictEqual([token, sequence, events.mark], [6, 3, 3])
  })

  it("without a stream the account has the sequence that its outcomes name", () => {
    assert.deepStrictEqual(played(naming(0), { hasStream: false }).sequence, 3)
  })

  it.each([
    ["none", (venue: VenueShape) => venue],
    ["one that is still to come", naming(1)],
    ["one of before", naming(-1)]
  ])("an outcome that names %s leaves the event its own turn", (_, bend) => {
    const { token, sequence } = played(bend)
    assert.deepStrictEqual([token, sequence], [9, 3])
  })

  it("an event that arrives before its outcome is applied, and the outcome applies nothing more", () => {
    const { token, sequence } = played(naming(0), { fault: { toCaller: 200 } })
    assert.deepStrictEqual([token, sequence], [6, 3])
  })
})
