/**
 * One account that can't continue, and numbers that never arrive: the events of all other accounts are applied, waiting
 * events are limited, and the checkpoint passes no event that is not committed or quarantined (A2-96, A2-115). In
 * virtual time, over a memory store and a memory venue.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { type VenueShape, VenueUnanswered } from "../../../src/runtime/ports/Venue.ts"
import { heldLimit } from "../../../src/runtime/services/venue/EventCursor.ts"
import { uidOf } from "./CallWorld.ts"
import { account, aside, lost, mark, orderOf, saying, sequence, withVoidProbe } from "./eventWorld.ts"

/**
 * A world whose venue does not provide missing events of account 7 until the test allows it, so that the account's gap
 * stays.
 */
const withStuckAccount = () => {
  const stuck = { now: true }
  const made = withVoidProbe((venue: VenueShape) => ({
    ...venue,
    accountEvents: (of, after) =>
      Effect.suspend(() =>
        stuck.now && of === account
          ? Effect.delay(Effect.fail(new VenueUnanswered({ reason: "no answer within 5 s" })), "5 seconds")
          : venue.accountEvents(of, after)
      )
  }))
  made.process.probe(8, 1)
  made.world.run(5_000)
  const other = [...made.world.probes.keys()].at(-1) as number
  assert.strictEqual(made.world.probes.get(other), "VOID")
  const { venue } = made.world
  const sayOther = () => venue.publish(uidOf(8), saying(orderOf(`P-${other}`, { account: uidOf(8) })))
  /** Published, but never sent: a gap of the account alone. */
  const event = { number: 1, at: made.world.timeline.now, fact: saying(orderOf(made.ref))({ account, sequence: 1 }) }
  venue.skip(account)
  venue.deaf = true
  venue.events.push(event)
  venue.deaf = false
  venue.send({ ...event, fact: { type: "listing", version: 1, symbol: "BTC-USDC-PERP" } })
  return { ...made, stuck, other, sayOther }
}

describe("an account whose events can't be applied", () => {
  it("A2-115: its events delay no other account, and are applied once they can be", () => {
    const { world, process, ref, stuck, other, sayOther } = withStuckAccount()
    for (let n = 0; n < 600; n++) world.venue.publish(account, saying(orderOf(ref)))
    sayOther()
    world.run(2_000)
    assert.deepStrictEqual([world.probes.get(other), sequence(world, 8)], ["EXECUTED", 1])
    assert.deepStrictEqual([sequence(world), mark(world), process.events.held], [undefined, 1, 601])
    stuck.now = false
    world.run(10_000)
    assert.deepStrictEqual([sequence(world), mark(world), process.events.held], [601, 602, 0])
    assert.deepStrictEqual([aside(world), world.errors, process.events.reconnects], [[], [], 0])
  })

  it("A2-115: unreadable lines that name it delay no other account either", () => {
    const { world, process, ref, stuck, other, sayOther } = withStuckAccount()
    world.venue.publish(account, saying(orderOf(ref)))
    for (let n = 0; n < 600; n++) world.venue.send({ unreadable: `x ${n}`, reason: "no JSON", number: null, account })
    world.venue.send({ unreadable: "y", reason: "no JSON", number: 3, account })
    world.venue.events.push({ number: 3, at: 1, fact: { type: "listing", version: 1, symbol: "BTC-USDC-PERP" } })
    sayOther()
    world.run(2_000)
    assert.deepStrictEqual([world.probes.get(other), mark(world), process.events.held], ["EXECUTED", 1, 3])
    stuck.now = false
    world.run(10_000)
    assert.deepStrictEqual([sequence(world), mark(world), aside(world).length], [2, 4, 601])
  })

  it("A2-115: an event that can't be read from its account's list either is set aside once, and later events are applied", () => {
    const { world, ref } = withVoidProbe((venue: VenueShape) => ({
      ...venue,
      accountEvents: (of, after) =>
        Effect.map(venue.accountEvents(of, after), (events) =>
          events.map((event) =>
            event.number === 2 ? { unreadable: "x", reason: "not what it should be", number: 2, account: of } : event
          )
        )
    }))
    const { venue } = world
    venue.publish(account, saying(orderOf(ref)))
    venue.deaf = true
    venue.publish(account, saying(orderOf(ref)))
    venue.deaf = false
    venue.send({ unreadable: "x", reason: "not what it should be", number: 2, account })
    world.run(10_000)
    assert.deepStrictEqual([sequence(world), mark(world)], [1, 2])
    venue.publish(account, saying(orderOf(ref)))
    world.run(10_000)
    assert.deepStrictEqual([sequence(world), mark(world)], [3, 3])
    assert.deepStrictEqual(aside(world), ["not what it should be"])
  })

  it("A2-96: a process that dies meanwhile has passed no event of it", () => {
    const { world, process, ref, stuck } = withStuckAccount()
    for (let n = 0; n < 600; n++) world.venue.publish(account, saying(orderOf(ref)))
    world.run(2_000)
    process.lane.kill()
    assert.strictEqual(mark(world), 1)
    stuck.now = false
    world.launch()
    world.run(10_000)
    assert.deepStrictEqual([sequence(world), mark(world), aside(world)], [601, 601, []])
  })

  it("the number of events that wait for the checkpoint is limited: the stream waits, and continues", () => {
    const { world, process, ref, stuck } = withStuckAccount()
    world.venue.publish(account, saying(orderOf(ref)))
    const all = 2 + heldLimit + 50
    for (let number = 3; number <= all; number++) {
      const event = {
        number,
        at: world.timeline.now,
        fact: { type: "listing", version: 1, symbol: "BTC-USDC-PERP" } as const
      }
      world.venue.events.push(event)
      world.venue.send(event)
    }
    world.run(3_000)
    assert.deepStrictEqual([mark(world), process.events.held], [1, heldLimit])
    stuck.now = false
    world.run(10_000)
    assert.deepStrictEqual([mark(world), process.events.held, process.events.reconnects], [all, 0, 0])
  })

  it("A2-115: a sequence beyond the venue's sequence of the account is set aside, and the account continues", () => {
    const { world, id, ref } = withVoidProbe()
    const fact = saying(orderOf(ref))({ account, sequence: 9_007_199_254_740_991 })
    const event = { number: 1, at: world.timeline.now, fact }
    world.venue.events.push(event)
    world.venue.send(event)
    world.run(10_000)
    assert.deepStrictEqual(
      [aside(world), sequence(world), mark(world)],
      [["its sequence lies beyond what the venue has of its account"], undefined, 1]
    )
    world.venue.publish(account, saying(orderOf(ref)))
    world.run(1_000)
    assert.deepStrictEqual([world.probes.get(id), sequence(world), mark(world)], ["EXECUTED", 1, 2])
  })
})

