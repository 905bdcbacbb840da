/**
 * Events that the venue no longer provides: every account is read again, also one without new events, and no fault ends
 * the reads (A2-96, A2-115). In virtual time, over a memory store and a memory venue.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Stream } from "effect"
import type { VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import { type UnreadableLine, type VenueShape, VenueUnanswered } from "../../../src/runtime/ports/Venue.ts"
import { VenueProgress } from "../../../src/runtime/ports/VenueProgress.ts"
import { eventsNotKept } from "../../../src/runtime/services/venue/venueQuarantine.ts"
import { type CallProcess, type CallWorld, uidOf } from "./CallWorld.ts"
import { account, aside, lost, mark, orderOf, saying, sequence, withVoidProbe } from "./eventWorld.ts"

/**
 * A world that has received one event of client 7's account. Its process is dead, and the venue has executed the probe
 * since.
 */
const withLostExecution = (bend: (venue: VenueShape) => VenueShape = (venue) => venue) => {
  const made = withVoidProbe(bend)
  const { world, process, id, ref } = made
  world.venue.publish(account, saying(orderOf(null)))
  world.run(1_000)
  assert.deepStrictEqual([sequence(world), mark(world)], [1, 1])
  process.lane.kill()
  world.venue.publish(account, saying(orderOf(ref)))
  for (let n = 0; n < 3; n++) world.venue.publish(uidOf(9), saying(orderOf(null)))
  world.venue.forgotten = world.venue.events.length
  world.errors.length = 0
  return { world, id }
}

describe("events that the venue no longer keeps", () => {
  it("A2-96: a quiet account that such an event concerned is read again", () => {
    const { world, id } = withLostExecution()
    const next = world.launch()
    world.run(5_000)
    assert.deepStrictEqual([world.probes.get(id), sequence(world), mark(world)], ["EXECUTED", 2, 5])
    assert.deepStrictEqual([lost(world), next.events.mark], [[{ after: 1, to: 5 }], 5])
    assert.deepStrictEqual(world.errors, [
      "the venue no longer keeps the next events: the service skips them, and reads every account again"
    ])
  })

  it("A2-96: until every account is read again the checkpoint is not stored, and nothing waits for it", () => {
    let away = true
    const { world, id } = withLostExecution((venue) => ({
      ...venue,
      accountEvents: (of, after) =>
        Effect.suspend(() =>
          away ? Effect.fail(new VenueUnanswered({ reason: "lost" })) : venue.accountEvents(of, after)
        )
    }))
    const first = world.launch()
    world.run(5_000)
    assert.deepStrictEqual([mark(world), first.events.mark, world.probes.get(id)], [1, 5, "VOID"])
    assert.deepStrictEqual([first.isAt(5), first.link.takenTo], [false, null])
    first.lane.kill()
    const second = world.launch()
    world.run(5_000)
    assert.deepStrictEqual([mark(world), second.events.mark], [1, 5])
    away = false
    world.run(5_000)
    assert.deepStrictEqual([world.probes.get(id), sequence(world), mark(world)], ["EXECUTED", 2, 5])
    assert.isTrue(second.isAt(5))
    world.venue.send(world.venue.heartbeat())
    const { now } = world.timeline
    world.run(1_000)
    assert.strictEqual(second.link.takenTo, now)
  })

  it("A2-96: one account that can't be read prevents no other from being read after the next loss", () => {
    const { world, process } = withVoidProbe((venue) => ({
      ...venue,
      accountEvents: (of, after) =>
        of === account ? Effect.fail(new VenueUnanswered({ reason: "lost" })) : venue.accountEvents(of, after)
    }))
    process.probe(8, 1)
    world.run(5_000)
    const { venue } = world
    const sayUnheard = (of: string) => {
      venue.deaf = true
      venue.publish(of, saying(orderOf(null)))
      venue.forgotten = venue.events.length
      venue.deaf = false
      venue.disconnect()
      world.run(5_000)
    }
    for (const target of [account, uidOf(8)]) venue.publish(target, saying(orderOf(null)))
    world.run(1_000)
    sayUnheard(account)
    sayUnheard(uidOf(8))
    assert.deepStrictEqual([sequence(world, 7), sequence(world, 8), mark(world)], [1, 2, 2])
  })

  it("an account's events that the venue still keeps are applied past those that it does not, with an alarm", () => {
    let gone = 0
    const { world, id } = withLostExecution((venue) => ({
      ...venue,
      accountEvents: (of, after) =>
        Effect.map(venue.accountEvents(of, after), (found) => found.filter(({ number }) => (number ?? 0) > gone))
    }))
    // Two further events of the account. Three events were not received, and the venue no longer has the first of them.
    for (let n = 0; n < 2; n++) world.venue.publish(account, saying(orderOf(null)))
    world.venue.forgotten = world.venue.events.length
    gone = 2
    world.launch()
    world.run(10_000)
    assert.strictEqual(world.probes.get(id), "VOID")
    assert.deepStrictEqual([sequence(world), mark(world)], [4, 7])
    assert.include(aside(world).join(), "does not keep what it said")
  })

  it("A2-115: such events are applied no further than the venue's sequence of the account", () => {
    let kept = true
    const poison = { number: 9_000, at: 1, fact: saying(orderOf(null))({ account, sequence: 9_007_199_254_740_991 }) }
    const { world } = withLostExecution((venue) => ({
      ...venue,
      accountEvents: (of, after) =>
        Effect.suspend(() => (kept ? venue.accountEvents(of, after) : Effect.succeed([poison])))
    }))
    kept = false
    world.launch()
    world.run(10_000)
    assert.strictEqual(sequence(world), 1)
  })

  it("an account's events that its own list lacks too are an alarm of the account", () => {
    let kept = true
    const { world } = withLostExecution((venue) => ({
      ...venue,
      accountEvents: (of, after) => Effect.suspend(() => (kept ? venue.accountEvents(of, after) : Effect.succeed([])))
    }))
    kept = false
    world.launch()
    world.run(10_000)
    const found = world.store
      .rows("venueQuarantine")
      .find(({ reason }) => reason.endsWith("does not keep what it said"))
    assert.deepInclude(found, { account, bytes: JSON.stringify({ account, after: 1, to: 2 }) })
    assert.strictEqual(mark(world), 5)
    // The comparison of the money finds the amount.
    assert.deepStrictEqual(world.store.rows("reconBreaks"), [])
  })

  it("A2-103: if the venue keeps neither an account's events nor its money, a break opens at once", () => {
    let kept = true
    const { world } = withLostExecution((venue) => ({
      ...venue,
      account: (of) => Effect.map(venue.account(of), (found) => (found === null ? null : { ...found, money: null })),
      accountEvents: (of, after) => Effect.suspend(() => (kept ? venue.accountEvents(of, after) : Effect.succeed([])))
    }))
    kept = false
    world.launch()
    world.run(10_000)
    const [opened, ...more] = world.store.rows("reconBreaks")
    assert.deepStrictEqual([opened?.clientId, opened?.context.pausesMoneyOut, more], [7, true, []])
    assert.include(opened?.context.reason ?? "", `no longer gives all of the events 2 to 2 of account ${account}`)
  })
})

