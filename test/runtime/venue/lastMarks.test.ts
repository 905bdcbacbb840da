/**
 * Last marks: the value of a market stays known when the market is delisted, gets other grids or has no mark, and is
 * stored rarely even if the market ticks often (F3, F23, F25). The last accepted listing also outlives the process, and
 * is stored only if it has changed (A2-114).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { holdingMark } from "../../../src/machines/market/holdingMark.ts"
import { BusinessClock } from "../../../src/runtime/engine/clock/BusinessClock.ts"
import { Journal } from "../../../src/runtime/engine/journal/Journal.ts"
import { makeJournalMemory } from "../../../src/runtime/engine/journal/JournalMemory.ts"
import { MemoryStore } from "../../../src/runtime/engine/journal/MemoryStore.ts"
import type { VenueMarket } from "../../../src/machines/venue/VenueMarket.ts"
import { ActorHost } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import { RowReadsMemory } from "../../../src/runtime/ports/RowReadsMemory.ts"
import { LastListing } from "../../../src/runtime/services/market/LastListing.ts"
import type { LastListingRow } from "../../../src/runtime/tables/market.ts"
import { layerLastMarks } from "../../../src/runtime/services/market/LastMarks.ts"
import { MarketFeed } from "../../../src/runtime/services/market/MarketFeed.ts"
import { market, type ScriptedVenue, ticker } from "../../support/ScriptedVenue.ts"
import { clientCommit } from "../engine/fixtures.ts"
import { openFeed, settle, start } from "./feedBench.ts"

const symbol = "BTC-USDC"
const spot = market(symbol, { family: "SPOT" })
const said = (seq: number, at: number, mark: string | null, of = symbol) =>
  ticker(of, seq, at, { mark, last: null, bestBid: null, bestAsk: null, index: null, funding: null })
const withSpot = (venue: ScriptedVenue) => {
  venue.listing = { ...venue.listing, markets: [spot] }
}
const worth = (feed: MarketFeed["Service"]) => {
  const mark = holdingMark("BTC", feed.facts())
  return mark === null ? null : [mark.text, mark.fresh]
}
const relisted = (venue: ScriptedVenue, listing: Partial<ScriptedVenue["listing"]>) =>
  Effect.gen(function* () {
    venue.listing = { ...venue.listing, version: venue.listing.version + 1, ...listing }
    venue.publish(venue.beat(venue.listing.version))
    yield* settle
    yield* TestClock.adjust("1500 millis")
    yield* settle
  })

describe("F25: the last known mark, however old", () => {
  it.effect("stays when the market is delisted, and is stale", () =>
    Effect.gen(function* () {
      const { venue, feed, say } = yield* openFeed(withSpot)
      yield* say(said(1, start, "60000"))
      assert.deepStrictEqual(worth(feed), ["60000.0", true])
      yield* relisted(venue, { markets: [{ ...spot, delisted: true }] })
      assert.deepStrictEqual(worth(feed), ["60000.0", false])
      assert.isFalse(feed.facts().instruments.has(symbol))
    })
  )

  it.effect("stays when the market gets another grid, until the venue gives one on that grid", () =>
    Effect.gen(function* () {
      const { venue, feed, say } = yield* openFeed(withSpot)
      yield* say(said(1, start, "60000.1"))
      yield* relisted(venue, { markets: [{ ...spot, priceTick: "5" }] })
      assert.deepStrictEqual(worth(feed), ["60000.1", false])
      yield* say(said(1, start + 1_500, "60005"))
      assert.deepStrictEqual(worth(feed), ["60005", true])
    })
  )

  it.effect("stays when the market reports that it has none", () =>
    Effect.gen(function* () {
      const { feed, say } = yield* openFeed(withSpot)
      yield* say(said(1, start, "60000"), said(2, start + 10, null))
      assert.deepStrictEqual(worth(feed), ["60000.0", false])
      yield* say(said(3, start + 20, "60001"))
      assert.deepStrictEqual(worth(feed), ["60001.0", true])
    })
  )
})

/** A feed whose last marks, or whose last listing, are written to a store until `end`. */
const openKept = (
  store: MemoryStore,
  prepare: (venue: ScriptedVenue) => void = withSpot,
  kept: Layer.Layer<never, never, MarketFeed | ActorHost | RowReads | LastListing> = layerLastMarks
) =>
  Effect.gen(function* () {
    const bench = yield* openFeed(prepare, store)
    const journal = makeJournalMemory({ store, schedule: (task) => queueMicrotask(task) })
    const scope = yield* Scope.make()
    yield* Layer.buildWithScope(
      kept.pipe(
        Layer.provide(ActorHost.layer({ residentLimit: 8, facts: bench.feed.facts })),
        Layer.provide([
          Layer.succeed(Journal, journal),
          Layer.succeed(BusinessClock, bench.clock),
          Layer.succeed(MarketFeed, bench.feed),
          Layer.succeed(LastListing, bench.listing),
          RowReadsMemory.layer({ store })
        ])
      ),
      scope
    )
    return { ...bench, commits: () => journal.batches().commits, end: Scope.close(scope, Exit.void) }
  })

