/**
 * Impossible klines and offers count as no answer of the venue, are quarantined once a minute, and are never cached
 * (A2-115); no reader waits for klines while the venue is known to be unavailable (A2-114).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Kline, KlinePage } from "../../../src/machines/venue/marketData.ts"
import type { VenueOffer } from "../../../src/machines/venue/VenueMarket.ts"
import type { KlineWindow } from "../../../src/runtime/ports/Venue.ts"
import type { MarketFeed } from "../../../src/runtime/services/market/MarketFeed.ts"
import { stakingMarket, type ScriptedVenue } from "../../support/ScriptedVenue.ts"
import { openFeed, settle, start } from "./feedBench.ts"

const symbol = "BTC-USDC-PERP"
const minute = 60_000
const open = Math.floor(start / minute) * minute
const first = open - 4 * minute
const row = (t: number, parts: Partial<Kline> = {}): Kline => ({
  t,
  open: "60000",
  high: "60002.5",
  low: "59999.9",
  close: "60001",
  volume: "1.5",
  trades: 3,
  ...parts
})
const rows = [row(first), row(open - minute), row(open)]
const page: KlinePage = { klines: rows, before: null, oldestAvailable: first, asOf: start }
const window: KlineWindow = { symbol, interval: "1m", from: null, to: null, limit: 5 }
const withKlines = (found: KlinePage) => (venue: ScriptedVenue) => {
  venue.pageOf = () => found
}
const read = (feed: MarketFeed["Service"], asked = window) => Effect.exit(feed.klines.page(asked))

describe("A2-115: klines", () => {
  const right: ReadonlyArray<readonly [string, KlinePage, KlineWindow]> = [
    ["of the newest buckets", page, window],
    ["of nothing that was ever traded", { ...page, klines: [], oldestAvailable: null }, window],
    [
      "of a window",
      { ...page, klines: [row(open - minute)], before: "60001" },
      { ...window, from: open - minute - 1, to: open }
    ],
    [
      "of a time when the market had finer grids",
      { ...page, klines: [row(open, { close: "60000.55", volume: "0.00001" })], before: "60001.23" },
      window
    ],
    ["of a window behind everything", { ...page, klines: [] }, { ...window, from: start + minute }],
    [
      "that are all one price",
      { ...page, klines: [row(open, { high: "60000", low: "60000", close: "60000" })] },
      window
    ]
  ]
  for (const [title, found, asked] of right) {
    it.effect(`${title} are accepted`, () =>
      Effect.gen(function* () {
        const { feed, aside } = yield* openFeed(withKlines(found))
        assert.deepStrictEqual((yield* read(feed, asked))._tag, "Success")
        assert.deepStrictEqual(aside, [])
      })
    )
  }

  const wrong: ReadonlyArray<readonly [string, Partial<KlinePage>, RegExp, Partial<KlineWindow>?]> = [
    ["at a price of zero", { klines: [row(open, { low: "0" })] }, /^0 is no price/],
    ["at a price beyond all bounds", { klines: [row(open, { high: "999999999999999" })] }, /^9{15} is no price/],
    ["of fewer trades than none", { klines: [row(open, { trades: -1 })] }, /-1 trades/],
    ["of more trades than there can be", { klines: [row(open, { trades: 2_000_000_000 })] }, /trades are absurd/],
    ["whose high is below the close", { klines: [row(open, { high: "60000.5" })] }, /high and low/],
    ["whose low is above the open", { klines: [row(open, { low: "60000.1" })] }, /high and low/],
    ["in no order", { klines: [row(open), row(open - minute)] }, /order/],
    ["twice", { klines: [row(open), row(open)] }, /order/],
    ["between two buckets", { klines: [row(open - 1)] }, /begin with its interval/],
    ["from before the first", { klines: [row(first - minute)] }, /before their window/],
    ["from before the window", { klines: [row(first)] }, /before their window/, { from: open }],
    ["from behind the window", { klines: [row(open)] }, /behind its window/, { to: open }],
    ["of tomorrow", { klines: [row(open + 86_400_000)] }, /behind its window/],
    ["more than were asked for", {}, /before their window/, { limit: 2 }],
    ["as of tomorrow", { asOf: start + 86_400_000 }, /time to come/],
    ["with a first one between two buckets", { oldestAvailable: first + 1 }, /first kline's time/],
    ["with a first one to come", { klines: [], oldestAvailable: open + minute }, /first kline's time/],
    ["before the first one ever", { oldestAvailable: null }, /before the first/],
    ["after a close at nothing", { before: "0" }, /^0 is no price/]
  ]
  for (const [title, parts, reason, asked] of wrong) {
    it.effect(`${title} are no answer, and set aside once`, () =>
      Effect.gen(function* () {
        const { venue, feed, aside } = yield* openFeed(withKlines({ ...page, ...parts }))
        for (let at = 0; at < 3; at++) assert.strictEqual((yield* read(feed, { ...window, ...asked }))._tag, "Failure")
        assert.strictEqual(aside.length, 1)
        assert.match(aside[0]?.reason ?? "", reason)
        venue.pageOf = () => ({ ...page, klines: [] })
        assert.strictEqual((yield* read(feed, { ...window, ...asked }))._tag, "Success")
      })
    )
  }

  it.effect("of the last good answer are served for ten seconds instead", () =>
    Effect.gen(function* () {
      const { venue, feed, pass } = yield* openFeed(withKlines(page))
      const before = yield* read(feed)
      venue.pageOf = () => ({ ...page, asOf: start + 86_400_000 })
      yield* pass(9)
      assert.deepStrictEqual(yield* read(feed), before)
      yield* pass(1)
      assert.strictEqual((yield* read(feed))._tag, "Failure")
    })
  )
})

describe("A2-114: klines of a venue that is away", () => {
  /** Milliseconds of the test's clock until a read has its answer, at most six seconds. */
  const waited = (feed: MarketFeed["Service"], asked = window) =>
    Effect.gen(function* () {
      const heard: Array<string> = []
      yield* Effect.forkScoped(Effect.tap(read(feed, asked), ({ _tag }) => Effect.sync(() => void heard.push(_tag))))
      for (let ms = 0; ms <= 6_000; ms += 100) {
        yield* settle
        if (heard.length > 0) return [...heard, ms]
        yield* TestClock.adjust("100 millis")
      }
      return heard
    })

  it.effect("are refused at once, and the venue is not asked", () =>
    Effect.gen(function* () {
      const { venue, feed } = yield* openFeed(withKlines(page))
      venue.reachable = false
      venue.drop()
      yield* settle
      yield* TestClock.adjust("1 second")
      yield* settle
      const asked = venue.windows.length
      venue.port.klines = () => Effect.never
      assert.deepStrictEqual(yield* waited(feed), ["Failure", 0])
      assert.strictEqual(venue.windows.length, asked)
    })
  )

  it.effect("wait two seconds for a silent venue", () =>
    Effect.gen(function* () {
      const { venue, feed } = yield* openFeed()
      venue.port.klines = () => Effect.never
      assert.deepStrictEqual(yield* waited(feed), ["Failure", 2_000])
    })
  )

  it.effect("are requested while a lost connection is opened again", () =>
    Effect.gen(function* () {
      const { venue, feed } = yield* openFeed(withKlines(page))
      venue.drop()
      yield* settle
      assert.deepStrictEqual(yield* waited(feed), ["Success", 0])
    })
  )
})