/** A read of an account that its stream does not deliver: the venue has `count` more events of it. */
const readHidden = (bend: (venue: VenueShape, more: () => void) => VenueShape, count = 2) => {
  const { world, process, ref } = withVoidProbe((venue) =>
    bend(venue, () => void world.venue.publish(account, saying(orderOf(ref))))
  )
  world.venue.publish(account, saying(orderOf(ref)))
  world.run(1_000)
  world.venue.deaf = true
  for (let n = 0; n < count; n++) world.venue.publish(account, saying(orderOf(ref)))
  return { world, process, read: readAll(process, count + 1) }
}
const readAll = (process: CallProcess, to: number) =>
  process.run(Effect.flatMap(VenueProgress, ({ readAccount }) => readAccount(account, to)))
/** The stream delivers all events from now on. */
const hear = ({ venue }: CallWorld): void => {
  venue.deaf = false
  venue.disconnect()
}
const withoutMoney = (venue: VenueShape): VenueShape => ({
  ...venue,
  account: (of) => Effect.map(venue.account(of), (found) => (found === null ? null : { ...found, money: null }))
})
const unreadable = (number: number | null) => ({ unreadable: "x", reason: "no JSON", number, account })

describe("A2-103: a read of one account up to a sequence", () => {
  it("ends although each read is followed by another event", () => {
    const { world, read } = readHidden((venue, more) => ({
      ...venue,
      accountEvents: (of, after) => Effect.tap(venue.accountEvents(of, after), () => Effect.sync(more))
    }))
    world.run(1_000)
    assert.deepStrictEqual([read.exit, sequence(world), aside(world)], [Exit.succeed(3), 3, []])
  })

  it.each([
    ["the last event", [3], 2],
    ["all missing events", [2, 3], 1]
  ] as const)("%s returned but unreadable are quarantined, not lost", (_, bad, reached) => {
    const { world, read } = readHidden((venue) => ({
      ...withoutMoney(venue),
      accountEvents: (of, after) =>
        Effect.map(venue.accountEvents(of, after), (found) =>
          found.map((event) => (bad.some((number) => number === event.number) ? unreadable(event.number) : event))
        )
    }))
    world.run(20_000)
    assert.deepStrictEqual([read.exit, sequence(world)], [Exit.succeed(3), reached])
    assert.deepStrictEqual(
      aside(world),
      bad.map(() => "no JSON")
    )
    assert.deepStrictEqual(world.store.rows("reconBreaks"), [])
  })

  it("more unreadable events than a page holds end no read: a readable event after them is applied", () => {
    const { world, read } = readHidden(
      (venue) => ({
        ...withoutMoney(venue),
        accountEvents: (of, after) =>
          Effect.map(venue.accountEvents(of, after), (found) =>
            found.map((event) => (event.number === 1_103 ? event : unreadable(event.number)))
          )
      }),
      1_102
    )
    world.run(20_000)
    assert.deepStrictEqual([read.exit, sequence(world)], [Exit.succeed(1_103), 1_103])
    assert.deepStrictEqual([...new Set(aside(world))], ["no JSON"])
    assert.deepStrictEqual(world.store.rows("reconBreaks"), [])
  })

  it("events that arrive while their loss is decided are applied, not lost", () => {
    const { world, read } = readHidden((venue) => ({
      ...venue,
      account: (of) => Effect.delay(withoutMoney(venue).account(of), "2 seconds"),
      accountEvents: (of, after) =>
        Effect.map(venue.accountEvents(of, after), (found) => found.filter(({ number }) => number === 1))
    }))
    world.run(10_000)
    hear(world)
    world.run(5_000)
    assert.deepStrictEqual([read.exit, sequence(world), aside(world)], [Exit.succeed(3), 3, []])
    assert.deepStrictEqual(world.store.rows("reconBreaks"), [])
  })

  it("absent events count as lost after two reads 5 s apart, and events that arrive before that are applied", () => {
    let absent = true
    const { world, read } = readHidden((venue) => ({
      ...withoutMoney(venue),
      accountEvents: (of, after) =>
        Effect.map(venue.accountEvents(of, after), (found) => found.filter(({ number }) => !absent || number === 1))
    }))
    world.run(5_000)
    absent = false
    world.run(1_000)
    assert.deepStrictEqual([read.exit, sequence(world), aside(world)], [Exit.succeed(3), 3, []])
    assert.deepStrictEqual(world.store.rows("reconBreaks"), [])
  })
})