describe("last marks are stored", () => {
  it.effect("seldom: no tick at once, once a minute at most, and not for small moves", () =>
    Effect.gen(function* () {
      const store = new MemoryStore()
      const { clock, say, commits, end } = yield* openKept(store)
      let seq = 0
      const tickFor = (seconds: number, price: (tick: number) => string) =>
        Effect.gen(function* () {
          for (let second = 0; second < seconds; second++) {
            const now = clock.now()
            yield* say(...Array.from({ length: 20 }, () => said(++seq, now, price(seq))))
            yield* TestClock.adjust("1 second")
            yield* settle
          }
        })
      yield* tickFor(59, () => "60000")
      assert.strictEqual(commits(), 0)
      yield* tickFor(2, () => "60000")
      assert.strictEqual(commits(), 1)
      yield* tickFor(180, (tick) => `600${tick % 90 < 10 ? "0" : ""}${tick % 90}`)
      assert.strictEqual(commits(), 1)
      yield* tickFor(60, () => "61000")
      assert.strictEqual(commits(), 2)
      assert.deepInclude(store.rows("lastMarks")[0], { symbol, price: "61000.0" })
      yield* tickFor(660, () => "61000")
      assert.strictEqual(commits(), 3)
      yield* say(said(++seq, clock.now(), "61001"))
      yield* end
      assert.strictEqual(commits(), 4)
      assert.deepStrictEqual(store.rows("lastMarks"), [{ symbol, price: "61001.0", at: clock.now() }])
    })
  )

  it.effect("and known to the next process, stale, while the venue is away; those of perpetuals are not stored", () =>
    Effect.gen(function* () {
      const store = new MemoryStore()
      const first = yield* openKept(store, (venue) => {
        venue.listing = { ...venue.listing, markets: [spot, market("BTC-USDC-PERP")] }
      })
      yield* first.say(said(1, start, "60000"), said(1, start, "60010", "BTC-USDC-PERP"))
      yield* first.end
      assert.deepStrictEqual(store.rows("lastMarks"), [{ symbol, price: "60000.0", at: start }])
      const second = yield* openKept(store, (venue) => {
        withSpot(venue)
        venue.reachable = false
      })
      assert.deepStrictEqual(worth(second.feed), ["60000.0", false])
      second.venue.reachable = true
      yield* TestClock.adjust("10 seconds")
      yield* settle
      assert.deepStrictEqual(worth(second.feed), ["60000.0", false])
      yield* second.say(said(1, second.clock.now(), "59000"))
      assert.deepStrictEqual(worth(second.feed), ["59000.0", true])
    })
  )
})

describe("A2-114: the last believed listing is stored", () => {
  const lists =
    (...markets: ReadonlyArray<VenueMarket>) =>
    (venue: ScriptedVenue) => {
      venue.listing = { ...venue.listing, markets }
    }
  const openListing = (store: MemoryStore, ...markets: ReadonlyArray<VenueMarket>) =>
    openKept(store, lists(...markets), LastListing.layerKept)
  const pass = (seconds: number) => Effect.andThen(TestClock.adjust(`${seconds} seconds`), settle)
  const listed = (store: MemoryStore) => store.rows("lastListings").map(({ listing }) => listing.markets)

  it.effect("when it has changed, within five seconds and at the end, and not otherwise", () =>
    Effect.gen(function* () {
      const store = new MemoryStore()
      const { venue, commits, end } = yield* openListing(store, spot)
      yield* pass(5)
      assert.deepStrictEqual(listed(store), [[spot]])
      yield* relisted(venue, { at: start + 9_000 })
      yield* pass(60)
      assert.strictEqual(commits(), 1)
      const halted = { ...spot, halt: { since: start, message: "Upkeep." } }
      yield* relisted(venue, { markets: [halted] })
      yield* pass(5)
      assert.deepStrictEqual(listed(store), [[halted]])
      yield* relisted(venue, { markets: [{ ...spot, displayName: "x".repeat(1 << 20) }] })
      yield* pass(5)
      assert.strictEqual(commits(), 2, "too large")
      yield* relisted(venue, { markets: [spot] })
      yield* end
      assert.deepStrictEqual([commits(), listed(store)], [3, [[spot]]])
    })
  )

  for (const [title, markets, reason] of [
    ["empty", [], "no SPOT market is listed any more"],
    ["impossible", [{ ...spot, priceTick: "0" }], `the market ${symbol} is listed with a tick of 0`],
    ["of another family", [market(symbol)], `the market ${symbol} is listed with the family PERP instead of SPOT`]
  ] as ReadonlyArray<readonly [string, ReadonlyArray<VenueMarket>, string]>) {
    it.effect(`and replaces one that is ${title} at the next start, until a possible one arrives`, () =>
      Effect.gen(function* () {
        const store = new MemoryStore()
        yield* Effect.flatMap(openListing(store, spot), ({ end }) => end)
        const { venue, feed, aside, end } = yield* openListing(store, ...markets)
        assert.deepStrictEqual(
          [...feed.mirror.markets.values()].map((each) => each.market),
          [spot]
        )
        assert.strictEqual(feed.figures().kept, 1)
        assert.deepStrictEqual(
          aside.map((each) => each.reason),
          [reason]
        )
        const next = { ...spot, maxQty: "7" }
        yield* relisted(venue, { markets: [next] })
        assert.deepStrictEqual(
          [...feed.mirror.markets.values()].map((each) => each.market),
          [next]
        )
        yield* end
        assert.deepStrictEqual(listed(store), [[next]])
      })
    )
  }

  it.effect("and is missing while the venue is away, and where this release can't read it", () =>
    Effect.gen(function* () {
      const store = new MemoryStore()
      yield* Effect.flatMap(openListing(store, spot), ({ end }) => end)
      const away = yield* openKept(store, (venue) => void (venue.reachable = false), LastListing.layerKept)
      assert.deepStrictEqual([away.feed.standing(), away.feed.mirror.listing], ["never", null])
      yield* away.end
      assert.deepStrictEqual(listed(store), [[spot]])
      const older = { id: 1, listing: { markets: [spot] } } as unknown as LastListingRow
      store.apply(clientCommit(1, null, { rows: { lastListings: [older] } }))
      const { feed } = yield* openListing(store)
      assert.isNull(feed.mirror.listing)
    })
  )
})
