/**
 * The start of a venue from a log with inputs that cannot be played, broken snapshots or lost segments, and the options
 * stored at the beginning of the log.
 */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach } from "vitest"
import { completeOptions } from "../../../simulator/venue/core/completeOptions.ts"
import { bases } from "../../../simulator/venue/core/defaultMarkets.ts"
import { Venue } from "../../../simulator/venue/core/Venue.ts"
import type { Applied, VenueInput } from "../../../simulator/venue/core/VenueInput.ts"
import { VenueLog, VenueLogError, type VenueLogOptions } from "../../../simulator/venue/log/VenueLog.ts"
import { openBooks } from "../../../simulator/venue/server/books.ts"
import type { VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import { startAt, venueOptions } from "../venueInputs.ts"

let directory = ""
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "venue-history-"))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const nobody = { event: () => undefined, market: () => undefined }
const open = (parts: Partial<VenueLogOptions> = {}, events: Array<VenueEvent> = []): Promise<VenueLog> =>
  VenueLog.open(
    { directory, venue: venueOptions(), ...parts },
    { event: (event) => void events.push(event), market: () => undefined }
  )
const play = async (log: VenueLog, ...inputs: ReadonlyArray<VenueInput>): Promise<ReadonlyArray<Applied>> => {
  await log.append(inputs)
  return log.play(inputs)
}
const state = ({ venue }: Pick<VenueLog, "venue">): string => JSON.stringify(venue.state())
const reasonOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => assert.fail("it opened"),
    (error: Error) => error.message
  )
const call = (name: string, request: object): VenueInput => ({ type: "call", name, request }) as VenueInput
const account = call("openAccount", { ref: "open", account: "CL-1" })
const order = (ref: string, trigger: object | null = null): VenueInput =>
  call("placeOrder", {
    ref,
    account: "CL-1",
    symbol: "BTC-USDC-PERP",
    side: "BUY",
    price: "59000",
    qty: "0.01",
    tif: "GTC",
    reduceOnly: false,
    group: null,
    trigger
  })
/** An order that fails after the books have applied half of it. */
const halfDone = (ref: string): VenueInput =>
  order(ref, { source: "NOWHERE", price: "50000", direction: "AT_OR_BELOW" })
const time = (seconds: number): VenueInput => ({ type: "time", to: startAt + seconds * 1_000 })