describe("A2-96: lost events that arrive later", () => {
  let isQuiet = true
  const withLoss = (absent: (number: number | null) => boolean, count = 2) => {
    let isAbsent = absent
    isQuiet = true
    const { world, process, read } = readHidden(
      (venue) => ({
        ...venue,
        events: (after) =>
          Stream.filter(venue.events(after), (line) => !isQuiet || "heartbeat" in line || (line.number ?? 0) < 2),
        accountEvents: (of, after) =>
          Effect.map(venue.accountEvents(of, after), (found) => found.filter(({ number }) => !isAbsent(number)))
      }),
      count
    )
    world.run(10_000)
    assert.deepStrictEqual(read.exit, Exit.succeed(count + 1))
    assert.deepStrictEqual(drops(world), [false])
    const hears = (): void => {
      isQuiet = false
      hear(world)
    }
    const give = (but: number | null = null) => void (isAbsent = (number) => number === but)
    return { world, process, hears, give }
  }
  const drops = (world: CallWorld) => world.store.rows("venueQuarantine").map(({ droppedAt }) => droppedAt !== null)

  it.each(["a read", "a read of the next process", "the stream"] as const)(
    "%s applies them and drops the loss",
    (way) => {
      const { world, process, hears, give } = withLoss((number) => number !== 1)
      if (way === "the stream") hears()
      else give()
      if (way === "a read") readAll(process, 3)
      if (way === "a read of the next process") {
        process.lane.kill()
        readAll(world.launch(), 3)
      }
      world.run(5_000)
      assert.deepStrictEqual([sequence(world), drops(world)], [3, [true]])
      const dropped = world.store.rows("audit").filter(({ action }) => action === "venue.drop")
      assert.deepStrictEqual(
        dropped.map(({ clientId, reason }) => [clientId, reason]),
        [[7, "the lost events have arrived"]]
      )
      hears()
      world.run(5_000)
      assert.deepStrictEqual([sequence(world), drops(world)], [3, [true]])
    }
  )

  it.each(["the same process", "the next process", "the next process, which at first reads none"])(
    "the second half in %s drops the loss of both halves, and no second loss is recorded",
    (way) => {
      const { world, process, give } = withLoss((number) => number !== 1)
      give(3)
      readAll(process, 3)
      world.run(20_000)
      assert.deepStrictEqual([sequence(world), drops(world)], [2, [false]])
      let next = process
      if (way !== "the same process") {
        process.lane.kill()
        next = world.launch()
      }
      if (way.endsWith("none")) {
        readAll(next, 3)
        world.run(20_000)
        assert.deepStrictEqual([sequence(world), drops(world)], [2, [false]])
      }
      give()
      readAll(next, 3)
      world.run(5_000)
      assert.deepStrictEqual([sequence(world), drops(world)], [3, [true]])
    }
  )

  it("a loss stays with staff if a later event is already applied", () => {
    const { world, process, hears, give } = withLoss((number) => number === 2)
    assert.strictEqual(sequence(world), 3)
    give()
    readAll(process, 3)
    hears()
    world.run(5_000)
    assert.deepStrictEqual([sequence(world), drops(world)], [3, [false]])
  })

  it("a loss with an event that was applied after a gap stays with staff after a restart, although the last one arrives", () => {
    const { world, process, give } = withLoss((number) => number === 2 || number === 4, 3)
    assert.strictEqual(sequence(world), 3)
    process.lane.kill()
    give()
    readAll(world.launch(), 4)
    world.run(5_000)
    assert.deepStrictEqual([sequence(world), drops(world)], [4, [false]])
  })
})