describe("A2-115: staking offers", () => {
  const offer: VenueOffer = {
    id: 1,
    symbol: "BTC-SWAP",
    rateBps: 400,
    tenorDays: 30,
    qty: "2",
    remainingQty: "1.5",
    minQty: "0.001",
    createdAt: start,
    expiryAt: start + 1
  }
  const withOffers =
    (...offers: ReadonlyArray<VenueOffer>) =>
    (venue: ScriptedVenue) => {
      venue.listing = { ...venue.listing, stakingMarkets: [stakingMarket("BTC-SWAP")] }
      venue.offers = offers
    }
  const ids = (feed: MarketFeed["Service"]) => feed.offers()?.offers.map(({ id }) => id) ?? null

  const wrong: ReadonlyArray<readonly [string, Partial<VenueOffer>, RegExp]> = [
    ["off the grid of quantities", { qty: "2.00005" }, /not on the grid/],
    ["of nothing", { qty: "0", remainingQty: "0" }, /remains/],
    ["with more left than there was", { remainingQty: "2.5" }, /remains/],
    ["beyond the market's rate", { rateBps: 2_001 }, /2001 basis points/],
    ["below nothing", { rateBps: -1 }, /-1 basis points/],
    ["shorter than the market's", { tenorDays: 0 }, /0 days/],
    ["longer than the market's", { tenorDays: 91 }, /91 days/],
    ["made tomorrow", { createdAt: start + 86_400_000, expiryAt: start + 86_400_001 }, /times/],
    ["that ends before it begins", { expiryAt: start - 1 }, /times/],
    ["that stands there twice", { id: 1 }, /twice/]
  ]
  for (const [title, parts, reason] of wrong) {
    it.effect(`one ${title} is left out and set aside once; the others are shown`, () =>
      Effect.gen(function* () {
        const { feed, aside, pass } = yield* openFeed(withOffers(offer, { ...offer, id: 2, ...parts }))
        yield* pass(10)
        assert.deepStrictEqual(ids(feed), [1])
        assert.strictEqual(aside.length, 1)
        assert.match(aside[0]?.reason ?? "", reason)
      })
    )
  }

  it.effect("a board dated tomorrow, or with too many offers, is no answer: the previous one becomes stale", () =>
    Effect.gen(function* () {
      const { venue, feed, aside, pass } = yield* openFeed(withOffers(offer))
      yield* pass(2)
      assert.deepStrictEqual(ids(feed), [1])
      venue.at += 86_400_000
      venue.offers = [{ ...offer, id: 2 }]
      yield* pass(6)
      venue.at -= 86_400_000
      venue.offers = Array.from({ length: 10_001 }, (_, at) => ({ ...offer, id: at + 1 }))
      yield* pass(7)
      assert.deepStrictEqual(ids(feed), [1])
      assert.isTrue(feed.offersStale())
      assert.strictEqual(aside.length, 2)
    })
  )

  it.effect("offers of a market that is not listed (yet) are left out, and nothing is set aside", () =>
    Effect.gen(function* () {
      const { feed, aside, pass } = yield* openFeed(withOffers({ ...offer, symbol: "XYZ-SWAP" }))
      yield* pass(2)
      assert.deepStrictEqual([ids(feed), aside], [[], []])
    })
  )
})
