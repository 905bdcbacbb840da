/**
 * `sim clock` with a venue: both clocks step to the new time, the venue first in each step, and one answer comes when both are
 * there (operator surface, sim clock; C4).
 */
import { afterAll, assert, beforeAll, beforeEach, describe, it, vi } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { VenueControlError } from "../../src/runtime/ports/VenueControl.ts"
import { layerVenueControlMemory, type VenueScript } from "../../src/runtime/ports/VenueControlMemory.ts"
import { layerVenueProgressMemory } from "../../src/runtime/ports/VenueProgressMemory.ts"
import { noChange } from "../../src/venue/VenueCommand.ts"
import { query, rowCounts } from "../support/Builders.ts"
import { quickClock } from "../support/quickClock.ts"
import { quietVenue, quietView } from "../support/quietVenue.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"

const hour = 3_600_000

let service: OperatorService
const script: VenueScript = quietVenue()
/** The steps in order. */
const course: Array<string> = []
let taken: (number: number) => Effect.Effect<void>
/** The number of the last processed event. */
let last: number
const clock = quickClock()
beforeAll(async () => {
  service = await startOperatorService({
    venue: {
      controls: layerVenueControlMemory(script),
      progress: Layer.merge(
        layerVenueProgressMemory(
          (number) => Effect.suspend(() => taken(number)),
          (number) => number <= last
        ),
        clock.layer
      )
    }
  })
})
afterAll(() => service.stop())
beforeEach(() => {
  course.length = 0
  script.sent.length = 0
  last = Number.MAX_SAFE_INTEGER
  taken = (number) => Effect.sync(() => void course.push(`taken ${number}`))
  script.show = () => quietView
  script.command = (command) => {
    course.push(command.type)
    const at = "to" in command ? command.to : 0
    script.show = () => ({ ...quietView, at })
    return { number: 77, at, id: null, ...noChange }
  }
})

const show = () => service.done(["sim", "clock", "show"])
const advance = (by: string, ...rest: ReadonlyArray<string>) => ["sim", "clock", "advance", by, ...rest]
const inOrder = (times: ReadonlyArray<number>): void =>
  assert.deepStrictEqual(
    times,
    times.toSorted((one, other) => one - other)
  )
/** Waits until the service has completed a jump by itself; waits for the venue's events end at once. */
const completed = async (): Promise<void> => {
  taken = () => Effect.void
  await clock.during(10_000, () =>
    vi.waitFor(async () => assert.isNull((await show()).movingTo), { timeout: 20_000, interval: 20 })
  )
}
const jumps = () => script.sent.map((command) => ("to" in command ? command.to : 0))

