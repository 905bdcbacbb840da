/**
 * The simulated venue as a process: its ends, its restart from its files, and the starts that it refuses (C1, Restart).
 */
import { afterEach, assert, describe, it } from "@effect/vitest"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { played } from "../support/every.ts"
import { quoteRequest, restingOrder } from "./runningVenue.ts"
import { endChild, startChild, type VenueChild } from "./venueChild.ts"

const started: Array<VenueChild> = []
const folders: Array<string> = []
afterEach(async () => {
  for (const venue of started.splice(0)) await endChild(venue, "SIGKILL")
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "brokerage-venue-process-"))
  folders.push(made)
  return made
}
const start = async (directory: string, ...args: ReadonlyArray<string>): Promise<VenueChild> => {
  const venue = await startChild(directory, ...args)
  started.push(venue)
  return venue
}
const refused = (directory: string, ...args: ReadonlyArray<string>): Promise<string> =>
  startChild(directory, ...args).then(
    () => assert.fail("it started"),
    (error: Error) => error.message
  )
const segmentOf = (directory: string): string => {
  const [name = ""] = readdirSync(join(directory, "log")).filter((each) => each.startsWith("inputs-"))
  return join(directory, "log", name)
}
const place = (venue: VenueChild, ref: string) => venue.client.ask("/venue/v1/orders", restingOrder(ref))
const open = (venue: VenueChild) => venue.client.ask("/venue/v1/accounts", { ref: "a1", account: "CL1" })
const accountOf = async (venue: VenueChild) => (await venue.client.ask("/venue/v1/accounts/CL1")).json
const nowOf = async (venue: VenueChild): Promise<number> => (await venue.client.ask("/venue/v1/clock")).json.now

describe("the end of the process", () => {
  it("SIGTERM: open calls are answered, streams end, a snapshot is stored, the status is 0", async () => {
    const directory = folder()
    const venue = await start(directory)
    await open(venue)
    const stream = await venue.client.open("/venue/v1/events?after=0")
    const answers = [place(venue, "t1"), place(venue, "t2")]
    assert.strictEqual((await answers[0])?.json.outcome, "EXECUTED")
    assert.strictEqual(await endChild(venue, "SIGTERM"), 0)
    await stream.ended
    assert.strictEqual((await answers[1])?.json.outcome, "EXECUTED")
    assert.isNotEmpty(readdirSync(join(directory, "log")).filter((name) => name.startsWith("snapshot-")))
    const again = await start(directory)
    assert.lengthOf((await accountOf(again)).orders, 2)
  })

  it("restart ends the process; the next one has the same port, key, books, held prices and halts, and no faults", async () => {
    const directory = folder()
    const venue = await start(directory)
    await open(venue)
    await place(venue, "r1")
    await venue.client.command({ type: "price", symbol: "BTC-USDC-PERP", price: "61000", only: "mark" })
    await venue.client.command({ type: "halt", symbol: "ETH-USDC-PERP" })
    await venue.client.command({
      type: "fault",
      kind: "slow",
      route: "take",
      symbol: null,
      forMillis: null,
      times: null,
      delayMillis: null
    })
    const account = await accountOf(venue)
    await venue.client.command({ type: "restart" })
    assert.strictEqual(await venue.ended, 0)
    const again = await start(directory)
    assert.deepStrictEqual([again.client.url, again.client.key], [venue.client.url, venue.client.key])
    assert.deepStrictEqual(await accountOf(again), account)
    const { markets, faults } = await again.client.show()
    const marketOf = (symbol: string) => markets.find((market) => market.symbol === symbol)
    assert.deepInclude(marketOf("BTC-USDC-PERP"), { mark: "61000", held: ["mark"] })
    assert.isTrue(marketOf("ETH-USDC-PERP")?.halted)
    assert.deepStrictEqual(faults, [])
  })

  it.each(played({ usual: ["kill"] as const, deep: ["restart", "kill"] as const }))(
    "two clients' orders and their fills exist after a %s, and trade again",
    async (how) => {
      const directory = folder()
      const venue = await start(directory)
      await open(venue)
      await venue.client.ask("/venue/v1/accounts", { ref: "a2", account: "CL2" })
      await venue.client.command({ type: "book", symbol: "BTC-USDC-PERP", size: "0", levels: null, spread: null })
      await place(venue, "maker")
      const sell = (to: VenueChild, ref: string) =>
        to.client.ask("/venue/v1/orders", restingOrder(ref, { account: "CL2", side: "SELL", qty: "0.04" }))
      const fillsOf = async (of: VenueChild) => (await of.client.ask("/venue/v1/orders/maker/fills")).json.fills
      assert.strictEqual((await sell(venue, "one")).json.order.state, "FILLED")
      const before = await fillsOf(venue)
      assert.lengthOf(before, 1)
      if (how === "kill") await endChild(venue, "SIGKILL")
      else await venue.client.command({ type: "restart" })
      await venue.ended
      const again = await start(directory)
      assert.deepStrictEqual(await fillsOf(again), before)
      assert.strictEqual((await sell(again, "two")).json.order.state, "FILLED")
      const [first, second] = await fillsOf(again)
      assert.deepStrictEqual(first, before[0])
      // Trades of other markets take ids of the same sequence.
      assert.isAbove(second.tradeId, first.tradeId)
    }
  )

  it("business time continues from its last value by the elapsed time, and never goes back", async () => {
    const directory = folder()
    const venue = await start(directory)
    const before = await nowOf(venue)
    const day = 86_400_000
    await venue.client.command({ type: "advance", to: before + day })
    assert.isAtLeast(await nowOf(venue), before + day)
    await venue.client.command({ type: "advance", to: before })
    const [reached, wall] = [await nowOf(venue), Date.now()]
    assert.isAtLeast(reached, before + day)
    await endChild(venue, "SIGKILL")
    const again = await start(directory)
    const [after, passed] = [await nowOf(again), Date.now() - wall]
    assert.isAtLeast(after, reached)
    assert.isAtMost(Math.abs(after - reached - passed), 1_500)
  })

  it("the process ends by itself after a time without requests; a reader keeps it alive", async () => {
    const directory = folder()
    const venue = await start(directory, "--idle-millis", "1500")
    const stream = await venue.client.open("/venue/v1/events?after=0")
    // One heartbeat per second: three take longer than the 1.5 s.
    for (let n = 0; n < 3; n++) await stream.next((line) => line.heartbeat)
    stream.close()
    assert.strictEqual(await venue.ended, 0)
    assert.include(venue.said(), "Nobody has asked for 2 s.")
  })

  it("the process ends by itself if its directory is deleted", async () => {
    const directory = folder()
    const venue = await start(directory)
    rmSync(directory, { recursive: true, force: true })
    assert.strictEqual(typeof (await venue.ended), "number")
    assert.include(venue.said(), "Its directory is gone.")
  })
})