describe("a number that the venue never gives", () => {
  const without =
    (number: number) =>
    (venue: VenueShape): VenueShape => ({
      ...venue,
      events: (after) => Stream.filter(venue.events(after), (line) => "heartbeat" in line || line.number !== number)
    })

  it("A2-115: is requested for a minute, then passed, and every account is read again", () => {
    const { world, process, id, ref } = withVoidProbe(without(2))
    world.venue.publish(account, saying(orderOf(null)))
    world.venue.publish(account, saying(orderOf(ref)))
    world.venue.publish(uidOf(9), saying(orderOf(null)))
    world.venue.disconnect()
    world.run(55_000)
    assert.deepStrictEqual([mark(world), world.probes.get(id), lost(world)], [1, "VOID", []])
    assert.isAtMost(process.events.reconnects, 8)
    world.run(10_000)
    assert.deepStrictEqual([mark(world), world.probes.get(id), sequence(world)], [3, "EXECUTED", 2])
    assert.deepStrictEqual(lost(world), [{ after: 1, to: 2 }])
  })

  it("A2-115: is not passed after an hour without the venue, which gives it as soon as it is back", () => {
    const venue: { is: "deaf to 2" | "away" | "back" } = { is: "deaf to 2" }
    const { world, id, ref } = withVoidProbe((port) => ({
      ...port,
      events: (after) =>
        Stream.suspend(() => {
          if (venue.is === "away") return Stream.fail(new VenueUnanswered({ reason: "away" }))
          if (venue.is === "deaf to 2") return without(2)(port).events(after)
          const late = (line: object) => ("heartbeat" in line ? "0 millis" : "900 millis")
          return Stream.mapEffect(port.events(after), (line) => Effect.delay(Effect.succeed(line), late(line)))
        })
    }))
    world.venue.disconnect()
    world.run(5_000)
    world.venue.publish(account, saying(orderOf(null)))
    world.venue.publish(account, saying(orderOf(ref)))
    world.venue.publish(uidOf(9), saying(orderOf(null)))
    world.run(1_000)
    venue.is = "away"
    world.venue.disconnect()
    world.run(3_600_000)
    venue.is = "back"
    world.run(20_000)
    assert.deepStrictEqual([mark(world), world.probes.get(id), sequence(world)], [3, "EXECUTED", 2])
    assert.deepStrictEqual(lost(world), [])
  })

  it("the last number is not passed: nothing shows that it will not arrive", () => {
    const { world, process } = withVoidProbe(without(1))
    world.venue.publish(account, saying(orderOf(null)))
    world.venue.disconnect()
    world.run(200_000)
    assert.deepStrictEqual([mark(world), lost(world)], [undefined, []])
    assert.isAtMost(process.events.reconnects, 12)
  })
})

describe("defects of the reader itself", () => {
  it("a checkpoint that can't be stored because of a defect is stored later", () => {
    const { world, process, ref } = withVoidProbe()
    process.lane.kill()
    let broken = true
    world.bendHost = (host) => ({
      ...host,
      record: (rows) => (broken ? Effect.die(new Error("broken")) : host.record(rows))
    })
    world.launch()
    world.venue.publish(account, saying(orderOf(ref)))
    world.run(3_000)
    assert.isUndefined(mark(world))
    assert.include(world.errors.join(), "the checkpoint of the venue's events could not be stored")
    broken = false
    world.run(2_000)
    assert.strictEqual(mark(world), 1)
  })

  it("a defect during the search for missing numbers is logged, and the search is repeated", () => {
    const { world, id, ref } = withVoidProbe()
    let broken = 2
    world.onLog = (message) => {
      if (message.includes("have a gap") && broken-- > 0) throw new Error("broken")
    }
    world.venue.deaf = true
    world.venue.publish(account, saying(orderOf(ref)))
    world.venue.deaf = false
    world.venue.send(world.venue.heartbeat())
    world.run(20_000)
    assert.deepStrictEqual([mark(world), world.probes.get(id)], [1, "EXECUTED"])
    assert.include(world.errors.join(), "gaps of the venue's events could not be checked")
    assert.deepStrictEqual(aside(world), [])
  })
})
