/**
 * `sim clock` with a venue: the venue plays to the new time first, then its events are taken, then the service's clock and
 * timers follow; one answer when all are there (operator surface, sim clock; C4).
 */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { VenueControlError } from "../../src/runtime/ports/VenueControl.ts"
import { layerVenueControlMemory, type VenueScript } from "../../src/runtime/ports/VenueControlMemory.ts"
import { layerVenueProgressMemory } from "../../src/runtime/ports/VenueProgressMemory.ts"
import { rowCounts } from "../support/Builders.ts"
import { quietVenue, quietView } from "../support/quietVenue.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"

const hour = 3_600_000

let service: OperatorService
const script: VenueScript = quietVenue()
/** What was done, in order. */
const course: Array<string> = []
let taken: (number: number) => Effect.Effect<void>
beforeAll(async () => {
  service = await startOperatorService({
    venue: {
      controls: layerVenueControlMemory(script),
      progress: layerVenueProgressMemory((number) => Effect.suspend(() => taken(number)))
    }
  })
})
afterAll(() => service.stop())
beforeEach(() => {
  course.length = 0
  script.sent.length = 0
  taken = (number) => Effect.sync(() => void course.push(`taken ${number}`))
  script.show = () => quietView
  script.command = (command) => {
    course.push(command.type)
    return { number: 77, at: "to" in command ? command.to : 0, id: null }
  }
})

const show = () => service.done(["sim", "clock", "show"])
const advance = (by: string, ...rest: ReadonlyArray<string>) => ["sim", "clock", "advance", by, ...rest]
const jumps = () => script.sent.map((command) => ("to" in command ? command.to : 0))

describe("operator surface, sim clock with a venue", () => {
  it("C4: the venue goes first, then its events are taken, then clock and timers; both end at one moment", async () => {
    const before = await show()
    assert.strictEqual(before.venueNow, quietView.at)
    const until = before.now + 2 * hour
    await service.done(["market", "halt", "ALL", "--message", "m", "--until", String(until)])
    taken = (number) =>
      Effect.promise(async () => {
        course.push(`taken ${number}`, `ahead ${(await show()).offsetMillis - before.offsetMillis}`)
      })
    const moved = await service.done(advance("3h"))
    assert.deepStrictEqual(course, ["advance", "taken 77", "ahead 0", "advance"])
    assert.deepInclude(moved, { behind: false, offsetMillis: before.offsetMillis + 3 * hour })
    // The timer has fired by the time of the answer.
    assert.deepStrictEqual((await service.done(["market", "list"])).halts, [])
    const [first = 0, last = 0] = jumps()
    assert.isAtLeast(first, before.now + 3 * hour)
    assert.isAtLeast(last, first)
    assert.isAtMost(last, moved.now)
  })

  it("a venue that can't be reached moves nothing", async () => {
    script.command = () => new VenueControlError({ why: "unreached", words: "ECONNREFUSED" })
    const [before, rows] = [await show(), await rowCounts(service)]
    const { status, refusal } = await service.cli(advance("1h"))
    assert.deepStrictEqual([status, refusal.code], [1, 5020])
    assert.deepStrictEqual([(await show()).offsetMillis, await rowCounts(service)], [before.offsetMillis, rows])
  })

  it("a jump whose answer is lost is asked for again, to the same moment", async () => {
    let tries = 0
    const answer = script.command
    script.command = (command) => {
      tries++
      if (tries === 1) return new VenueControlError({ why: "lost", words: "ECONNRESET" })
      if (tries === 2) return new VenueControlError({ why: "unreached", words: "ECONNREFUSED" })
      return answer(command)
    }
    const moved = await service.done(advance("1h"))
    const [first, second, third] = jumps()
    assert.deepStrictEqual([moved.behind, tries, first === second && second === third], [false, 4, true])
  })

  it("a dry run looks at the venue and moves neither", async () => {
    const [before, rows] = [await show(), await rowCounts(service)]
    const { answer, would } = await service.done(advance("8h", "--dry-run"))
    assert.deepStrictEqual([answer.offsetMillis, answer.venueNow], [before.offsetMillis + 8 * hour, answer.now])
    assert.deepStrictEqual(would.rows, { audit: 1 })
    assert.deepStrictEqual(
      [script.sent, (await show()).offsetMillis, await rowCounts(service)],
      [[], before.offsetMillis, rows]
    )
    script.show = () => new VenueControlError({ why: "unreached", words: "ECONNREFUSED" })
    assert.strictEqual((await service.cli(advance("8h", "--dry-run"))).refusal.code, 5020)
  })

  it("show says nothing of a venue that does not answer", async () => {
    script.show = () => new VenueControlError({ why: "unreached", words: "ECONNREFUSED" })
    assert.isNull((await show()).venueNow)
    const { stdout } = await runRecorded(["sim", "clock", "show", ...service.connection("SUPPORT")])
    assert.match(stdout, /^now +2\d\d\d-.*Z\nwallNow +.*\noffsetMillis +\d+\nvenueNow$/m)
  })
})

describe("operator surface, sim clock with a venue that is slow", () => {
  it(
    "C4: events that do not come: the answer says so after 30 s, and the clock has moved",
    { timeout: 60_000 },
    async () => {
      taken = () => Effect.never
      const before = await show()
      const began = performance.now()
      const moved = await service.done(advance("1h"))
      assert.deepInclude(moved, { behind: true, offsetMillis: before.offsetMillis + hour })
      assert.isAtLeast(performance.now() - began, 29_900)
      assert.isBelow(performance.now() - began, 40_000)
    }
  )

  it("a jump past the end of the dates is refused before the venue is asked", async () => {
    taken = () => Effect.void
    while ((await show()).now < Date.UTC(2091, 0, 1)) await service.done(advance("3650d"))
    script.sent.length = 0
    const { status, refusal } = await service.cli(advance("3650d"))
    assert.deepStrictEqual([status, refusal.code, Object.keys(refusal.data.errors)], [1, 4000, ["advanceMillis"]])
    assert.deepStrictEqual(script.sent, [])
  })
})