describe("operator surface, sim clock with a venue", () => {
  it("C4: in each step the venue's clock moves first, then its events are applied, then the service's clock follows; both end at one time", async () => {
    const before = await show()
    assert.strictEqual(before.venueNow, quietView.at)
    const until = before.now + 2 * hour
    await service.done(["market", "halt", "ALL", "--message", "m", "--until", String(until)])
    taken = (number) =>
      Effect.promise(async () => {
        course.push(`taken ${number}`, `ahead ${(await show()).offsetMillis - before.offsetMillis}`)
      })
    const moved = await service.done(advance("3h"))
    assert.strictEqual(course.shift(), "advance")
    const steps = Array.from({ length: course.length / 3 }, (_, at) => course.slice(3 * at, 3 * at + 3))
    assert.isAtLeast(steps.length, 3)
    for (const step of steps) assert.deepStrictEqual(step.slice(0, 2), ["advance", "taken 77"])
    const aheads = steps.map((step) => Number(step[2]?.split(" ")[1]))
    assert.deepStrictEqual([aheads[0], aheads.at(-1)], [0, 3 * hour])
    inOrder(aheads)
    assert.deepInclude(moved, { behind: false, movingTo: null, offsetMillis: before.offsetMillis + 3 * hour })
    // The timer has fired by the time of the answer, at a step of its own.
    assert.deepStrictEqual((await service.done(["market", "list"])).halts, [])
    assert.deepInclude(moved.became, { name: "halt.until", subject: "system", dueAt: until, count: 1 })
    const tos = jumps()
    inOrder(tos)
    assert.include(tos, until)
    assert.isAtLeast(tos.at(-2) ?? 0, before.now + 3 * hour)
    assert.isAtMost(tos.at(-1) ?? 0, moved.now)
  })

  it("operator surface: shows the fired timers and the next due time; moves to a moment, and to the next due time", async () => {
    const { now } = await show()
    const halted = { name: "halt.until", subject: "system", dueAt: now + 2 * hour }
    await service.done(["market", "halt", "ALL", "--message", "m", "--until", String(halted.dueAt)])
    const { next, more } = await show()
    assert.deepInclude(next, halted)
    assert.strictEqual(more, 0)
    const tried = await service.done(advance("3h", "--dry-run"))
    assert.deepInclude(tried.answer.fired, { name: "halt.until", count: 1 })
    assert.isFalse(tried.answer.next.some(({ dueAt }: { readonly dueAt: number }) => dueAt <= tried.answer.now))
    const first = await service.done(["sim", "clock", "advance", "--until-next"])
    assert.isAtLeast(first.now, next[0].dueAt)
    assert.isBelow(first.now, next[0].dueAt + hour)
    const target = first.now + 90 * hour
    const there = await service.done(["sim", "clock", "advance", "--to", new Date(target).toISOString().slice(0, 16)])
    assert.isAtLeast(there.now, target - 60_000)
    assert.deepInclude([...first.fired, ...there.fired], { name: "halt.until", count: 1 })
    assert.notDeepInclude(there.next, halted)
    const nights = [first, there].flatMap(({ jobs }) => jobs as ReadonlyArray<{ name: string; count: number }>)
    assert.isAtLeast(
      nights.reduce((sum, { name, count }) => sum + (name === "statement.TRANSACTIONS" ? count : 0), 0),
      3
    )
    // One job stores the marks of all midnights in between.
    assert.deepInclude(there.jobs, { name: "statement.EQUITIES", count: 1 })
    const human = await runRecorded(["sim", "clock", "show", ...service.connection("ADMIN")])
    assert.match(human.stdout, /^Due next$/m)
    assert.match(human.stdout, /screening\.nightly +system$/m)
  })

  it("a timer that can't be fired is listed first, as overdue, and --until-next moves on to later work", async () => {
    const { now } = await show()
    const stuck = { subject: "system", name: "halt.until:stuck", dueAt: now - hour }
    await query(service, "INSERT INTO timers (subject, name, due_at) VALUES ($1, $2, $3)", [
      stuck.subject,
      stuck.name,
      BigInt(stuck.dueAt)
    ])
    const { next } = await show()
    const listed = { name: "halt.until", subject: "system", dueAt: stuck.dueAt }
    assert.deepStrictEqual([next[0], next.length > 1], [listed, true])
    const human = await runRecorded(["sim", "clock", "show", ...service.connection("ADMIN")])
    assert.match(human.stdout, /^overdue 1h .*halt\.until +system$/m)
    const moved = await service.done(["sim", "clock", "advance", "--until-next"])
    assert.isAtLeast(moved.now, next[1].dueAt)
  })

  it("the clock never moves back, and one way to move it is given at a time", async () => {
    const before = await show()
    const back = await service.cli(["sim", "clock", "advance", "--to", "2020-02-29"])
    assert.deepStrictEqual([back.status, back.refusal.code, Object.keys(back.refusal.data.errors)], [1, 4000, ["to"]])
    const far = await service.cli(["sim", "clock", "advance", "--to", "2060-01-01"])
    assert.deepStrictEqual([far.status, Object.keys(far.refusal.data.errors)], [1, ["to"]])
    for (const wrong of [
      [],
      ["1h", "--until-next"],
      ["--to", "2030-01-01", "--until-next"],
      ["--to", "2027-02-30"],
      ["--to", "soon"]
    ]) {
      assert.strictEqual((await service.cli(["sim", "clock", "advance", ...wrong])).status, 2, wrong.join(" "))
    }
    assert.strictEqual((await show()).offsetMillis, before.offsetMillis)
  })

  it("C4: show is behind until the venue is here and its last number is taken, and while it does not answer", async () => {
    const { now } = await show()
    const at = (ahead: number, number: number) => {
      script.show = () => ({ ...quietView, at: now + ahead, number })
    }
    last = 41
    const seen: Array<boolean> = []
    for (const [ahead, number] of [
      [-hour, 41],
      [hour, 42],
      [hour, 41]
    ] as const) {
      at(ahead, number)
      seen.push((await show()).behind)
    }
    script.show = () => new VenueControlError({ why: "unreached", detail: "ECONNREFUSED" })
    seen.push((await show()).behind)
    assert.deepStrictEqual(seen, [true, true, false, true])
  })

  it("C4: an advance after which the venue's last number is not taken is behind", async () => {
    last = 40
    assert.isTrue((await service.done(advance("1h"))).behind)
  })

  it("a venue that can't be reached moves nothing", async () => {
    script.command = () => new VenueControlError({ why: "unreached", detail: "ECONNREFUSED" })
    const [before, rows] = [await show(), await rowCounts(service)]
    const { status, refusal } = await service.cli(advance("1h"))
    assert.deepStrictEqual([status, refusal.code], [1, 5020])
    assert.deepStrictEqual([(await show()).offsetMillis, await rowCounts(service)], [before.offsetMillis, rows])
  })

  it("a jump whose answer is lost is requested again, to the same moment", async () => {
    let tries = 0
    const answer = script.command
    script.command = (command) => {
      tries++
      if (tries === 1) return new VenueControlError({ why: "lost", detail: "ECONNRESET" })
      if (tries === 2) return new VenueControlError({ why: "unreached", detail: "ECONNREFUSED" })
      return answer(command)
    }
    const moved = await service.done(advance("1h"))
    const [first, second, third, fourth = 0] = jumps()
    assert.deepStrictEqual([moved.behind, first, second], [false, third, third])
    assert.isAbove(fourth, third ?? 0)
  })

  it("a dry run reads the venue's clock and moves neither", async () => {
    const [before, rows] = [await show(), await rowCounts(service)]
    const { answer, would } = await service.done(advance("8h", "--dry-run"))
    assert.deepStrictEqual([answer.offsetMillis, answer.venueNow], [before.offsetMillis + 8 * hour, answer.now])
    assert.deepStrictEqual(would.rows, { audit: 1 })
    assert.deepStrictEqual(
      [script.sent, (await show()).offsetMillis, await rowCounts(service)],
      [[], before.offsetMillis, rows]
    )
    script.show = () => new VenueControlError({ why: "unreached", detail: "ECONNREFUSED" })
    assert.strictEqual((await service.cli(advance("8h", "--dry-run"))).refusal.code, 5020)
  })

  it("show omits a venue that does not answer", async () => {
    script.show = () => new VenueControlError({ why: "unreached", detail: "ECONNREFUSED" })
    assert.isNull((await show()).venueNow)
    const { stdout } = await runRecorded(["sim", "clock", "show", ...service.connection("SUPPORT")])
    assert.match(stdout, /^now +2\d\d\d-.*Z\nwallNow +.*\noffsetMillis +\d+\nvenueNow$/m)
  })
})

