/**
 * `sim venue advance` is refused if the books refuse it, and the clock stays; no clock passes the last time of a
 * sandbox (C4).
 */
import { assert, describe, it } from "@effect/vitest"
import { Dealers } from "../../simulator/venue/server/Dealers.ts"
import { EventFeed } from "../../simulator/venue/server/EventFeed.ts"
import { Faults } from "../../simulator/venue/server/Faults.ts"
import { usualReaderLimits } from "../../simulator/venue/server/LineReader.ts"
import { MarketFeed } from "../../simulator/venue/server/MarketFeed.ts"
import { VenueClock } from "../../simulator/venue/server/VenueClock.ts"
import { CommandRefused, VenueDesk } from "../../simulator/venue/server/VenueDesk.ts"
import { VenueWriter } from "../../simulator/venue/server/VenueWriter.ts"
import type { VenueCommand } from "../../src/venue/VenueCommand.ts"
import { opened } from "./openedVenue.ts"

/** A desk whose books refuse every input. */
const refusing = () => {
  const { venue } = opened()
  const log = {
    append: () => Promise.resolve(),
    play: (inputs: ReadonlyArray<unknown>) =>
      inputs.map(() => ({ outcomes: [], id: null, refusal: "The venue can't carry out time: it broke." })),
    snapshot: () => Promise.resolve()
  }
  const wall = () => venue.now
  const clock = new VenueClock(wall, venue.now, 0)
  const writer = new VenueWriter({ venue, log, replayMillis: 0 }, clock, {
    applied: () => undefined,
    trouble: () => undefined
  })
  const faults = new Faults(wall)
  const desk = new VenueDesk({
    venue,
    writer,
    clock,
    faults,
    events: new EventFeed(venue, faults, usualReaderLimits),
    markets: new MarketFeed(venue, faults, usualReaderLimits),
    dealers: new Dealers(venue, writer, 1),
    startedAt: venue.now,
    restart: () => undefined
  })
  return { venue, clock, desk }
}
const refusalOf = (done: Promise<unknown>): Promise<string> =>
  done.then(
    () => assert.fail("it was carried out"),
    (error: unknown) => {
      assert.instanceOf(error, CommandRefused)
      return error.message
    }
  )

describe("advance", () => {
  it("is refused with the sentence of the books, and the clock stays", async () => {
    const { venue, clock, desk } = refusing()
    const before = clock.now()
    const to = venue.now + 3_600_000
    assert.strictEqual(
      await refusalOf(desk.command({ type: "advance", to })),
      "The venue can't carry out time: it broke."
    )
    assert.strictEqual(clock.now(), before)
  })

  it("into the year 2100 or later is refused", async () => {
    const { desk } = refusing()
    for (const to of [Date.UTC(2100, 0, 1), 9e15])
      assert.strictEqual(
        await refusalOf(desk.command({ type: "advance", to })),
        "The clock can't be moved into the year 2100 or later."
      )
    assert.match(
      await refusalOf(desk.command({ type: "advance", to: Date.UTC(2100, 0, 1) - 1 })),
      /^The venue can't carry out time/
    )
  })
})

describe("faults", () => {
  const fault = { type: "fault", kind: "reject", route: "order", forMillis: null, times: 1, delayMillis: 1 } as const

  it("on an unlisted symbol are refused, because they would never strike", async () => {
    const { desk } = refusing()
    assert.strictEqual(await refusalOf(desk.command({ ...fault, symbol: "NOPE-USDC" })), "NOPE-USDC is not listed.")
    for (const symbol of [null, "BTC-USDC-PERP"]) await desk.command({ ...fault, symbol })
    for (const { symbol } of desk.venue.listing().stakingMarkets) await desk.command({ ...fault, symbol })
    assert.strictEqual(desk.faults.view().length, 2 + desk.venue.listing().stakingMarkets.length)
  })

  it("that start, and moods of dealers, are answered with the changes", async () => {
    const { desk } = refusing()
    const did = async (command: VenueCommand) => (await desk.command(command)).did
    const limits = { forMillis: null, times: null, delayMillis: null }
    assert.strictEqual(
      await did({ ...fault, symbol: "BTC-USDC-PERP" }),
      "fault reject, route order, BTC-USDC-PERP, 1 time, delayed by 1 ms"
    )
    assert.strictEqual(
      await did({ ...fault, ...limits, symbol: null }),
      "fault reject, route order, all markets, until clear"
    )
    assert.strictEqual(await did({ type: "dealers", mood: "silent" }), "dealers normal → silent")
  })
})