describe("A2-96: an event after a gap", () => {
  const gapOf = (bend: (events: ReadonlyArray<VenueEvent>) => ReadonlyArray<VenueEvent | UnreadableLine>) => {
    const { world, ref } = withVoidProbe((venue) => ({
      ...withoutMoney(venue),
      accountEvents: (of, after) => Effect.map(venue.accountEvents(of, after), (found) => bend(found as never))
    }))
    world.venue.publish(account, saying(orderOf(ref)))
    world.run(1_000)
    world.venue.deaf = true
    world.venue.publish(account, saying(orderOf(ref)))
    world.venue.deaf = false
    world.venue.publish(account, saying(orderOf(ref)))
    return world
  }

  it("is applied at once if the venue returns the events of the gap and they are unreadable", () => {
    // The venue's list lags: it lacks the event that the stream has delivered.
    const world = gapOf((found) => found.flatMap(({ number }) => (number === 2 ? [unreadable(2)] : [])))
    world.run(20)
    assert.deepStrictEqual([sequence(world), aside(world)], [3, ["no JSON"]])
    assert.deepStrictEqual(world.store.rows("reconBreaks"), [])
  })

  it("of a quiet account is applied although an unreadable event precedes the gap", () => {
    const { world, ref } = withVoidProbe((venue) => ({
      ...venue,
      events: (after) =>
        Stream.flatMap(venue.events(after), (line) => {
          if ("heartbeat" in line || line.number === 1) return Stream.make(line)
          return line.number === 2 ? Stream.make(unreadable(2)) : Stream.empty
        }),
      accountEvents: (of, after) =>
        Effect.map(venue.accountEvents(of, after), (found) =>
          found.flatMap((event) => (event.number === 2 ? [unreadable(2)] : event.number === 3 ? [] : [event]))
        )
    }))
    for (let n = 0; n < 4; n++) world.venue.publish(account, saying(orderOf(ref)))
    world.run(20_000)
    assert.deepStrictEqual([sequence(world), aside(world)], [4, ["no JSON", eventsNotKept]])
  })

  it("waits 5 s for the events of the gap before they count as lost", () => {
    let absent = true
    const world = gapOf((found) => found.filter(() => !absent))
    world.run(5_000)
    assert.strictEqual(sequence(world), 1)
    absent = false
    world.run(1_000)
    assert.deepStrictEqual([sequence(world), aside(world)], [3, []])
  })
})

describe("a venue with other books", () => {
  it("A2-96: its sequence of an account is lower than the one received earlier: an alarm of the account", () => {
    let isReplaced = false
    const { world } = withLostExecution((venue) => ({
      ...venue,
      account: (of) => (isReplaced ? Effect.succeed(null) : venue.account(of)),
      accountEvents: (of, after) => (isReplaced ? Effect.succeed([]) : venue.accountEvents(of, after))
    }))
    isReplaced = true
    world.launch()
    world.run(5_000)
    const found = world.store.rows("venueQuarantine").find(({ reason }) => reason.includes("has less"))
    assert.deepInclude(found, { account, bytes: JSON.stringify({ account, after: 1, sequence: 0 }) })
    assert.strictEqual(mark(world), 5)
  })
})