describe("operator surface, sim clock with a venue that is slow", { timeout: 60_000 }, () => {
  it("C4: the venue's last events are still to be applied: the answer shows it", async () => {
    let left = 1
    taken = () => {
      if (left-- > 0) return Effect.void
      void clock.ended((millis) => millis > 20_000 && millis < 30_000)
      return Effect.never
    }
    assert.isTrue((await service.done(advance("1h"))).behind)
    await completed()
  })

  it(
    "C4: missing events: the answer shows it after 30 s, and the service completes the jump",
    { timeout: 60_000 },
    async () => {
      taken = () => Effect.never
      const before = await show()
      // The service has used a part of its 30 s when it starts to wait for events; the pauses of workers are whole seconds.
      const ended = clock.ended((millis) => millis > 29_000 && millis < 30_000)
      const [moved, patience] = await Promise.all([service.done(advance("1h")), ended])
      assert.isTrue(moved.behind)
      assert.isBelow(Math.abs(moved.movingTo - before.now - hour), 10_000)
      // The answer waits for the events this long and for nothing else: the test ends no other sleep.
      assert.isAtLeast(patience, 29_900)
      await completed()
      assert.strictEqual((await show()).offsetMillis, before.offsetMillis + hour)
    }
  )

  it("a jump past the end of the dates is refused before the venue is called", async () => {
    await service.run(Effect.map(BusinessClock, (clock) => clock.setOffset(Date.UTC(2091, 0, 1) - Date.now())))
    script.sent.length = 0
    const { status, refusal } = await service.cli(advance("3650d"))
    assert.deepStrictEqual([status, refusal.code, Object.keys(refusal.data.errors)], [1, 4000, ["advanceMillis"]])
    assert.deepStrictEqual(
      script.sent.filter(({ type }) => type !== "advance"),
      []
    )
  })
})
