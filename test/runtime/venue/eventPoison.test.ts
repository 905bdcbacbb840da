/**
 * Impossible numbers in events and heartbeats: quarantined, and nothing waits for them (A2-96, A2-115). In virtual
 * time, over a memory store and a memory venue.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { EventCursor, aheadLimit } from "../../../src/runtime/services/venue/EventCursor.ts"
import { account, aside, mark, orderOf, saying, sequence, withVoidProbe } from "./eventWorld.ts"

const absurd = 9_007_199_254_740_991

describe("the cursor of events", () => {
  it("A2-115: the venue's heartbeat bounds the believed numbers, and its next heartbeat takes back numbers that it lacks", () => {
    const cursor = new EventCursor(5)
    assert.deepStrictEqual(
      [cursor.believes(5 + aheadLimit), cursor.believes(6 + aheadLimit), cursor.believes(absurd)],
      [true, false, false]
    )
    assert.isTrue(cursor.heartbeat(1_000_000))
    // Only the first heartbeat of a connection may be far ahead.
    assert.isFalse(cursor.heartbeat(absurd))
    assert.isTrue(cursor.believes(1_000_000 + aheadLimit))
    cursor.again()
    assert.isTrue(cursor.heartbeat(6))
    assert.isTrue(cursor.begin(6))
    assert.isTrue(cursor.begin(50))
    cursor.done(50)
    cursor.done(6)
    assert.deepStrictEqual([cursor.mark, cursor.hole], [6, true])
    assert.isTrue(cursor.heartbeat(6))
    assert.deepStrictEqual([cursor.mark, cursor.hole, cursor.begin(50)], [6, false, true])
  })

  it("A2-96: the checkpoint is the last number before which no event is missing, in any order of arrival", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 60 }), (numbers) => {
        const cursor = new EventCursor(0)
        for (const number of numbers) {
          assert.isTrue(cursor.begin(number))
          assert.isFalse(cursor.begin(number))
          cursor.done(number)
        }
        let expected = 0
        while (numbers.includes(expected + 1)) expected++
        assert.strictEqual(cursor.mark, expected)
        assert.strictEqual(cursor.held, numbers.filter((number) => number > expected).length)
      })
    )
  })
})

describe("impossible numbers", () => {
  const tooFar = "its number lies far beyond what the venue has"

  it("A2-115: an event of an absurd number is set aside without its number, its account is read again, and nothing waits", () => {
    const { world, process, id, ref } = withVoidProbe()
    world.venue.deaf = true
    const event = world.venue.publish(account, saying(orderOf(ref)))
    world.venue.deaf = false
    world.venue.send({ ...event, number: absurd })
    world.venue.send({ ...event, number: absurd })
    world.run(20_000)
    assert.deepStrictEqual(
      world.store.rows("venueQuarantine").map(({ reason, number }) => [reason, number]),
      [[tooFar, null]]
    )
    assert.deepStrictEqual([world.probes.get(id), sequence(world), process.events.reconnects], ["EXECUTED", 1, 0])
    // Its own number is still missing, and the following events are applied.
    world.venue.send(event)
    world.venue.publish(account, saying(orderOf(ref)))
    world.run(1_000)
    assert.deepStrictEqual([mark(world), sequence(world)], [2, 2])
  })

  it("A2-115: the absurd number of an unreadable line is not believed either", () => {
    const { world, process } = withVoidProbe()
    world.venue.send({ unreadable: "x", reason: "no JSON", number: absurd, account: null })
    world.run(20_000)
    assert.deepStrictEqual(
      world.store.rows("venueQuarantine").map(({ reason, number }) => [reason, number]),
      [["no JSON", null]]
    )
    assert.strictEqual(process.events.reconnects, 0)
  })

  it("A2-115: a number slightly ahead of the venue is dropped with the next heartbeat", () => {
    const { world, process, ref } = withVoidProbe()
    const event = world.venue.publish(account, saying(orderOf(ref)))
    world.venue.send({ ...event, number: 70 })
    world.run(500)
    world.venue.send(world.venue.heartbeat())
    world.run(20_000)
    assert.deepStrictEqual([mark(world), process.events.held], [1, 0])
    assert.isAtMost(process.events.reconnects, 1)
    for (let n = 0; n < 80; n++) world.venue.publish(account, saying(orderOf(ref)))
    world.run(5_000)
    assert.deepStrictEqual([mark(world), sequence(world), aside(world)], [81, 81, []])
  })

  it("A2-115: a heartbeat of an absurd number is set aside, once a minute, and moves nothing", () => {
    const { world, process, ref } = withVoidProbe()
    for (let n = 0; n < 30; n++) {
      world.venue.send({ ...world.venue.heartbeat(), number: absurd - n })
      world.run(1_000)
    }
    assert.deepStrictEqual(aside(world), ["a heartbeat's number lies far beyond what the venue has"])
    assert.deepStrictEqual([process.events.reconnects, process.link.number], [0, 0])
    world.venue.publish(account, saying(orderOf(ref)))
    world.run(1_000)
    assert.strictEqual(mark(world), 1)
  })

  it("A2-115: a venue whose every heartbeat is absurd is queried at growing intervals, and its events are applied", () => {
    const { world, process, id, ref } = withVoidProbe()
    const honest = world.venue.heartbeat.bind(world.venue)
    world.venue.heartbeat = () => ({ ...honest(), number: absurd })
    world.venue.disconnect()
    world.run(120_000)
    assert.isAtMost(process.events.reconnects, 10)
    world.venue.publish(account, saying(orderOf(ref)))
    world.run(1_000)
    assert.deepStrictEqual([mark(world), world.probes.get(id)], [1, "EXECUTED"])
    world.venue.heartbeat = honest
    world.venue.disconnect()
    world.run(5_000)
    const { reconnects } = process.events
    world.run(120_000)
    assert.deepStrictEqual([process.events.reconnects, process.link.number], [reconnects, 1])
  })
})

describe("a flood of events that can't be applied", () => {
  it("A2-115: each is stored, and the log names ten of them a minute, and the number of the others", () => {
    const { world, ref } = withVoidProbe()
    const order = { ...orderOf(ref), ref: null }
    for (let n = 0; n < 1_294; n++) world.venue.publish(account, saying(order))
    world.run(5_000)
    assert.deepStrictEqual([aside(world).length, mark(world)], [1_294, 1_294])
    assert.strictEqual(world.store.rows("audit").filter(({ action }) => action === "venue.setAside").length, 1_294)
    assert.deepStrictEqual(
      world.errors,
      Array(10).fill("a message of the venue is quarantined; venue quarantine list shows it")
    )
    world.run(120_000)
    assert.deepStrictEqual(world.errors.slice(10), [
      "1284 more messages of this kind were quarantined; venue quarantine list shows them"
    ])
    // No similar message since, so the next one is logged at once.
    world.venue.publish(account, saying(order))
    world.run(1_000)
    assert.strictEqual(world.errors.length, 12)
  })
})
