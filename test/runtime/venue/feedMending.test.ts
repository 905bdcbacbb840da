/**
 * The market feed's repairs: changed markets or grids are subscribed again, a missing snapshot is requested, and an
 * impossible one is not requested again without a pause (A2-02, A2-115, F3).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { isFresh } from "../../../src/machines/market/Facts.ts"
import type { VenueMarket } from "../../../src/machines/venue/VenueMarket.ts"
import { book, market, type ScriptedVenue, ticker, trades } from "../../support/ScriptedVenue.ts"
import { openFeed, settle, start } from "./feedBench.ts"

const symbol = "BTC-USDC-PERP"
const other = "ETH-USDC-PERP"
const levels = { bids: [["60000", "1"]], asks: [["60000.1", "1"]] } as const
const listed = (venue: ScriptedVenue, version: number, ...markets: ReadonlyArray<VenueMarket>) => {
  venue.listing = { ...venue.listing, version, markets }
}
/** The venue publishes an event, after which the listing is read again. */
const relisted = (venue: ScriptedVenue, number: number) =>
  Effect.gen(function* () {
    venue.publish(venue.beat(number))
    yield* settle
    yield* TestClock.adjust("1 second")
    yield* settle
  })

describe("a listing", () => {
  for (const [title, markets] of [
    ["one market for another", [market(other)]],
    ["another grid of prices", [market(symbol, { priceTick: "0.5" })]],
    ["another grid of quantities", [market(symbol, { qtyStep: "0.001" })]]
  ] as ReadonlyArray<readonly [string, ReadonlyArray<VenueMarket>]>) {
    it.effect(`with ${title} is subscribed again at once, and once`, () =>
      Effect.gen(function* () {
        const { venue, feed, pass } = yield* openFeed()
        listed(venue, 2, ...markets)
        yield* relisted(venue, 1)
        assert.strictEqual(venue.subscribed.length, 2)
        assert.strictEqual(venue.open, 1)
        assert.isTrue(feed.figures().connected)
        assert.deepStrictEqual(
          venue.subscribed[1],
          markets.flatMap(({ symbol: of }) => [
            { channel: "ticker", symbol: of },
            { channel: "book", symbol: of },
            { channel: "trades", symbol: of }
          ])
        )
        yield* pass(10)
        assert.strictEqual(venue.subscribed.length, 2)
      })
    )
  }

  for (const [title, markets, reason] of [
    ["no market", [], "no PERP market is listed any more"],
    ["a tick of zero", [market(symbol, { priceTick: "0" })], `the market ${symbol} is listed with a tick of 0`]
  ] as ReadonlyArray<readonly [string, ReadonlyArray<VenueMarket>, string]>) {
    it.effect(`A2-114: with ${title} leaves the last known listing, with one alarm, until a possible one arrives`, () =>
      Effect.gen(function* () {
        const { venue, feed, aside, say } = yield* openFeed()
        yield* say(ticker(symbol, 1, start, { last: "60000.5" }))
        for (const [number, version] of [1, 2, 3].entries()) {
          listed(venue, version, ...markets)
          yield* relisted(venue, number + 1)
        }
        assert.deepStrictEqual(feed.mirror.listing?.markets, [market(symbol)])
        assert.strictEqual(feed.mirror.markets.get(symbol)?.ticker.row().lastPrice, "60000.5")
        assert.strictEqual(venue.subscribed.length, 1)
        assert.strictEqual(feed.figures().kept, 1)
        assert.deepStrictEqual(
          aside.map(({ reason: said }) => said),
          [reason]
        )
        listed(venue, 4, market(symbol, { maxQty: "7" }))
        yield* relisted(venue, 9)
        assert.strictEqual(feed.mirror.markets.get(symbol)?.market.maxQty, "7")
        assert.strictEqual(feed.figures().kept, 0)
      })
    )
  }

  it.effect("A2-114: with no market at the start is no listing, until a possible one arrives", () =>
    Effect.gen(function* () {
      const { venue, feed, aside, pass } = yield* openFeed((script) => {
        script.listing = { ...script.listing, markets: [] }
      })
      assert.strictEqual(feed.standing(), "never")
      assert.isNull(feed.mirror.listing)
      assert.deepStrictEqual(
        aside.map(({ reason: said }) => said),
        ["no market is listed"]
      )
      listed(venue, 2, market(symbol))
      yield* pass(6)
      assert.deepStrictEqual([...feed.mirror.markets.keys()], [symbol])
    })
  )

  it.effect("of the same version from a restarted venue counts", () =>
    Effect.gen(function* () {
      const { venue, feed } = yield* openFeed()
      listed(venue, 1, market(other))
      venue.drop()
      yield* settle
      yield* TestClock.adjust("200 millis")
      yield* settle
      assert.deepStrictEqual([...feed.mirror.markets.keys()], [other])
      assert.strictEqual(venue.subscribed.at(-1)?.[0]?.symbol, other)
    })
  )
})

