/**
 * The band of the marks around a time: known, or unknown where marks are missing. Prices of the venue are checked against it
 * (A2-115).
 */
import { assert, describe, it } from "@effect/vitest"
import type { TickerMessage } from "../../../src/machines/venue/marketData.ts"
import { exactText } from "../../../src/machines/shared/Exact.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { makeLastListing } from "../../../src/runtime/services/market/LastListing.ts"
import { MarketMirror } from "../../../src/runtime/services/market/MarketMirror.ts"
import { RecentMarks } from "../../../src/runtime/services/market/RecentMarks.ts"
import { defaultMarketTerms } from "../../../src/machines/market/marketTerms.ts"
import { market, ticker } from "../../support/ScriptedVenue.ts"

const start = 1_764_000_000_000
const bandIn = (marks: Pick<RecentMarks, "bandAt">, at: number) => {
  const band = marks.bandAt(start + at, 0)
  return band === null ? null : `${exactText(band.low)} to ${exactText(band.high)}${band.isWhole ? "" : ", open"}`
}
/** Marks with their times after the start, ms. A negative price: marks before it were lost. */
const marksOf = (...all: ReadonlyArray<readonly [at: number, price: number]>): RecentMarks => {
  const marks = new RecentMarks()
  for (const [at, price] of all) marks.add(new MoneyDecimal(Math.abs(price)), start + at, price < 0)
  return marks
}

