/**
 * The order of calls: calls of one object are sequential and in order, calls of different objects of one client are
 * concurrent, up to a limit; an object whose answer is lost delays no other object.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { ownerOfRef } from "../../../src/machines/venue/venueRefs.ts"
import { CallLanes, type Waiting } from "../../../src/runtime/services/venue/CallLanes.ts"

const call = (clientId: number, ref: string): Waiting => ({
  row: { ref, partnerId: 1, clientId, call: "placeOrder", request: { ref, account: `ACM-${clientId}` }, at: 0 },
  deadline: 5_000
})

/** The refs of the calls that start now. */
const begun = (lanes: CallLanes): ReadonlyArray<string> => {
  const refs: Array<string> = []
  for (let next = lanes.next(); next !== null; next = lanes.next()) refs.push(next.row.ref)
  return refs
}

const lanesOf = ({ atOnce = 64, ofClient = 8 } = {}) => new CallLanes({ atOnce, ofClient: () => ofClient })

describe("lanes of calls", () => {
  it("orders of one client run at the same time, started in the order of their commits", () => {
    const lanes = lanesOf()
    for (const ref of ["O-1", "O-2", "R-3", "T-4-1"]) lanes.add(call(7, ref))
    assert.deepStrictEqual(begun(lanes), ["O-1", "O-2", "R-3", "T-4-1"])
    assert.deepStrictEqual([lanes.running, lanes.size, lanes.startable], [4, 4, false])
  })

  it("D6: a cancel and an amendment wait for calls of their own object, and for no others", () => {
    const lanes = lanesOf()
    const place = call(7, "O-1")
    for (const each of [place, call(7, "O-1-q1"), call(7, "O-1-c1"), call(7, "O-2")]) lanes.add(each)
    assert.deepStrictEqual(begun(lanes), ["O-1", "O-2"])
    lanes.free(place, true)
    assert.deepStrictEqual(begun(lanes), ["O-1-q1"])
    lanes.free(call(7, "O-1-q1"), true)
    assert.deepStrictEqual(begun(lanes), ["O-1-c1"])
  })

  it("an event that reports the end of a call starts the next call of its object, before the answer arrives", () => {
    const lanes = lanesOf({ ofClient: 2 })
    for (const ref of ["O-1", "O-1-c1", "O-2"]) lanes.add(call(7, ref))
    assert.deepStrictEqual(begun(lanes), ["O-1", "O-2"])
    lanes.forget("O-1")
    // O-1 occupies its place until its answer arrives.
    assert.deepStrictEqual([begun(lanes), lanes.has("O-1"), lanes.running], [[], false, 2])
    lanes.free(call(7, "O-1"), true)
    assert.deepStrictEqual(begun(lanes), ["O-1-c1"])
  })

  it("a call that is removed before its start is not made", () => {
    const lanes = lanesOf({ atOnce: 1 })
    for (const ref of ["O-1", "O-2", "O-3"]) lanes.add(call(7, ref))
    assert.deepStrictEqual(begun(lanes), ["O-1"])
    lanes.forget("O-2")
    lanes.free(call(7, "O-1"), true)
    assert.deepStrictEqual([begun(lanes), lanes.size], [["O-3"], 1])
  })

  it("a client whose calls all hang leaves places to the others", () => {
    const lanes = lanesOf({ atOnce: 6, ofClient: 3 })
    for (let n = 1; n <= 20; n++) lanes.add(call(7, `O-${n}`))
    assert.deepStrictEqual(begun(lanes), ["O-1", "O-2", "O-3"])
    lanes.add(call(8, "O-21"))
    assert.deepStrictEqual(begun(lanes), ["O-21"])
  })

  it("clients take turns", () => {
    const lanes = lanesOf({ atOnce: 4 })
    for (const ref of ["O-1", "O-2", "O-3"]) lanes.add(call(7, ref))
    for (const ref of ["O-4", "O-5", "O-6"]) lanes.add(call(8, ref))
    assert.deepStrictEqual(begun(lanes), ["O-1", "O-4", "O-2", "O-5"])
  })

  it("A2-95: until its account is open, a client has one call in flight, and that call is repeated before others start", () => {
    let isOpen = false
    const lanes = new CallLanes({ atOnce: 64, ofClient: () => (isOpen ? 8 : 1) })
    for (const ref of ["O-1", "O-2"]) lanes.add(call(7, ref))
    assert.deepStrictEqual(begun(lanes), ["O-1"])
    isOpen = true
    lanes.free(call(7, "O-1"), false)
    assert.deepStrictEqual(begun(lanes), ["O-1", "O-2"])
  })

  /** Each object has at most one call in flight without a known outcome, in order; all limits hold; no call is left. */
  const step = fc.record({
    what: fc.constantFrom("add", "add", "begin", "free", "retry", "forget"),
    client: fc.integer({ min: 1, max: 3 }),
    object: fc.integer({ min: 1, max: 3 }),
    pick: fc.nat()
  })
  it("two calls of one object never overlap or change order, in any sequence, and each is made", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const world = new LaneWorld()
        for (const each of steps) world.take(each)
        world.drain()
        assert.deepStrictEqual([world.lanes.size, world.lanes.running, world.lanes.startable], [0, 0, false])
        assert.deepStrictEqual(world.made.toSorted(), world.expected.toSorted())
      }),
      { numRuns: 500 }
    )
  })
})