describe("an input that the venue can't play", () => {
  it("is refused without any effect, live and at every replay; inputs around it are played, and events have no gap", async () => {
    const events: Array<VenueEvent> = []
    const said: Array<string> = []
    const log = await open({ print: (line) => void said.push(line) }, events)
    await play(log, account, time(10))
    const applied = await play(log, order("O-1"), halfDone("P-1"), order("O-2"), halfDone("P-2"), order("O-3"))
    assert.deepStrictEqual(
      applied.map(({ outcomes: [outcome] }) => [outcome?.ref, outcome?.outcome, outcome?.reason, outcome?.order?.id]),
      [
        ["O-1", "EXECUTED", null, log.venue.lookup(["O-1"])[0]?.order?.id],
        ["P-1", "REFUSED", "the venue can't carry it out", undefined],
        ["O-2", "EXECUTED", null, log.venue.lookup(["O-2"])[0]?.order?.id],
        ["P-2", "REFUSED", "the venue can't carry it out", undefined],
        ["O-3", "EXECUTED", null, log.venue.lookup(["O-3"])[0]?.order?.id]
      ]
    )
    assert.match(said[0] ?? "", /^The venue can't carry out placeOrder P-1: .* It is refused\.$/)
    assert.lengthOf(said, 2)
    assert.deepStrictEqual(log.venue.eventsAfter(0), events)
    assert.deepStrictEqual(
      events.map(({ number }) => number),
      events.map((_, n) => n + 1)
    )
    const again = await open()
    assert.strictEqual(state(again), state(log))
    await again.close()
    await play(log, time(20))
    assert.include(readdirSync(directory), "snapshot-1.json")
    await log.close()
    const third = await open({ print: (line) => void said.push(line) })
    assert.strictEqual(state(third), state(log))
    assert.lengthOf(said, 2)
    await third.close()
  })

  it("without a known call is refused with a sentence", async () => {
    const log = await open({ print: () => undefined })
    await play(log, account)
    const before = state(log)
    const applied = await play(log, { type: "void", refs: null } as unknown as VenueInput)
    assert.deepInclude(applied[0], { outcomes: [], id: null })
    assert.match(applied[0]?.refusal ?? "", /^The venue can't carry out void: /)
    assert.strictEqual(state(log), before)
    await log.close()
  })
})

describe("broken or lost files", () => {
  /** Three segments; a snapshot precedes each of the first two. */
  const threeSegments = async (): Promise<string> => {
    const log = await open()
    await play(log, account, order("O-1"))
    await log.snapshot()
    await play(log, order("O-2"), time(30))
    await log.snapshot()
    await play(log, order("O-3"), time(60))
    await log.close()
    assert.sameMembers(readdirSync(directory), ["inputs-1.log", "snapshot-1.json", "inputs-2.log", "snapshot-2.json"])
    return state(log)
  }

  it("a snapshot torn at any line: the one before it and all later inputs make the same books", async () => {
    const whole = await threeSegments()
    const path = join(directory, "snapshot-2.json")
    const lines = readFileSync(path, "utf8").trimEnd().split("\n")
    assert.isAbove(lines.length, 10)
    const torn = [lines.slice(0, 1), lines.slice(0, -1), lines.toSpliced(3, 1), lines.with(4, "0"), []]
    for (const left of torn) {
      const kept = readdirSync(directory).map((name) => [name, readFileSync(join(directory, name))] as const)
      writeFileSync(path, left.map((line) => `${line}\n`).join(""))
      const said: Array<string> = []
      const log = await open({ print: (line) => void said.push(line) })
      assert.strictEqual(state(log), whole)
      assert.deepStrictEqual(said, [`${path} is broken: the snapshot before it and the inputs since then were used.`])
      await play(log, time(90))
      await log.snapshot()
      await log.close()
      const again = await open()
      assert.strictEqual(state(again), state(log))
      await again.close()
      for (const name of readdirSync(directory)) rmSync(join(directory, name))
      for (const [name, bytes] of kept) writeFileSync(join(directory, name), bytes)
    }
  })

  it("a lost snapshot is replaced by the segments, while they exist", async () => {
    const whole = await threeSegments()
    rmSync(join(directory, "snapshot-2.json"))
    const log = await open()
    assert.strictEqual(state(log), whole)
    await log.close()
    rmSync(join(directory, "snapshot-1.json"))
    assert.strictEqual(
      await reasonOf(open()),
      `${join(directory, "inputs-0.log")} is missing: the log can't be replayed.`
    )
  })

  it("a lost, an empty or a torn segment before others is named, and the venue does not start", async () => {
    await threeSegments()
    const [first, second] = [join(directory, "inputs-1.log"), join(directory, "inputs-2.log")]
    const bytes = readFileSync(second)
    rmSync(second)
    assert.strictEqual(await reasonOf(open()), `${second} is missing: the log can't be replayed.`)
    writeFileSync(second, "")
    assert.strictEqual(await reasonOf(open()), `${second}: its first record is broken; the log can't be replayed.`)
    writeFileSync(second, bytes)
    rmSync(join(directory, "snapshot-2.json"))
    truncateSync(first, readFileSync(first).length - 3)
    assert.strictEqual(
      await reasonOf(open()),
      `${first}: its end is broken and ${second} follows it; the log can't be replayed.`
    )
    rmSync(first)
    assert.strictEqual(await reasonOf(open()), `${first} is missing: the log can't be replayed.`)
  })

  it("a broken last snapshot without an earlier one is named", async () => {
    await threeSegments()
    const path = join(directory, "snapshot-2.json")
    truncateSync(path, 1_000)
    rmSync(join(directory, "snapshot-1.json"))
    const message = await reasonOf(open())
    assert.strictEqual(
      message,
      `${path}: the snapshot is broken, and ${join(directory, "inputs-0.log")}, which would replace it, is missing.`
    )
    assert.isTrue(existsSync(path))
  })
})

describe("the options of the first start", () => {
  const opened = (seed: number | null = null) =>
    openBooks({ directory, seed, markets: null, print: () => undefined }, nobody)
  const begunFile = (): string => join(directory, "begun.json")

  it("name every market and knob: a venue with them equals one with the defaults", () => {
    const plain = venueOptions({ seed: 5, knobs: { takers: 0.9, books: { "ETH-USDC": { levels: 3 } } } })
    const whole = completeOptions(plain)
    assert.deepStrictEqual(whole.markets, bases)
    assert.deepStrictEqual(completeOptions(JSON.parse(JSON.stringify(whole))), whole)
    const states = [plain, whole].map((options) => {
      const venue = new Venue(options, nobody)
      venue.apply(time(120))
      return { ...venue.state(), options: null }
    })
    assert.deepStrictEqual(states[0], states[1])
  })

  it("are stored completely; books of an older version get the options of that version, with the same state", async () => {
    const books = await opened(4)
    await books.log.append([account, time(5)])
    books.log.play([account, time(5)])
    await books.log.close()
    const begun = JSON.parse(readFileSync(begunFile(), "utf8"))
    assert.deepStrictEqual(begun, books.venue.options)
    assert.lengthOf(begun.markets, bases.length)
    const { markets: _markets, ...before } = begun
    writeFileSync(begunFile(), JSON.stringify({ ...before, knobs: {} }))
    const again = await opened()
    assert.strictEqual(state(again), state(books))
    await again.log.close()
    assert.deepStrictEqual(JSON.parse(readFileSync(begunFile(), "utf8")), begun)
  })

  it("an unreadable file of options is named", async () => {
    await (await opened()).log.close()
    for (const text of ["", "{", "{}", JSON.stringify({ seed: "x" })]) {
      writeFileSync(begunFile(), text)
      assert.strictEqual(
        await reasonOf(opened()),
        `${begunFile()} is broken: bring it back, or name another directory. The books beside it began with it.`
      )
    }
  })

  it("a lost log, or one without a whole record, does not count as a first start", async () => {
    await (await opened()).log.close()
    const path = join(directory, "log", "inputs-0.log")
    const sentence = `${path} is missing or has nothing whole in it: the log can't be replayed.`
    truncateSync(path, 10)
    assert.strictEqual(await reasonOf(opened()), sentence)
    rmSync(path)
    assert.strictEqual(await reasonOf(opened()), sentence)
    rmSync(join(directory, "log"), { recursive: true })
    assert.strictEqual(await reasonOf(opened()), sentence)
    assert.instanceOf(await opened().catch((error: unknown) => error), VenueLogError)
  })
})