describe("a first snapshot", () => {
  it.effect("that does not arrive is requested, again and again at growing intervals, and then no more", () =>
    Effect.gen(function* () {
      const { venue, feed, say, pass } = yield* openFeed()
      yield* say(ticker(symbol, 1, start), trades(symbol, 1, start, []))
      yield* pass(2)
      assert.strictEqual(venue.snapshots.length, 0)
      yield* pass(8)
      assert.isAtLeast(venue.snapshots.length, 3)
      assert.isAtMost(venue.snapshots.length, 6)
      venue.snapshotOf = (of) => (of.channel === "book" ? book(symbol, 4, start, levels) : null)
      yield* pass(9)
      assert.strictEqual(feed.mirror.markets.get(symbol)?.book.show(1).asOfSeq, 4)
      const asked = venue.snapshots.length
      assert.isTrue(venue.snapshots.every(({ channel }) => channel === "book"))
      yield* pass(60)
      assert.strictEqual(venue.snapshots.length, asked)
      assert.strictEqual(venue.subscribed.length, 1)
    })
  )
})

describe("A2-115: an impossible snapshot", () => {
  const crossed = (seq: number) => book(symbol, seq, start, { ...levels, bids: [["60001", "1"]] })

  it.effect("is requested a dozen times a minute at most, and set aside once", () =>
    Effect.gen(function* () {
      const { venue, feed, aside, say, pass } = yield* openFeed((script) => {
        script.listing = { ...script.listing, markets: [market(symbol), market(other)] }
        script.snapshotOf = (of) =>
          of.symbol === other && of.channel === "book" ? book(other, 1, start, levels) : crossed(9)
      })
      yield* say(ticker(symbol, 1, start), ticker(other, 1, start), trades(symbol, 1, start, []))
      yield* say(trades(other, 1, start, []), book(other, 1, start, levels))
      for (let second = 0; second < 59; second++) {
        yield* say(crossed(second + 1))
        yield* pass(1)
      }
      assert.isAtLeast(venue.snapshots.length, 5)
      assert.isAtMost(venue.snapshots.length, 13)
      assert.strictEqual(aside.length, 1)
      assert.isFalse(feed.mirror.isCurrent({ channel: "book", symbol }))
      assert.strictEqual(feed.mirror.markets.get(other)?.book.show(1).asOfSeq, 1)
    })
  )

  it.effect("leaves the mark stale, and others as they are", () =>
    Effect.gen(function* () {
      const { clock, venue, feed, aside, say, pass } = yield* openFeed((script) => {
        script.listing = { ...script.listing, markets: [market(symbol), market(other)] }
        script.snapshotOf = (of) =>
          of.channel === "ticker" && of.symbol === symbol ? ticker(symbol, 1, start, { mark: "0" }) : null
      })
      for (let second = 1; second <= 30; second++) {
        yield* say(
          ticker(symbol, second, clock.now(), { mark: "60000.01" }),
          ticker(other, second, clock.now(), { mark: "60000" })
        )
        yield* pass(1)
      }
      const { marks, takenAt } = feed.facts()
      assert.isUndefined(marks.get(symbol))
      assert.isTrue(isFresh(marks.get(other)!, takenAt!))
      assert.isAtMost(venue.snapshots.filter(({ channel }) => channel === "ticker").length, 9)
      assert.strictEqual(aside.length, 1)
    })
  )

  it.effect("with a name of its own in every message does not fill the quarantine", () =>
    Effect.gen(function* () {
      const { aside, say } = yield* openFeed()
      for (let at = 0; at < 600; at++) yield* say(ticker(`X${at}-USDC`, 1, start))
      assert.strictEqual(aside.length, 1)
    })
  )
})
