/**
 * Calls of the venue: made once, concurrently, within 5 s or never, only by the owner of the database; lost calls are
 * queried and voided (architecture, Engine: venue calls; D6, A2-26). In virtual time, over a memory store and a memory
 * venue.
 */
import { assert, describe, it } from "@effect/vitest"
import { Exit } from "effect"
import { begin, CallWorld } from "./CallWorld.ts"

const answered = <A>(heard: { readonly exit: Exit.Exit<A, unknown> | null }): A => {
  if (heard.exit === null || Exit.isFailure(heard.exit)) throw new Error(`no answer: ${String(heard.exit)}`)
  return heard.exit.value
}

const times = (world: CallWorld, ref: string) => [world.venue.came.get(ref) ?? 0, world.venue.executed.get(ref) ?? 0]

describe("calls of the venue", () => {
  it("A2-26: the commit records the call in flight, the outcome's commit removes the record", () => {
    const world = new CallWorld(() => ({ toVenue: 20, toCaller: 20 }))
    const process = world.launch()
    const started = process.probe(7, 2)
    world.run(30)
    const [one, other] = answered(started) as [number, number]
    assert.deepStrictEqual(world.inFlight, [`P-${one}`, `P-${other}`])
    assert.deepStrictEqual([...world.probes.values()], ["IN_FLIGHT", "IN_FLIGHT"])
    world.run(500)
    assert.deepStrictEqual([world.inFlight, [...world.probes.values()]], [[], ["EXECUTED", "EXECUTED"]])
    assert.deepStrictEqual(
      [times(world, `P-${one}`), times(world, `P-${other}`)],
      [
        [1, 1],
        [1, 1]
      ]
    )
  })

  it("A2-95: the account is opened before its first call, once", () => {
    const world = new CallWorld()
    const process = world.launch()
    for (const _ of [1, 2, 3]) {
      process.probe(7, 2)
      world.run(100)
    }
    assert.deepStrictEqual(times(world, "U-ACM-00000007"), [1, 1])
    assert.strictEqual(process.figures.made, 6)
  })

  it("A2-95: a venue that refuses the account gets no call of it", () => {
    const world = new CallWorld((name) => (name === "openAccount" ? { refused: "no more accounts" } : {}))
    const process = world.launch()
    process.probe(7, 1)
    world.run(3_000)
    assert.deepStrictEqual([world.venue.came.get("P-1") ?? 0, process.figures.made], [0, 0])
    assert.deepStrictEqual([world.inFlight, [...world.probes.values()]], [[], ["VOID"]])
  })

  it("A2-95: after a temporary refusal of the account it is requested again, under another ref", () => {
    let refusing = true
    const world = new CallWorld((name) => (name === "openAccount" && refusing ? { refused: "not now" } : {}))
    const process = world.launch()
    process.probe(7, 1)
    world.run(3_000)
    refusing = false
    process.probe(7, 1)
    world.run(3_000)
    assert.deepStrictEqual([world.inFlight, [...world.probes.values()]], [[], ["VOID", "EXECUTED"]])
  })

  it("a client's calls run at the same time, at most eight, in the order of their commits; other clients have their own places", () => {
    const order: Array<string> = []
    const world = new CallWorld((name, [ref = ""]) => {
      if (name === "placeOrder") order.push(ref)
      return { toVenue: 300, toCaller: 1 }
    })
    // An event would otherwise report the outcome before the answer.
    world.venue.deaf = true
    const process = world.launch()
    process.probe(7, 1)
    world.run(1_000)
    process.probe(7, 10)
    world.run(5)
    const refs = [...world.probes.keys()].map((id) => `P-${id}`)
    assert.deepStrictEqual(order, refs.slice(0, 9))
    process.probe(8, 1)
    world.run(400)
    const foreign = [...world.probes.keys()].map((id) => `P-${id}`).at(-1) as string
    assert.sameMembers(order.slice(9), [...refs.slice(9), foreign])
    world.run(1_000)
    assert.deepStrictEqual(new Set(world.probes.values()), new Set(["EXECUTED"]))
  })

  it("a call whose answer is lost delays no other of its client", () => {
    const world = new CallWorld((name, [ref = ""]) =>
      name === "placeOrder" && ref === "P-2" ? { lost: "after", silent: true } : { toVenue: 2, toCaller: 2 }
    )
    world.venue.deaf = true
    const process = world.launch()
    process.probe(7, 1)
    world.run(100)
    process.probe(7, 3)
    world.run(100)
    assert.deepStrictEqual([...world.probes.values()], ["EXECUTED", "IN_FLIGHT", "EXECUTED", "EXECUTED"])
    assert.deepStrictEqual(world.inFlight, ["P-2"])
  })

  it.each([
    ["lost on its way there", { lost: "before" }, "VOID", [0, 0]],
    ["executed, the answer lost", { lost: "after" }, "EXECUTED", [1, 1]],
    ["silence before the venue", { lost: "before", silent: true }, "VOID", [0, 0]],
    ["executed, then silence", { lost: "after", silent: true }, "EXECUTED", [1, 1]],
    ["on its way for 8 s: void before it comes", { toVenue: 8_000 }, "VOID", [1, 0]],
    ["its answer on the way for 8 s", { toCaller: 8_000 }, "EXECUTED", [1, 1]],
    ["refused", { refused: "the market is halted" }, "REFUSED", [1, 0]]
  ] as const)("A2-26: a call %s", (_, fault, state, came) => {
    const world = new CallWorld((name) => (name === "placeOrder" ? fault : { toVenue: 2, toCaller: 2 }))
    // No event reports the outcome before the answer.
    world.venue.deaf = true
    const process = world.launch()
    const [id] = (process.probe(7, 1), world.run(3), [...world.probes.keys()])
    world.run(20_000)
    assert.deepStrictEqual([world.probes.get(id as number), world.inFlight], [state, []])
    assert.deepStrictEqual(times(world, `P-${id}`), [...came])
    assert.deepStrictEqual(world.errors, [])
  })

  it("D6: lost calls are queried after 1, 2, 4 and 8 s, then every 5 s; a call with an alarm after 60 s, once", () => {
    const asked: Array<number> = []
    const world = new CallWorld((name) => {
      if (name === "voidRefs") asked.push(world.timeline.now)
      return name === "openAccount" ? {} : { lost: "before" }
    })
    const process = world.launch()
    process.probe(7, 1)
    world.run(90_000)
    const lostAt = (asked[0] as number) - 1_000
    assert.approximately(lostAt, begin, 10)
    const seconds = asked.map((at) => Math.round((at - lostAt) / 1_000))
    assert.deepStrictEqual(seconds.slice(0, 8), [1, 2, 4, 8, 13, 18, 23, 28])
    assert.deepStrictEqual(world.errors, [
      "the venue has not answered a call for a minute; the service queries the call again, and venue resolve can end it"
    ])
    assert.deepStrictEqual([...world.probes.values()], ["IN_FLIGHT"])
    const said = world.store.rows("audit").filter(({ action }) => action === "venue.unanswered")
    assert.deepStrictEqual(
      said.map(({ object }) => object),
      [`venueProbe:${[...world.probes.keys()][0]}`]
    )
    assert.strictEqual(process.figures.alarms, 1)
  })

  it("a process that dies leaves its calls to the next, which queries and never calls", () => {
    const world = new CallWorld((name) => (name === "placeOrder" ? { toVenue: 50, toCaller: 50 } : {}))
    const first = world.launch()
    first.probe(7, 3)
    world.run(20)
    first.lane.kill()
    const second = world.launch()
    world.run(500)
    // The call in flight has the outcome that came first at the venue; the two calls that were not sent are void.
    assert.deepStrictEqual([...world.probes.values()].slice(1), ["VOID", "VOID"])
    assert.deepStrictEqual([world.inFlight, second.figures.made], [[], 0])
    for (const id of world.probes.keys()) assert.isAtMost(times(world, `P-${id}`)[1] as number, 1)
  })

  it.each([
    ["before the call, thawed after 6 s", 6_000, false],
    ["before the call, replaced meanwhile", 2_000, true]
  ])("a process frozen %s does not call", (_, millis, replaced) => {
    const world = new CallWorld(() => ({ toVenue: 1, toCaller: 1 }))
    const older = world.launch()
    older.probe(8, 1)
    world.run(100)
    older.probe(7, 1)
    // The turn is decided and stored at this moment, and the call is not sent yet.
    world.timeline.run(world.timeline.now + 1, () => world.inFlight.length === 1)
    older.lane.stalledUntil = world.timeline.now + millis
    const ref = world.inFlight[0] as string
    if (replaced) world.launch()
    world.run(20_000)
    assert.deepStrictEqual(times(world, ref), [0, 0])
    assert.deepStrictEqual([world.inFlight, world.venue.outcomeOf(ref).outcome], [[], "VOID"])
  })

  it("A1-51: a waiting caller is told within 5 s whether the end is known", () => {
    const world = new CallWorld((name, [ref = ""]) =>
      name === "placeOrder" && ref.endsWith("2") ? { lost: "after", silent: true } : { toVenue: 40, toCaller: 40 }
    )
    world.venue.deaf = true
    const process = world.launch()
    process.probe(7, 1)
    process.probe(8, 1)
    world.run(5)
    const [one, other] = [process.known(7, ["P-1"]), process.known(8, ["P-2"])]
    world.run(1_000)
    assert.isTrue(answered(one))
    assert.isNull(other.exit)
    world.run(4_500)
    assert.isFalse(answered(other))
    assert.isTrue(answered((world.run(1), again(world, process))))
  })

  it.each([0, 1, 2, 3])(
    "a process that is frozen %i steps after the commit checks again whether it owns the database, and calls",
    (steps) => {
      const world = new CallWorld()
      const process = world.launch()
      // The account is open: the next call only needs the check of the database's owner.
      process.probe(7, 1)
      world.run(1_000)
      let reads = 0
      const { timeline } = world
      Object.assign(process.lane.clock, {
        currentTimeMillisUnsafe: () => {
          if (++reads > 10_000) throw new Error("it goes round in a circle")
          return timeline.now
        }
      })
      process.probe(7, 1)
      let left = steps
      timeline.run(timeline.now + 1_000, () => world.inFlight.length === 1 && left-- === 0)
      timeline.leap(2_000)
      world.run(2_000)
      assert.deepStrictEqual([world.errors, [...world.probes.values()]], [[], ["EXECUTED", "EXECUTED"]])
    }
  )

  it("F9: calls that wait for a place are made within their time, however many there are, and other clients' calls are made too", () => {
    const clientIds = Array.from({ length: 1_500 }, (_, n) => 100 + n)
    const slow = () => ({ toVenue: 150, toCaller: 150 })
    const crowd = (inRoom: boolean) => {
      const world = new CallWorld(slow)
      const process = world.launch()
      if (inRoom) process.probeInRoom(clientIds)
      else for (const clientId of clientIds) process.probe(clientId, 1)
      world.run(2_000)
      const mostHeld = process.figures.inFlight
      process.probe(7, 1)
      world.run(2_500)
      const other = world.store.rows("venueProbes").find(({ clientId }) => clientId === 7)?.state
      world.run(60_000)
      return { late: process.figures.tooLate > 0, few: mostHeld <= 2 * 128, other, left: world.inFlight.length }
    }
    assert.deepStrictEqual(crowd(true), { late: false, few: true, other: "EXECUTED", left: 0 })
    // Most of the calls that are decided at once are late, and they delay others.
    assert.deepStrictEqual(crowd(false), { late: true, few: false, other: "IN_FLIGHT", left: 0 })
  })

  it("10,000 lost answers need 20 queries", () => {
    const world = new CallWorld((name) => (name === "placeOrder" ? { lost: "after", silent: true } : {}))
    const first = world.launch()
    for (let client = 1; client <= 100; client++) first.probe(client, 100)
    world.run(50)
    first.lane.kill()
    const second = world.launch()
    world.run(3_000)
    assert.deepStrictEqual([world.inFlight.length, second.figures.lookups, world.probes.size], [0, 20, 10_000])
  })
})

const again = (world: CallWorld, process: ReturnType<CallWorld["launch"]>) => {
  const heard = process.known(7, ["P-1"])
  world.run(5)
  return heard
}
