/** Answers of market data while the venue is unavailable, by the duration (A2-114, A2-56). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { defaultSettings, Settings } from "../../../src/runtime/Settings.ts"
import { BusinessClock } from "../../../src/runtime/engine/clock/BusinessClock.ts"
import { MarketFeed } from "../../../src/runtime/services/market/MarketFeed.ts"
import { MarketHalts } from "../../../src/runtime/services/market/MarketHalts.ts"
import { MarketReads } from "../../../src/runtime/services/market/MarketReads.ts"
import { StakingReads } from "../../../src/runtime/services/market/StakingReads.ts"
import type { Verdict } from "../../../src/machines/shared/Refusal.ts"
import { book, ticker, trades } from "../../support/ScriptedVenue.ts"
import { openFeed, start } from "./feedBench.ts"

const symbol = "BTC-USDC-PERP"
const halt = { scope: "PERP", since: start, until: start + 1, message: "Maintenance." }
const unused = () => Effect.die(new Error("nothing is halted here"))
const layerHalts = Layer.succeed(MarketHalts, {
  active: () => [halt],
  list: () => ({ markets: [], halts: [halt] }),
  halt: unused,
  resume: unused
})
const window = { interval: "1m", from: null, to: null, limit: 5 } as const

const openReads = Effect.gen(function* () {
  const bench = yield* openFeed((venue) => {
    venue.greeting = [
      ticker(symbol, 1, start),
      book(symbol, 1, start, { bids: [], asks: [] }),
      trades(symbol, 1, start, [])
    ]
  })
  const context = yield* Layer.build(
    Layer.mergeAll(MarketReads.layer, StakingReads.layer).pipe(
      Layer.provide(
        Layer.mergeAll(
          Layer.succeed(MarketFeed, bench.feed),
          Layer.succeed(BusinessClock, bench.clock),
          Settings.layer(defaultSettings),
          layerHalts
        )
      )
    )
  )
  const reads = yield* Effect.provideContext(MarketReads, context)
  const staking = yield* Effect.provideContext(StakingReads, context)
  const ofSymbol = () => [
    reads.ticker(symbol),
    reads.orderbook(symbol, 25),
    reads.trades(symbol, 50),
    reads.indexPrice(symbol),
    reads.funding(symbol)
  ]
  const marks = () => {
    const found = reads.tickers()
    return found.ok ? found.value.tickers.map(({ markPrice }) => markPrice) : null
  }
  return { ...bench, reads, staking, ofSymbol, marks }
})

const tags = (verdicts: ReadonlyArray<Verdict<unknown>>) => new Set(verdicts.map((v) => (v.ok ? "ok" : v.refusal._tag)))

describe("A2-114: the venue is away", () => {
  it.effect("for less than ten seconds the last figures are served, then 502; the listing stays", () =>
    Effect.gen(function* () {
      const { venue, reads, ofSymbol, marks } = yield* openReads
      yield* reads.klines(symbol, window)
      venue.reachable = false
      venue.drop()
      yield* TestClock.adjust("9900 millis")
      assert.deepStrictEqual(tags(ofSymbol()), new Set(["ok"]))
      assert.deepStrictEqual(marks(), ["60000.0"])
      assert.isTrue((yield* reads.klines(symbol, window)).ok)
      yield* TestClock.adjust("200 millis")
      assert.deepStrictEqual(tags(ofSymbol()), new Set(["VenueAway"]))
      assert.deepStrictEqual(marks(), [null])
      assert.deepStrictEqual(tags([yield* reads.klines(symbol, window)]), new Set(["VenueAway"]))
      const known = [reads.instruments(), reads.info(symbol), reads.currencies(), reads.status()]
      assert.deepStrictEqual(tags(known), new Set(["ok"]))
    })
  )

  it.effect("connected, but with figures of the greatest allowed age, reads serve them (A2-114)", () =>
    Effect.gen(function* () {
      const { pass, ofSymbol } = yield* openReads
      yield* pass(60)
      assert.deepStrictEqual(tags(ofSymbol()), new Set(["ok"]))
    })
  )

  it.effect("one read at the venue serves all requests for the same klines within a second", () =>
    Effect.gen(function* () {
      const { venue, reads } = yield* openReads
      yield* Effect.all(
        Array.from({ length: 50 }, () => reads.klines(symbol, window)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(venue.windows.length, 1)
      yield* TestClock.adjust("999 millis")
      yield* reads.klines(symbol, window)
      assert.strictEqual(venue.windows.length, 1)
      yield* TestClock.adjust("1 millis")
      yield* reads.klines(symbol, window)
      assert.strictEqual(venue.windows.length, 2)
    })
  )

  it.effect("A2-56: offers are read every two seconds, and stale ten seconds after the last read", () =>
    Effect.gen(function* () {
      const { venue, staking } = yield* openReads
      const stale = () => {
        const found = staking.offers({})
        return found.ok ? found.value.stale : null
      }
      assert.isFalse(stale())
      venue.reachable = false
      yield* TestClock.adjust("10 seconds")
      assert.isFalse(stale())
      yield* TestClock.adjust("1 millis")
      assert.isTrue(stale())
      venue.reachable = true
      yield* TestClock.adjust("2 seconds")
      assert.isFalse(stale())
    })
  )

  it.effect("A2-11: our own halts are shown beside the venue's", () =>
    Effect.gen(function* () {
      const { reads } = yield* openReads
      const status = reads.status()
      assert.deepStrictEqual(status.ok ? status.value : null, { asOf: start, halted: true, halts: [halt] })
    })
  )
})
