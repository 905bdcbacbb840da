/**
 * Events of the venue: applied once and in order, whatever is doubled, dropped, late, broken or hostile; an event that
 * can't be applied is quarantined and delays no other (A2-95, A2-96, A2-115). In virtual time, over a memory store and
 * a memory venue.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import type { VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import type { VenueOrder } from "../../../src/machines/venue/venueObjects.ts"
import { VenueUnanswered } from "../../../src/runtime/ports/Venue.ts"
import { BusinessClock } from "../../../src/runtime/engine/clock/BusinessClock.ts"
import { SeededRandom } from "../../../simulator/partner/SeededRandom.ts"
import { CallWorld } from "./CallWorld.ts"
import { account, aside, mark, orderOf, saying, sequence, withVoidProbe } from "./eventWorld.ts"

describe("events of the venue", () => {
  it("D6: an order that appears late goes to its object; the cursor passes it", () => {
    const { world, id, ref } = withVoidProbe()
    world.venue.publish(account, saying(orderOf(ref)))
    world.run(1_000)
    assert.deepStrictEqual([world.probes.get(id), sequence(world), mark(world)], ["EXECUTED", 1, 1])
    const found = world.store.rows("audit").filter(({ action }) => action === "venueProbe.found")
    assert.strictEqual(found.length, 1)
  })

  it("A2-96: a repeated event is dropped, an event after a gap waits for the gap", () => {
    const { world, id, ref } = withVoidProbe()
    const { venue } = world
    const first = venue.publish(account, saying(orderOf(ref)))
    venue.send(first)
    venue.send(first)
    world.run(500)
    assert.deepStrictEqual([world.probes.get(id), sequence(world), aside(world)], ["EXECUTED", 1, []])
    // The next event is not sent; the one after it is.
    const unsent = { number: 2, at: world.timeline.now, fact: saying(orderOf(ref))({ account, sequence: 2 }) }
    venue.events.push(unsent)
    venue.skip(account)
    venue.publish(account, saying(orderOf(ref)))
    world.run(500)
    assert.strictEqual(sequence(world), 3)
    world.run(5_000)
    assert.strictEqual(mark(world), 3)
  })

  const hostile: ReadonlyArray<readonly [string, (at: number, ref: string) => readonly [VenueOrder, number], string]> =
    [
      ["of an object that is not there", (at) => [orderOf("P-999999"), at], "it names no object of ours"],
      ["of nothing of ours", (at) => [orderOf(null), at], "it names no object of ours"],
      ["tomorrow's", (at, ref) => [orderOf(ref), at + 86_400_000], "it lies more than 5 s ahead of the venue's clock"],
      [
        "off the grid of quantities",
        (at, ref) => [orderOf(ref, { qty: "0.0015" }), at],
        "its quantity is off the market's grid"
      ],
      [
        "off the grid of prices",
        (at, ref) => [orderOf(ref, { price: "58500.3" }), at],
        "its price is off the market's grid"
      ],
      [
        "beyond the limit",
        (at, ref) => [orderOf(ref, { qty: "101" }), at],
        "its quantity is beyond the market's limit"
      ],
      ["of no market", (at, ref) => [orderOf(ref, { symbol: "XXX-USDC-PERP" }), at], "its market is not listed"]
    ]
  it.each(hostile)("A2-115: an event %s is set aside, raises one alarm and is passed", (_, make, reason) => {
    const { world, id, ref } = withVoidProbe()
    const [order, at] = make(world.timeline.now, ref)
    const event = world.venue.publish(account, saying(order), at)
    world.venue.send(event)
    world.run(1_000)
    assert.deepStrictEqual([aside(world), world.probes.get(id), sequence(world), mark(world)], [[reason], "VOID", 1, 1])
    assert.deepStrictEqual(world.errors, ["a message of the venue is quarantined; venue quarantine list shows it"])
    assert.strictEqual(world.store.rows("audit").filter(({ action }) => action === "venue.setAside").length, 1)
    // No client's money is paused: the following event is applied.
    world.venue.publish(account, saying(orderOf(ref)))
    world.run(1_000)
    assert.strictEqual(world.probes.get(id), "EXECUTED")
  })

  /**
   * A world like that of `withVoidProbe`. Its venue is queried again for the execution, and answers, loses the answer,
   * or hangs.
   */
  const withLateProbe = (answers: "given" | "lost" | "never") => {
    const asked: Array<string> = []
    const late = { now: false }
    const world = new CallWorld(
      (name) => (name === "placeOrder" ? { lost: "before" } : {}),
      (venue) => ({
        ...venue,
        lookup: (refs) =>
          Effect.suspend(() => {
            if (!late.now) return venue.lookup(refs)
            asked.push(...refs)
            if (answers === "never") return Effect.never
            if (answers === "lost") return Effect.fail(new VenueUnanswered({ reason: "lost" }))
            return Effect.map(venue.lookup(refs), (outcomes) =>
              outcomes.map((each) => ({ ...each, outcome: "EXECUTED" as const, order: orderOf(each.ref) }))
            )
          })
      })
    )
    const process = world.launch()
    process.probe(7, 1)
    world.run(5_000)
    const id = [...world.probes.keys()][0] as number
    assert.strictEqual(world.probes.get(id), "VOID")
    late.now = true
    return { world, id, ref: `P-${id}`, asked }
  }

  it("A2-115: an object of ours that a hostile event names is read again before the event is passed", () => {
    const { world, id, ref, asked } = withLateProbe("given")
    const event = world.venue.publish(account, saying(orderOf(ref, { qty: "0.0015" })))
    world.venue.send(event)
    world.run(1_000)
    assert.deepStrictEqual(
      [world.probes.get(id), aside(world), mark(world), asked],
      ["EXECUTED", ["its quantity is off the market's grid"], 1, [ref]]
    )
    // A message that names no object of ours causes no read.
    world.venue.publish(account, saying(orderOf(null, { qty: "0.0015" })))
    world.run(1_000)
    assert.deepStrictEqual([asked.length, mark(world)], [1, 2])
  })

  it.each([
    ["lost", 5_000],
    ["never", 20_000]
  ] as const)(
    "A2-115: an answer for the object that is lost or never arrives (%s) stops nothing: the event is passed, with an alarm",
    (answers, millis) => {
      const { world, id, ref, asked } = withLateProbe(answers)
      world.venue.publish(account, saying(orderOf(ref, { qty: "0.0015" })))
      world.run(100)
      assert.deepStrictEqual([mark(world), aside(world)], [undefined, []])
      world.run(millis)
      assert.deepStrictEqual([mark(world), sequence(world), world.probes.get(id), asked.length], [1, 1, "VOID", 3])
      assert.deepStrictEqual(world.errors, [
        "the object of a quarantined event can't be read again: run venue reconcile for its client",
        "a message of the venue is quarantined; venue quarantine list shows it"
      ])
    }
  )

  it("C4: while the venue plays ahead by command its events are applied; an event beyond the jump is set aside", () => {
    const { world, process, id, ref } = withVoidProbe()
    const to = world.timeline.now + 8 * 3_600_000
    process.run(Effect.map(BusinessClock, (clock) => clock.expect(to)))
    world.run(1)
    world.venue.publish(account, saying(orderOf(ref)), to)
    world.run(1_000)
    assert.deepStrictEqual([aside(world), world.probes.get(id), mark(world)], [[], "EXECUTED", 1])
    world.venue.publish(account, saying(orderOf(ref)), to + 20_001)
    world.run(1_000)
    assert.deepStrictEqual([aside(world), mark(world)], [["it lies more than 5 s ahead of the venue's clock"], 2])
  })

  it("A2-115: unreadable lines are set aside once, with their readable parts", () => {
    const { world, process } = withVoidProbe()
    const line = { unreadable: '{"number":1,', reason: "no JSON", number: 1, account: null }
    const listing = { type: "listing", version: 1, symbol: "BTC-USDC-PERP" } as const
    world.venue.events.push({ number: 1, at: world.timeline.now, fact: listing })
    world.venue.send(line)
    world.venue.send(line)
    world.venue.send({ ...line, unreadable: "x", number: null })
    world.run(1_000)
    assert.deepStrictEqual(aside(world), ["no JSON", "no JSON"])
    assert.deepStrictEqual(
      world.store.rows("venueQuarantine").map(({ number }) => number),
      [1, null]
    )
    process.lane.kill()
    world.launch()
    world.venue.send(line)
    world.run(1_000)
    assert.strictEqual(aside(world).length, 2)
  })

  it("an account that is not ours is set aside and delays nothing", () => {
    const { world, id, ref } = withVoidProbe()
    world.venue.publish("ZZZ-00000009", (stamp) => ({ type: "order", ...stamp, order: orderOf(null) }))
    world.venue.publish(account, saying(orderOf(ref)))
    world.run(1_000)
    assert.deepStrictEqual(
      [aside(world), world.probes.get(id), mark(world)],
      [["its account is not ours"], "EXECUTED", 2]
    )
  })

  it("an event that is lost in transit is read again on a new connection", () => {
    const { world, process, id, ref } = withVoidProbe()
    world.venue.deaf = true
    world.venue.publish(account, saying(orderOf(ref)))
    world.venue.deaf = false
    world.venue.send(world.venue.heartbeat())
    world.run(5_000)
    assert.deepStrictEqual([world.probes.get(id), mark(world)], ["EXECUTED", 1])
    assert.isAtLeast(process.events.reconnects, 1)
  })

  it("A2-96: the next process begins at the checkpoint and applies nothing twice", () => {
    const { world, process, ref } = withVoidProbe()
    for (let n = 0; n < 5; n++) world.venue.publish(account, saying(orderOf(ref)))
    world.run(1_000)
    assert.strictEqual(mark(world), 5)
    process.lane.kill()
    for (let n = 0; n < 3; n++) world.venue.publish(account, saying(orderOf(ref)))
    world.launch()
    world.run(1_000)
    assert.deepStrictEqual([mark(world), sequence(world), aside(world)], [8, 8, []])
  })

  it("events that the venue no longer keeps: an alarm, and the reader continues from the venue's present number", () => {
    const { world, process, ref } = withVoidProbe()
    process.lane.kill()
    for (let n = 0; n < 6; n++) world.venue.publish(account, saying(orderOf(ref)))
    world.venue.forgotten = 4
    const next = world.launch()
    world.run(2_000)
    assert.strictEqual(mark(world), 6)
    assert.isTrue(next.link.connected)
    assert.strictEqual(world.errors.length, 1)
    // The gap in the account's own sequence makes the service read the missed event.
    world.venue.publish(account, saying(orderOf(ref)))
    world.run(1_000)
    assert.deepStrictEqual([sequence(world), mark(world)], [7, 7])
  })

  it("a connection that ends is opened again, and the link shows its state", () => {
    const { world, process } = withVoidProbe()
    assert.deepInclude(process.link, { connected: true, number: 0 })
    world.venue.disconnect()
    world.run(20)
    assert.isFalse(process.link.connected)
    world.run(200)
    assert.isTrue(process.link.connected)
  })

  it("each event is applied exactly once and in order, however lines are repeated, reordered and dropped", () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const random = new SeededRandom(seed)
        const { world, ref } = withVoidProbe()
        const { venue } = world
        for (let n = 0; n < 40; n++) {
          venue.deaf = true
          const events: Array<VenueEvent> = []
          for (let k = random.between(1, 4); k > 0; k--) events.push(venue.publish(account, saying(orderOf(ref))))
          venue.deaf = false
          if (random.chance(0.5)) events.reverse()
          for (const event of events) {
            if (random.chance(0.15)) continue
            venue.send(event)
            if (random.chance(0.2)) venue.send(event)
          }
          if (random.chance(0.1)) venue.disconnect()
          if (random.chance(0.1)) world.launch()
          world.run(random.between(0, 300))
        }
        venue.send(venue.heartbeat())
        world.run(20_000)
        assert.deepStrictEqual([sequence(world), mark(world)], [venue.events.length, venue.events.length])
        assert.deepStrictEqual([aside(world), world.errors], [[], []])
      }),
      { numRuns: 15 }
    )
  })
})