describe("the start of the process", () => {
  it("an open request gets quotes again after a kill -9", async () => {
    const directory = folder()
    const venue = await start(directory)
    await open(venue)
    await venue.client.ask("/venue/v1/rfqs", quoteRequest("q1", await nowOf(venue)))
    await endChild(venue, "SIGKILL")
    const again = await start(directory)
    for (;;) {
      const [{ rfq }] = (await again.client.ask("/venue/v1/lookups", { refs: ["q1"] })).json.outcomes
      if (rfq.quotes.length > 0) break
    }
  })

  it("a torn end of the log is cut off and logged", async () => {
    const directory = folder()
    const venue = await start(directory)
    await open(venue)
    await place(venue, "c1")
    await endChild(venue, "SIGKILL")
    writeFileSync(segmentOf(directory), `0badc0de {"at":1,"inputs":[{"type":"ti`, { flag: "a" })
    const again = await start(directory)
    assert.match(
      again.said(),
      /The log ended in a record that was not written whole: 38 bytes of .*inputs-\d+\.log were cut off\./
    )
    assert.lengthOf((await accountOf(again)).orders, 1)
    assert.strictEqual((await place(again, "c2")).json.outcome, "EXECUTED")
    await endChild(again, "SIGKILL")
    assert.lengthOf((await accountOf(await start(directory))).orders, 2)
  })

  it("a log that is broken in the middle fails the start with a sentence", async () => {
    const directory = folder()
    const venue = await start(directory)
    await open(venue)
    for (let n = 0; n < 5; n++) await place(venue, `m${n}`)
    await endChild(venue, "SIGKILL")
    const segment = segmentOf(directory)
    const lines = readFileSync(segment, "utf8").split("\n")
    writeFileSync(segment, lines.map((line, n) => (n === 2 ? line.replace(/\d/g, "7") : line)).join("\n"))
    assert.match(
      await refused(directory),
      /ended \(1\): .*inputs-\d+\.log: record 3 is broken and whole ones follow it/
    )
  })

  it("a directory of another venue, a key that others can read and a used port fail the start", async () => {
    const directory = folder()
    const venue = await start(directory)
    assert.include(await refused(directory), "A simulated venue runs in")
    const port = new URL(venue.client.url).port
    assert.include(await refused(folder(), "--port", port), `Port ${port} of 127.0.0.1 is in use by another program`)
    const other = folder()
    writeFileSync(join(other, "venue.key"), "vk_x\n", { mode: 0o644 })
    assert.include(await refused(other), "can be read by others")
    await endChild(venue, "SIGKILL")
    assert.include(await refused(directory, "--seed", "9"), "began with seed 1")
    // The files of a killed process do not prevent the next start.
    await start(directory)
  })
})
