/**
 * The market feed over a venue that misbehaves: one connection for all readers, the newest message wins, lost messages
 * are requested again, and impossible ones are quarantined (A2-02, A2-114, A2-115, F3, F30).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { isFresh } from "../../../src/machines/market/Facts.ts"
import type { MarketFeed } from "../../../src/runtime/services/market/MarketFeed.ts"
import { book, market, ticker, trades } from "../../support/ScriptedVenue.ts"
import { openFeed, settle, start } from "./feedBench.ts"

const symbol = "BTC-USDC-PERP"
const mark = (feed: MarketFeed["Service"]) => feed.facts().marks.get(symbol)
const shown = (feed: MarketFeed["Service"]) => feed.mirror.markets.get(symbol)
const last = (feed: MarketFeed["Service"]) => shown(feed)?.ticker.show()?.data.lastPrice

const bids = [
  ["60000", "1"],
  ["59999.9", "2"]
] as const
const asks = [["60000.1", "0.5"]] as const

describe("the connection", () => {
  it.effect("is one for every market and channel, however many readers there are", () =>
    Effect.gen(function* () {
      const { venue, feed, say } = yield* openFeed((script) => {
        script.listing = {
          ...script.listing,
          markets: [
            market(symbol),
            market("BTC-USDC-KO", { family: "BARRIER" }),
            market("OLD-USDC-PERP", { delisted: true })
          ]
        }
      })
      yield* say(ticker(symbol, 1, start))
      for (let reader = 0; reader < 256; reader++) assert.strictEqual(last(feed), "60000.5")
      assert.deepStrictEqual(venue.subscribed, [
        [
          { channel: "ticker", symbol },
          { channel: "book", symbol },
          { channel: "trades", symbol },
          { channel: "ticker", symbol: "BTC-USDC-KO" },
          { channel: "trades", symbol: "BTC-USDC-KO" }
        ]
      ])
      assert.strictEqual(venue.listings, 1)
      assert.strictEqual(venue.open, 1)
    })
  )

  it.effect("that is silent for five seconds is closed and opened again; marks are stale until the next one", () =>
    Effect.gen(function* () {
      const { venue, feed, say } = yield* openFeed()
      yield* say(ticker(symbol, 7, start))
      assert.isTrue(isFresh(mark(feed)!, start))
      yield* TestClock.adjust("4900 millis")
      assert.strictEqual(venue.subscribed.length, 1)
      yield* TestClock.adjust("200 millis")
      assert.isFalse(isFresh(mark(feed)!, start))
      yield* TestClock.adjust("200 millis")
      yield* settle
      assert.strictEqual(venue.subscribed.length, 2)
      assert.strictEqual(venue.open, 1)
      // A restarted venue counts from the beginning.
      yield* say(ticker(symbol, 1, start + 5_000, { mark: "60100" }))
      assert.strictEqual(mark(feed)?.price.toString(), "60100")
      assert.isTrue(isFresh(mark(feed)!, start + 5_000))
    })
  )

  it.effect("stays open with heartbeats alone, and is tried at growing intervals while the venue is away", () =>
    Effect.gen(function* () {
      const { venue, feed, pass } = yield* openFeed()
      yield* pass(30)
      assert.strictEqual(venue.subscribed.length, 1)
      assert.strictEqual(feed.standing(), "live")
      venue.reachable = false
      venue.drop()
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual(feed.standing(), "live")
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(feed.standing(), "away")
      yield* TestClock.adjust("1 hour")
      const tries = feed.figures().connections
      assert.isBelow(tries, 3_600 / 5 + 10)
      assert.isAbove(tries, 3_600 / 5 - 10)
      venue.reachable = true
      yield* TestClock.adjust("5 seconds")
      yield* settle
      assert.strictEqual(feed.standing(), "live")
    })
  )

  it.effect("to a venue that was never reached shows nothing", () =>
    Effect.gen(function* () {
      const { feed } = yield* openFeed((script) => {
        script.reachable = false
      })
      assert.strictEqual(feed.standing(), "never")
      assert.strictEqual(feed.facts().takenAt, start)
      assert.strictEqual(feed.facts().marks.size, 0)
    })
  )

  it.effect("to a venue with another version is closed, and no message of it is applied", () =>
    Effect.gen(function* () {
      const { venue, feed } = yield* openFeed((script) => {
        script.version = 2
        script.greeting = [ticker(symbol, 1, start)]
      })
      assert.strictEqual(feed.standing(), "never")
      assert.isUndefined(mark(feed))
      assert.strictEqual(venue.open, 0)
    })
  )

  it.effect(
    "reads the listing again when the venue's events have advanced, and is opened again for other markets",
    () =>
      Effect.gen(function* () {
        const { venue, feed, say, pass } = yield* openFeed()
        yield* say(ticker(symbol, 1, start))
        yield* pass(5)
        assert.strictEqual(venue.listings, 1)
        const halt = { since: start, message: "Halted." }
        venue.listing = { ...venue.listing, version: 2, markets: [market(symbol, { halt })] }
        yield* say(venue.beat(9))
        yield* TestClock.adjust("1 second")
        yield* settle
        assert.deepStrictEqual(shown(feed)?.market.halt, halt)
        assert.strictEqual(last(feed), "60000.5")
        venue.listing = { ...venue.listing, version: 3, markets: [market(symbol), market("ETH-USDC-PERP")] }
        yield* say(venue.beat(10))
        yield* TestClock.adjust("1200 millis")
        yield* settle
        assert.strictEqual(venue.subscribed.at(-1)?.length, 6)
        assert.strictEqual(venue.open, 1)
      })
  )
})

describe("tickers", () => {
  it.effect("the newest one counts: a repeated or late one changes nothing, a gap closes by itself", () =>
    Effect.gen(function* () {
      const { feed, say } = yield* openFeed()
      yield* say(ticker(symbol, 5, start, { last: "60000.5" }))
      yield* say(ticker(symbol, 9, start, { last: "60009" }), ticker(symbol, 8, start, { last: "60008" }))
      yield* say(ticker(symbol, 9, start, { last: "1" }))
      assert.strictEqual(last(feed), "60009.0")
      assert.deepInclude(feed.mirror.counts, { applied: 2, old: 2, gaps: 1 })
    })
  )

  it.effect("facts share their maps between ticks and are new after one", () =>
    Effect.gen(function* () {
      const { feed, say } = yield* openFeed()
      yield* say(ticker(symbol, 1, start))
      const [before, again] = [feed.facts(), feed.facts()]
      assert.strictEqual(before.marks, again.marks)
      yield* say(ticker(symbol, 2, start + 1, { mark: "61000" }))
      assert.strictEqual(before.marks.get(symbol)?.price.toString(), "60000")
      assert.strictEqual(feed.facts().marks.get(symbol)?.price.toString(), "61000")
      assert.deepStrictEqual(feed.facts().instruments.get(symbol), {
        symbol,
        family: "PERP",
        assetClass: "crypto",
        priceDecimals: 1,
        qtyDecimals: 4,
        priceTick: { decimals: 1, step: 1 },
        bandBps: 1_000
      })
    })
  )

  it.effect("one object serves all readers until the next message", () =>
    Effect.gen(function* () {
      const { feed, say } = yield* openFeed()
      yield* say(ticker(symbol, 1, start))
      const first = shown(feed)?.ticker.show()
      assert.strictEqual(shown(feed)?.ticker.show(), first)
      yield* say(ticker(symbol, 2, start))
      assert.notStrictEqual(shown(feed)?.ticker.show(), first)
    })
  )

  const absurd: ReadonlyArray<readonly [string, Parameters<typeof ticker>[3], RegExp]> = [
    ["a price between two ticks", { last: "60000.55" }, /last price 60000.55 is not on the grid/],
    ["a price of zero", { mark: "0" }, /mark price 0/],
    ["a price beyond all bounds", { index: "999999999999999" }, /index price/],
    ["a volume off the grid", { volume24h: "0.00001" }, /volume/],
    ["an interest off the grid", { openInterest: "0.00001" }, /interest/],
    ["a bid above the ask", { bestBid: "60000.1", bestAsk: "60000.1" }, /best bid/],
    ["a funding rate of more than all", { funding: { rate: "1.5", predicted: "0", nextAt: start } }, /funding rate/],
    ["tomorrow's time", { ts: start + 20_001 }, /time to come/],
    ["a market that is not listed", { symbol: "XYZ-USDC-PERP" }, /not listed/]
  ]
  for (const [title, parts, reason] of absurd) {
    it.effect(`A2-115: ${title} is set aside with its bytes and not applied`, () =>
      Effect.gen(function* () {
        const { feed, aside, say } = yield* openFeed()
        yield* say(ticker(symbol, 1, start))
        const bad = ticker(symbol, 2, start, parts)
        yield* say(bad, bad)
        assert.strictEqual(last(feed), "60000.5")
        assert.strictEqual(mark(feed)?.price.toString(), "60000")
        assert.strictEqual(aside.length, 1)
        assert.match(aside[0]?.reason ?? "", reason)
        assert.deepStrictEqual(JSON.parse(aside[0]?.bytes ?? ""), bad)
        assert.strictEqual(feed.mirror.counts.absurd, 2)
        yield* say(ticker(symbol, 3, start + 5_000, { last: "60001" }))
        assert.strictEqual(last(feed), "60001.0")
      })
    )
  }

  it.effect("A2-115: an unreadable line is set aside, once a minute", () =>
    Effect.gen(function* () {
      const { aside, say, pass } = yield* openFeed()
      const unreadable = { unreadable: "{", reason: "no JSON", number: null, account: null }
      yield* say(unreadable, unreadable)
      assert.deepStrictEqual(aside, [{ bytes: "{", reason: "no JSON" }])
      yield* pass(61)
      yield* say(unreadable)
      assert.strictEqual(aside.length, 2)
    })
  )

  it.effect("C4: while the venue plays ahead by command its times are not absurd", () =>
    Effect.gen(function* () {
      const { clock, feed, aside, say } = yield* openFeed()
      clock.expect(start + 3_600_000)
      yield* say(ticker(symbol, 1, start + 3_600_000))
      assert.strictEqual(aside.length, 0)
      assert.strictEqual(last(feed), "60000.5")
    })
  )
})

describe("books", () => {
  const levels = (feed: MarketFeed["Service"]) => shown(feed)?.book.show(25)
  const snapshot = book(symbol, 10, start, { bids, asks })

  it.effect("follow updates, written on the grid, with a checksum of their own", () =>
    Effect.gen(function* () {
      const { feed, say } = yield* openFeed()
      const after = { bids: [bids[1]], asks: [["60000.1", "0.75"] as const, ["60000.3", "4"] as const] }
      yield* say(
        snapshot,
        book(symbol, 11, start + 5, {
          kind: "update",
          bids: [["60000", "0"]],
          asks: [
            ["60000.1", "0.75"],
            ["60000.3", "4"]
          ],
          after
        })
      )
      assert.deepInclude(levels(feed), {
        bids: [["59999.9", "2.0000"]],
        asks: [
          ["60000.1", "0.7500"],
          ["60000.3", "4.0000"]
        ],
        asOfSeq: 11,
        ts: start + 5
      })
      assert.strictEqual(shown(feed)?.book.show(1).asks.length, 1)
      assert.strictEqual(levels(feed), levels(feed))
    })
  )

  it.effect("a gap causes a request for a snapshot, and the book continues from it with the updates since", () =>
    Effect.gen(function* () {
      const { venue, feed, say } = yield* openFeed()
      const grown = { bids: [["60000", "3"] as const], asks }
      const update = book(symbol, 14, start, { kind: "update", bids: [["60000", "3"]], asks: [], after: grown })
      venue.snapshotOf = () => book(symbol, 13, start, { bids: [bids[0]], asks })
      yield* say(snapshot, update)
      yield* settle
      assert.deepStrictEqual(venue.snapshots, [{ channel: "book", symbol }])
      assert.deepStrictEqual(levels(feed)?.bids, [["60000.0", "3.0000"]])
      assert.strictEqual(levels(feed)?.asOfSeq, 14)
      assert.deepInclude(feed.mirror.counts, { gaps: 1 })
    })
  )

  it.effect("a snapshot that can't be obtained is requested again; the last book is served until then", () =>
    Effect.gen(function* () {
      const { venue, feed, say } = yield* openFeed()
      yield* say(snapshot, book(symbol, 12, start, { kind: "update", bids: [], asks: [], after: { bids, asks } }))
      assert.strictEqual(levels(feed)?.asOfSeq, 10)
      assert.isFalse(feed.mirror.isCurrent({ channel: "book", symbol }))
      venue.snapshotOf = () => book(symbol, 12, start, { bids, asks })
      yield* TestClock.adjust("300 millis")
      yield* settle
      assert.strictEqual(levels(feed)?.asOfSeq, 12)
      assert.isTrue(feed.mirror.isCurrent({ channel: "book", symbol }))
    })
  )

  it.effect("a wrong checksum causes a request for a snapshot and is not applied (F30)", () =>
    Effect.gen(function* () {
      const { venue, feed, aside, say } = yield* openFeed()
      const wrong = { ...book(symbol, 11, start, { kind: "update", bids: [["59999", "1"]], asks: [] }), checksum: 1 }
      yield* say(snapshot, wrong)
      assert.deepStrictEqual(venue.snapshots, [{ channel: "book", symbol }])
      assert.strictEqual(levels(feed)?.asOfSeq, 10)
      assert.deepInclude(feed.mirror.counts, { wrongChecksums: 1 })
      assert.strictEqual(aside.length, 0)
    })
  )

  it.effect("repeated or reordered updates leave the book as it is", () =>
    Effect.gen(function* () {
      const { venue, feed, say } = yield* openFeed()
      const one = { bids: [["60000", "3"] as const, bids[1]], asks }
      const two = { bids: [["60000", "4"] as const, bids[1]], asks }
      const first = book(symbol, 11, start, { kind: "update", bids: [["60000", "3"]], asks: [], after: one })
      const second = book(symbol, 12, start, { kind: "update", bids: [["60000", "4"]], asks: [], after: two })
      venue.snapshotOf = () => book(symbol, 11, start, one)
      yield* say(snapshot, second, first, first)
      yield* settle
      assert.deepStrictEqual(levels(feed)?.bids[0], ["60000.0", "4.0000"])
      assert.strictEqual(levels(feed)?.asOfSeq, 12)
    })
  )

  for (const [title, bad] of [
    ["crossed", { bids: [["60000.1", "1"]], asks }],
    ["off the grid", { bids: [["60000.01", "1"]], asks }],
    ["of more levels than a book has", { bids: Array.from({ length: 201 }, (_, at) => [`${50_000 + at}`, "1"]), asks }]
  ] as ReadonlyArray<readonly [string, { bids: ReadonlyArray<readonly [string, string]>; asks: typeof asks }]>) {
    it.effect(`A2-115: a book that is ${title} is set aside`, () =>
      Effect.gen(function* () {
        const { feed, aside, say } = yield* openFeed()
        yield* say(snapshot, book(symbol, 11, start, bad))
        assert.strictEqual(aside.length, 1)
        assert.strictEqual(levels(feed)?.asOfSeq, 10)
      })
    )
  }
})

describe("trades", () => {
  it.effect("are stored once each, newest first, at most 500", () =>
    Effect.gen(function* () {
      const { feed, say } = yield* openFeed()
      yield* say(trades(symbol, 1, start, [{ id: 2 }, { id: 1 }]))
      yield* say(trades(symbol, 2, start, [{ id: 3 }, { id: 2 }], "update"))
      const rows = () =>
        shown(feed)
          ?.trades.show(500)
          .trades.map(({ tradeId }) => tradeId)
      assert.deepStrictEqual(rows(), [3, 2, 1])
      const many = Array.from({ length: 600 }, (_, at) => ({ id: 10 + at }))
      yield* say(trades(symbol, 3, start, many, "update"))
      assert.strictEqual(rows()?.length, 500)
      assert.strictEqual(rows()?.[0], 609)
      assert.strictEqual(shown(feed)?.trades.show(1).trades.length, 1)
    })
  )

  it.effect("A2-115: a trade dated tomorrow, of quantity zero or off the grid is set aside", () =>
    Effect.gen(function* () {
      const { feed, aside, say } = yield* openFeed()
      yield* say(trades(symbol, 1, start, [{ id: 1 }]))
      for (const bad of [{ ts: start + 60_000 }, { qty: "0" }, { price: "1.23" }]) {
        yield* say(trades(symbol, 2, start, [{ id: 2, ...bad }], "update"))
        yield* say(trades(symbol, 1, start, [{ id: 1 }]))
      }
      assert.strictEqual(aside.length, 3)
      assert.deepStrictEqual(
        shown(feed)
          ?.trades.show(50)
          .trades.map(({ tradeId }) => tradeId),
        [1]
      )
    })
  )
})