const atOnce = 5
const ofClient = 3

/** Lanes beside a plain list of the requested calls, in order. */
class LaneWorld {
  readonly lanes = lanesOf({ atOnce, ofClient })
  /** Refs whose calls were started, once each. */
  readonly made: Array<string> = []
  private readonly all: Array<Waiting> = []
  private readonly onTheirWay: Array<Waiting> = []
  private readonly over = new Set<string>()
  private readonly neverMade = new Set<string>()

  get expected(): ReadonlyArray<string> {
    return this.all.map(({ row }) => row.ref).filter((ref) => !this.neverMade.has(ref))
  }

  take({ what, client, object, pick }: { what: string; client: number; object: number; pick: number }): void {
    if (what === "add") this.add(client, `O-${client * 10 + object}`)
    else if (what === "begin") this.begin()
    else if (what === "forget") this.forget(pick)
    else if (this.onTheirWay.length > 0) this.free(pick, what === "free")
  }

  drain(): void {
    for (let turns = 0; turns < 1_000; turns++) {
      this.begin()
      if (this.onTheirWay.length === 0) return
      this.free(turns, true)
    }
    throw new Error("it does not come to rest")
  }

  private add(client: number, order: string): void {
    const waiting = call(client, `${order}-q${this.all.length + 1}`)
    this.all.push(waiting)
    this.lanes.add(waiting)
  }

  private begin(): void {
    for (let next = this.lanes.next(); next !== null; next = this.lanes.next()) {
      this.judge(next)
      this.onTheirWay.push(next)
      if (!this.made.includes(next.row.ref)) this.made.push(next.row.ref)
    }
  }

  /** True if every earlier call of its object has ended, and there is room for it. */
  private judge({ row: { ref, clientId } }: Waiting): void {
    const owner = ownerOfRef(ref)?.id
    const before = this.all.slice(
      0,
      this.all.findIndex(({ row }) => row.ref === ref)
    )
    for (const { row } of before) if (ownerOfRef(row.ref)?.id === owner) assert.isTrue(this.over.has(row.ref), ref)
    assert.isFalse(this.over.has(ref), `${ref} is over`)
    assert.isBelow(this.onTheirWay.length, atOnce)
    assert.isBelow(this.onTheirWay.filter(({ row }) => row.clientId === clientId).length, ofClient)
  }

  private free(pick: number, done: boolean): void {
    const [waiting] = this.onTheirWay.splice(pick % this.onTheirWay.length, 1) as [Waiting]
    this.lanes.free(waiting, done)
    if (done) this.over.add(waiting.row.ref)
  }

  private forget(pick: number): void {
    const left = this.all.filter(({ row }) => !this.over.has(row.ref))
    if (left.length === 0) return
    const { ref } = (left[pick % left.length] as Waiting).row
    if (!this.made.includes(ref)) this.neverMade.add(ref)
    this.lanes.forget(ref)
    this.over.add(ref)
  }
}
