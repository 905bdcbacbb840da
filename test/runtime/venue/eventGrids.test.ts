/**
 * The grids by which the venue's reports of orders are checked follow its listing: an event is checked by the present
 * grid, and a changed grid makes no event wrong (A2-115).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { VenueMarket } from "../../../src/machines/venue/VenueMarket.ts"
import type { VenueOrder } from "../../../src/machines/venue/venueObjects.ts"
import { type VenueShape, VenueUnanswered } from "../../../src/runtime/ports/Venue.ts"
import type { BusinessClock } from "../../../src/runtime/engine/clock/BusinessClock.ts"
import { makeLastListing } from "../../../src/runtime/services/market/LastListing.ts"
import { EventJudge } from "../../../src/runtime/services/venue/EventJudge.ts"
import { market } from "../../support/ScriptedVenue.ts"
import { contract } from "../rfq/rfqTurns.ts"
import { CallWorld } from "./CallWorld.ts"
import { account, orderOf, saying } from "./eventWorld.ts"

/** A world whose client 7 has one order at the venue. Its listing is `listed`, always with the same version. */
const withListing = () => {
  const listed: { change: Partial<VenueMarket>; reads: number; away: boolean } = { change: {}, reads: 0, away: false }
  const world = new CallWorld(
    () => ({}),
    (venue) => ({
      ...venue,
      listing: Effect.suspend(() => {
        if (listed.away) return Effect.fail(new VenueUnanswered({ reason: "away" }))
        listed.reads++
        return Effect.map(venue.listing, ({ markets, ...listing }) => ({
          ...listing,
          markets: markets.map((market) => ({ ...market, ...listed.change }))
        }))
      })
    })
  )
  world.launch().probe(7, 1)
  world.run(5_000)
  const ref = `P-${[...world.probes.keys()][0]}`
  const say = (change: Partial<VenueOrder>) => {
    world.venue.publish(account, saying(orderOf(ref, change)))
    world.run(100)
  }
  return { world, listed, say, aside: () => world.store.rows("venueQuarantine").map(({ reason }) => reason) }
}

describe("A2-115: the grids that judge events", () => {
  it("that became finer condemn no event, from the same moment on", () => {
    const { listed, say, aside } = withListing()
    say({ qty: "0.002" })
    listed.change = { qtyStep: "0.0001", priceTick: "0.01" }
    say({ qty: "0.0015", price: "58500.05" })
    assert.deepStrictEqual(aside(), [])
  })

  it("that became coarser count within a second", () => {
    const { world, listed, say, aside } = withListing()
    say({ qty: "0.003" })
    listed.change = { qtyStep: "0.01" }
    world.run(1_000)
    say({ qty: "0.003" })
    assert.deepStrictEqual(aside(), ["its quantity is off the market's grid"])
  })

  it("A2-114: that are impossible judge no event: the last known grids do", () => {
    const { world, listed, say, aside } = withListing()
    say({ qty: "0.002" })
    listed.change = { qtyStep: "0", priceTick: "0", maxQty: "0" }
    world.run(1_000)
    say({ qty: "0.003" })
    assert.deepStrictEqual(aside(), [])
    say({ qty: "0.0035" })
    assert.deepStrictEqual(aside(), ["its quantity is off the market's grid"])
  })

  it("are read once a second at most for events that fit them", () => {
    const { listed, say, world } = withListing()
    world.run(1_000)
    const before = listed.reads
    for (let at = 0; at < 30; at++) say({ qty: "0.002" })
    assert.isAtMost(listed.reads - before, 3)
  })

  it("are the last known ones while the venue does not give any", () => {
    const { listed, say, aside } = withListing()
    listed.away = true
    say({ qty: "0.0015" })
    assert.deepStrictEqual(aside(), ["its quantity is off the market's grid"])
  })
})

describe("A2-115: a settlement of a market is judged by a listing that is made after it", () => {
  const now = 1_000_000
  const settled = { ...contract, state: "CLOSED", settlePrice: "60010.0", endedAt: now } as const
  const event = {
    number: 5,
    at: now,
    fact: { type: "contract", account, sequence: 1, contract: settled }
  } as const
  const listingAt = (at: number, delisted: boolean) => ({
    version: 1,
    at,
    markets: [market(settled.symbol, { delisted })],
    stakingMarkets: []
  })
  /** A judge with a listing from before the settlement, and the venue's answers to its reads. */
  const judging = (...answers: ReadonlyArray<ReturnType<typeof listingAt> | null>) => {
    const listing = makeLastListing()
    listing.believe(listingAt(now - 1, false))
    const clock = { now: () => now, venueTime: () => ({ latest: now }) } as BusinessClock["Service"]
    const left = [...answers]
    let reads = 0
    const venue = {
      listing: Effect.suspend(() => {
        reads++
        const answer = left.shift() ?? null
        return Effect.andThen(
          Effect.yieldNow,
          answer === null ? new VenueUnanswered({ reason: "away" }) : Effect.succeed(answer)
        )
      })
    } as Partial<VenueShape> as VenueShape
    const judge = new EventJudge({ venue, clock, listing })
    return { judge, reads: () => reads, isListed: () => listing.isListed(settled.symbol, now) }
  }

  it.effect.each([
    ["confirms it", listingAt(now + 1, true), false],
    ["refutes it", listingAt(now + 1, false), true],
    ["leaves it open if it is of the same time", listingAt(now, false), null],
    ["leaves it open if it is older than the known one", listingAt(now - 2, true), null],
    ["leaves it open if the venue does not answer", null, null]
  ] as const)("one read on demand %s", ([, answer, isListed]) =>
    Effect.gen(function* () {
      const { judge, ...seen } = judging(answer)
      assert.isFalse(judge.believes(event))
      assert.isNull(yield* judge.wrongWith(event))
      assert.deepStrictEqual([seen.reads(), seen.isListed(), judge.believes(event)], [1, isListed, isListed !== null])
    })
  )

  it.effect(
    "settlements of many accounts share a read, and a read that began before the settlement does not count",
    () =>
      Effect.gen(function* () {
        const { judge, ...seen } = judging(listingAt(now, false), listingAt(now + 1, true))
        yield* Effect.all(
          Array.from({ length: 50 }, () => judge.wrongWith(event)),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual([seen.reads(), seen.isListed()], [2, false])
        yield* judge.wrongWith(event)
        assert.strictEqual(seen.reads(), 2)
      })
  )

  it.effect("while it waits, the listing is read once a second at most", () =>
    Effect.gen(function* () {
      const { judge, ...seen } = judging()
      yield* judge.wrongWith(event)
      for (let tries = 0; tries < 20; tries++) yield* judge.listAfter(event)
      assert.strictEqual(seen.reads(), 1)
    })
  )
})