describe("A2-115: the marks around a time", () => {
  it.each([
    [
      "one before and one after it",
      [
        [0, 10],
        [1_000, 20]
      ],
      500,
      "10 to 20"
    ],
    ["none after it yet", [[0, 10]], 500, "10 to 10, open"],
    [
      "none before it",
      [
        [500, 10],
        [1_000, 20]
      ],
      500,
      null
    ],
    [
      "a jump at this very moment",
      [
        [0, 30],
        [500, 10]
      ],
      500,
      "10 to 30"
    ],
    [
      "others, six seconds away",
      [
        [-6_001, 99],
        [0, 10],
        [1_000, 20],
        [6_001, 99]
      ],
      500,
      "10 to 20"
    ],
    [
      "lost ones before it, and a known one since",
      [
        [-4_000, 99],
        [0, -10],
        [1_000, 20]
      ],
      500,
      "10 to 20"
    ],
    [
      "lost ones after it, and a known one before these",
      [
        [0, 10],
        [1_000, 20],
        [3_000, -99]
      ],
      500,
      "10 to 20"
    ],
    [
      "lost ones at both sides of known ones",
      [
        [-1_000, 99],
        [0, -10],
        [400, 11],
        [1_000, 20],
        [1_001, -99]
      ],
      500,
      "10 to 20"
    ],
    [
      "none since six seconds before it",
      [
        [0, 10],
        [6_000, 20]
      ],
      5_500,
      null
    ],
    [
      "lost ones around it",
      [
        [0, 10],
        [1_000, -20]
      ],
      500,
      null
    ],
    [
      "lost ones in the same second",
      [
        [100, 10],
        [700, -20]
      ],
      500,
      null
    ],
    [
      "lost ones at this very moment",
      [
        [0, 10],
        [500, 20],
        [500, -30]
      ],
      500,
      null
    ],
    [
      "lost ones six seconds before it",
      [
        [-9_000, 99],
        [-6_000, -10],
        [0, 10],
        [1_000, 20]
      ],
      500,
      "10 to 20"
    ],
    [
      "lost ones six seconds after it",
      [
        [0, 10],
        [1_000, 20],
        [6_000, 20],
        [7_000, -99]
      ],
      500,
      "10 to 20"
    ],
    [
      "the first ones that were ever received",
      [
        [0, -10],
        [1_000, 20]
      ],
      500,
      "10 to 20"
    ],
    ["the first one that was ever received, and none after it yet", [[0, -10]], 500, "10 to 10, open"],
    [
      "a time before the first ones that were ever received",
      [
        [0, -10],
        [1_000, 20]
      ],
      -1,
      null
    ]
  ] as const)("%s", (_, marks, at, band) => {
    assert.strictEqual(bandIn(marksOf(...marks), at), band)
  })

  it("an hour back they are stored by the minute", () => {
    const marks = new RecentMarks()
    const price = (second: number) => new MoneyDecimal(second < 600 ? 10 : 20)
    for (let second = 0; second <= 3_600; second++) marks.add(price(second), start + second * 1_000, false)
    const [early, jump, late] = [100_500, 600_000, 3_595_500].map((at) => bandIn(marks, at))
    assert.deepStrictEqual([early, jump, late], ["10 to 10", "10 to 20", "20 to 20"])
    assert.isNull(bandIn(marks, -6_000), "before the first")
  })

  it("two days back they are stored by the hour", () => {
    const marks = new RecentMarks()
    const [usual, low] = [new MoneyDecimal(10), new MoneyDecimal(7)]
    for (let second = 0; second <= 2 * 86_400; second += 4) {
      marks.add(second === 5_400 ? low : usual, start + second * 1_000, false)
    }
    const inHour = (hour: number) => bandIn(marks, hour * 3_600_000)
    assert.deepStrictEqual([inHour(1.6), inHour(5), inHour(47.9)], ["7 to 10", "10 to 10", "10 to 10"])
  })

  it("a listing tells nothing about later times, except that a market is delisted", () => {
    const symbol = "BTC-USDC-PERP"
    const mirror = new MarketMirror(defaultMarketTerms)
    const listing = (at: number, changed: object = {}) => ({
      version: 1,
      at: start + at,
      markets: [{ ...market(symbol), ...changed }],
      stakingMarkets: []
    })
    const { recent } = mirror.factsAt(start)
    const listedAt = (...times: ReadonlyArray<number>) => times.map((at) => recent.isListed(symbol, start + at))
    assert.deepStrictEqual(listedAt(-1), [null])
    mirror.list(listing(0))
    assert.deepStrictEqual(listedAt(-1, 0, 1), [true, null, null])
    mirror.confirm(listing(1_000))
    assert.deepStrictEqual(listedAt(999, 1_000), [true, null])
    // An impossible market keeps its last state, which may have ended meanwhile.
    assert.lengthOf(mirror.list(listing(2_000, { bandBps: 0 })), 1)
    mirror.confirm(listing(3_000))
    assert.deepStrictEqual(listedAt(999, 1_000), [true, null])
    mirror.list(listing(4_000, { delisted: true }))
    assert.deepStrictEqual(listedAt(999, 9_000), [false, false])
  })

  it("a heartbeat confirms the listing of its own connection, and none that another reader has read since", () => {
    const last = makeLastListing()
    const mirror = new MarketMirror(defaultMarketTerms, last)
    const listing = (at: number, bandBps = 500) => ({
      version: 1,
      at: start + at,
      markets: [{ ...market("BTC-USDC-PERP"), bandBps }],
      stakingMarkets: []
    })
    const isListedAt = (at: number) => last.isListed("BTC-USDC-PERP", start + at)
    mirror.list(listing(0))
    last.believe(listing(1_000, 600))
    mirror.confirm(listing(2_000))
    assert.deepStrictEqual([isListedAt(999), isListedAt(1_000)], [true, null], "another reader's listing")
    last.believe(listing(3_000))
    mirror.confirm(listing(2_500))
    assert.deepStrictEqual([isListedAt(2_999), isListedAt(3_000)], [true, null], "a heartbeat from before the read")
    mirror.confirm(listing(4_000))
    assert.deepStrictEqual([isListedAt(3_999), isListedAt(4_000)], [true, null], "the same listing, read by both")
    mirror.relist(listing(5_000, 600))
    mirror.confirm(listing(6_000))
    assert.isNull(isListedAt(5_000), "the mirror has not applied it")
    mirror.list(listing(7_000, 600))
    mirror.confirm(listing(8_000))
    assert.isTrue(isListedAt(7_999))
  })

  it("losses take no space: hundreds of them displace no earlier hour", () => {
    const marks = new RecentMarks()
    const price = new MoneyDecimal(10)
    const hour = 3_600_000
    for (let at = 0; at <= 3 * hour; at += 1_000) marks.add(price, start + at, false)
    for (let at = 0; at < 200; at++) marks.add(price, start + 3 * hour + 250 * at, true)
    assert.strictEqual(bandIn(marks, 1.5 * hour), "10 to 10")
    assert.isNull(bandIn(marks, 3 * hour + 40_900), "it lies among the losses")
  })

  it("the marks next to a loss are known, until an outage has lasted a minute", () => {
    const marks = marksOf([0, 10], [4_000, -40], [200_000, -20])
    const near = (at: number) => bandIn({ bandAt: (time, bps) => marks.bandNear(time, bps) }, at)
    assert.deepStrictEqual([-1, 2_000, 5_000, 64_000, 64_001, 200_001].map(near), [
      null,
      "10 to 40",
      "10 to 40",
      "20 to 40",
      null,
      "20 to 20, open"
    ])
  })

  it("a lost message, a lost connection and a message without a mark are lost marks", () => {
    const symbol = "BTC-USDC-PERP"
    const said = (seq: number, at: number, mark: string | null = "60000.0") => ticker(symbol, seq, start + at, { mark })
    const mirror = new MarketMirror(defaultMarketTerms)
    mirror.list({ version: 1, at: start, markets: [market(symbol)], stakingMarkets: [] })
    const { recent } = mirror.factsAt(start)
    const bandAt = (at: number) => bandIn({ bandAt: (time, bps) => recent.bandAt(symbol, time, bps) }, at)
    const take = (...messages: ReadonlyArray<TickerMessage>) => {
      for (const message of messages) assert.isNull(mirror.take(message, Infinity).absurd)
    }
    take(said(1, 0), said(2, 6_000), said(3, 7_000))
    assert.strictEqual(bandAt(6_500), "60000 to 60000")
    take(said(5, 9_000), said(6, 10_000))
    assert.isNull(bandAt(8_000))
    mirror.lost()
    take(said(7, 12_000), said(8, 13_000))
    assert.isNull(bandAt(11_000))
    take(said(9, 14_000, null), said(10, 14_500), said(11, 15_000))
    assert.isNull(bandAt(14_200))
    assert.strictEqual(bandAt(14_700), "60000 to 60000")
  })

  it("a late mark widens the band of its time, and does not end a loss; a mark that is too late does not count", () => {
    const late = marksOf([0, 60], [2_000, 60], [1_999, 57], [3_000, 60])
    assert.strictEqual(bandIn(late, 1_999), "57 to 60")
    assert.isFalse(late.add(new MoneyDecimal(50), start + 2_500, true))
    assert.isTrue(late.add(new MoneyDecimal(60), start + 4_000, false))
    assert.strictEqual(bandIn(marksOf([0, 60], [9_000, 60], [3_000, 57], [10_000, 60]), 9_500), "60 to 60")
  })

  it("the marks of a market that is delisted or gets another grid still judge prices of their time", () => {
    const symbol = "BTC-USDC-PERP"
    const listed = (change: Parameters<typeof market>[1]) => ({
      version: 1,
      at: start,
      markets: [market(symbol, change)],
      stakingMarkets: []
    })
    const mirror = new MarketMirror(defaultMarketTerms)
    const { recent } = mirror.factsAt(start)
    const bandAt = (at: number) => bandIn({ bandAt: (time, bps) => recent.bandAt(symbol, time, bps) }, at)
    mirror.list(listed({}))
    for (const seq of [1, 2, 3]) mirror.take(ticker(symbol, seq, start + seq * 1_000, { mark: "60000.0" }), Infinity)
    for (const change of [{ priceTick: "0.01" }, { delisted: true }, {}]) {
      mirror.list(listed(change))
      assert.strictEqual(bandAt(2_500), "60000 to 60000")
    }
  })
})
