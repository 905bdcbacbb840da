/**
 * Venue calls under random faults: processes that die, freeze and are replaced; answers and requests that are lost,
 * late or slow. In the end each call was made and executed at most once, and both sides agree on its outcome. The
 * planted faults at the end show that a violation is detected.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import type { VenueShape } from "../../../src/runtime/ports/Venue.ts"
import type { RequestFault } from "../../../src/runtime/ports/VenueMemory.ts"
import { SeededRandom } from "../../../simulator/partner/SeededRandom.ts"
import { CallWorld } from "./CallWorld.ts"

type Bend = (venue: VenueShape) => VenueShape
const straight: Bend = (venue) => venue

const faultOf = (random: SeededRandom): RequestFault => ({
  toVenue: random.chance(0.1) ? random.between(3_000, 9_000) : random.between(0, 40),
  toCaller: random.chance(0.1) ? random.between(3_000, 9_000) : random.between(0, 40),
  ...(random.chance(0.25) ? { lost: random.pick(["before", "after"] as const), silent: random.chance(0.5) } : {}),
  ...(random.chance(0.1) ? { refused: "no" } : {})
})

/** Half a minute of work with faults, then without. Returns the violation, or null. */
const run = (seed: number, bend: Bend = straight): string | null => {
  const random = new SeededRandom(seed)
  let calm = false
  const world = new CallWorld(() => (calm ? {} : faultOf(random)), bend)
  let newest = world.launch()
  for (let step = 0; step < 60; step++) {
    if (random.chance(0.08)) {
      if (random.chance(0.5)) newest.lane.kill()
      else newest.lane.stalledUntil = world.timeline.now + random.between(1, 15_000)
      newest = world.launch()
      world.run(30)
    }
    if (random.chance(0.05)) newest.lane.stalledUntil = world.timeline.now + random.between(1, 8_000)
    newest.probe(random.between(1, 4), random.between(1, 4))
    world.run(random.between(0, 1_000))
  }
  calm = true
  world.run(60_000)
  return broken(world)
}

const broken = (world: CallWorld): string | null => {
  const { venue, inFlight, probes } = world
  if (inFlight.length > 0) return `in flight for ever: ${inFlight.join()}`
  for (const [id, state] of probes) {
    const ref = `P-${id}`
    if ((venue.came.get(ref) ?? 0) > 1) return `${ref} is called twice`
    if ((venue.executed.get(ref) ?? 0) > 1) return `${ref} is executed twice`
    const there = venue.outcomeOf(ref).outcome
    if (there !== state) return `${ref} is ${state} here and ${there} there`
  }
  return probes.size < 30 ? "nothing was tried" : null
}

describe("venue calls under any faults", () => {
  it("are executed once, made once, and known on both sides", () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => assert.isNull(run(seed))),
      { numRuns: 30 }
    )
  })

  const planted: ReadonlyArray<readonly [string, Bend]> = [
    [
      "a call made twice",
      (venue) => ({
        ...venue,
        write: (name, request) => Effect.andThen(venue.write(name, request), venue.write(name, request))
      })
    ],
    [
      "not found is believed without voiding",
      (venue) => ({
        ...venue,
        voidRefs: (refs) =>
          Effect.map(venue.lookup(refs), (outcomes) =>
            outcomes.map((outcome) =>
              outcome.outcome === "UNKNOWN" ? { ...outcome, outcome: "VOID" as const } : outcome
            )
          )
      })
    ],
    ["a lost answer is forgotten", (venue) => ({ ...venue, voidRefs: () => Effect.succeed([]) })],
    [
      "a lost answer is a refusal",
      (venue) => ({
        ...venue,
        write: (name, request) =>
          Effect.catch(venue.write(name, request), () =>
            Effect.succeed({
              ref: request.ref,
              outcome: "REFUSED" as const,
              reason: null,
              at: 0,
              order: null,
              rfq: null,
              contract: null,
              swap: null
            })
          )
      })
    ]
  ]
  it.each(planted)("planted: %s is noticed", (_, bend) => {
    const found = Array.from({ length: 10 }, (_each, seed) => run(seed, bend)).filter((finding) => finding !== null)
    assert.isNotEmpty(found)
  })
})
