/**
 * The venue's market data: snapshots and updates that fit, checksums (F30), trades, klines and their windows (A2-04,
 * A2-05, A2-113).
 */
import { assert, describe, it } from "@effect/vitest"
import { checksumOf } from "../../simulator/venue/core/Feed.ts"
import type { BookMessage, ChannelMessage, KlineInterval } from "../../src/machines/venue/marketData.ts"
import { opened } from "./openedVenue.ts"
import { startAt } from "./venueInputs.ts"

const minute = 60_000
const day = 86_400_000

type Levels = BookMessage["bids"]
const patched = (levels: Levels, changes: Levels, direction: 1 | -1): Levels => {
  const found = new Map(levels)
  for (const [price, qty] of changes) {
    if (qty === "0") found.delete(price)
    else found.set(price, qty)
  }
  return [...found].toSorted(([one], [other]) => (Number(one) - Number(other)) * direction)
}

/** A reader of one book that sees only messages. */
const read = (messages: ReadonlyArray<ChannelMessage>, symbol: string): BookMessage | null => {
  let book: BookMessage | null = null
  for (const message of messages) {
    if (message.channel !== "book" || message.symbol !== symbol) continue
    if (message.kind === "snapshot") book = message
    else if (book !== null) {
      const bids: Levels = patched(book.bids, message.bids, -1)
      const asks: Levels = patched(book.asks, message.asks, 1)
      book = { ...message, kind: "snapshot", bids, asks }
      assert.strictEqual(checksumOf(bids, asks), message.checksum)
    }
  }
  return book
}

describe("market data of the venue", () => {
  it("CRC-001: the checksum over the published levels; 0 for an empty book", () => {
    const bids = [
      ["3366.1", "7"],
      ["3366", "6"]
    ] as const
    const asks = [
      ["3366.8", "9"],
      ["3368", "8"]
    ] as const
    assert.strictEqual(checksumOf(bids, asks), -1_881_014_294)
    assert.strictEqual(checksumOf([], []), 0)
  })

  it("F30: a snapshot and every later update make the book of a later snapshot", () => {
    const { venue, messages, command, tick, place } = opened({ takers: 0.9 })
    command({ type: "clear" })
    for (let n = 0; n < 60; n++) {
      place({ ref: `O-${n}`, side: n % 2 === 0 ? "BUY" : "SELL", price: n % 3 === 0 ? null : `${59_900 + n * 3}` })
      tick()
    }
    const book = venue.snapshot("book", "BTC-USDC-PERP")
    assert.deepStrictEqual(read(messages, "BTC-USDC-PERP"), book)
    assert.isAbove(book?.seq ?? 0, 50)
  })

  it("a book is published once a tick if it has changed, and not once an order", () => {
    const { messages, command, place, tick } = opened()
    command({ type: "book", symbol: "BTC-USDC-PERP", size: "0", levels: null, spread: null })
    const books = () =>
      messages.filter(({ channel, symbol }) => channel === "book" && symbol === "BTC-USDC-PERP").length
    const before = books()
    for (let n = 0; n < 10; n++) place({ ref: `O-${n}`, price: "59500" })
    assert.strictEqual(books(), before)
    tick()
    tick()
    assert.strictEqual(books(), before + 1)
  })

  it("the newest five hundred trades are kept, newest first; an update has the new ones", () => {
    const { venue, messages, place, tick } = opened()
    for (let n = 0; n < 600; n++) {
      place({ ref: `O-${n}`, qty: "0.0001", tif: "IOC" })
      if (n % 100 === 0) tick()
    }
    const said = messages.length
    tick()
    const trades = venue.snapshot("trades", "BTC-USDC-PERP")
    const ids = trades?.channel === "trades" ? trades.trades.map(({ id }) => id) : []
    assert.lengthOf(ids, 500)
    assert.deepStrictEqual(
      ids,
      ids.toSorted((one, other) => other - one)
    )
    const update = messages
      .slice(said)
      .find(({ channel, symbol }) => channel === "trades" && symbol === "BTC-USDC-PERP")
    assert.deepStrictEqual(update?.channel === "trades" ? update.trades.map(({ id }) => id) : [], ids.slice(0, 99))
  })

  it("A2-113: a barrier market has no book; its last price is its mark, its volume that of its contracts", () => {
    const { venue, deal, tick } = opened()
    deal({})
    tick()
    const ticker = venue.snapshot("ticker", "BTC-USDC-KO")
    assert.deepInclude(ticker ?? {}, {
      last: "60000",
      bestBid: null,
      bestAsk: null,
      volume24h: "0.1",
      openInterest: null
    })
    assert.deepInclude(venue.snapshot("book", "BTC-USDC-KO") ?? {}, { bids: [], asks: [], checksum: 0 })
  })

  it("open interest is the sum of all long positions, and volume that of a day", () => {
    const { venue, place, tick, command } = opened()
    const figures = () => {
      const ticker = venue.snapshot("ticker", "BTC-USDC-PERP")
      return ticker?.channel === "ticker" ? [Number(ticker.openInterest), Number(ticker.volume24h)] : []
    }
    const [open = 0, volume = 0] = figures()
    place({ ref: "O-1", qty: "0.5", tif: "IOC" })
    place({ ref: "O-2", qty: "0.2", side: "SELL", tif: "IOC" })
    tick()
    // The venue's own positions from the start may have netted a part of it.
    assert.approximately(figures()[1] ?? 0, volume + 0.7, 1e-9)
    const longs = venue
      .ledger()
      .flatMap(({ positions }) => positions)
      .filter(({ symbol, netQty }) => symbol === "BTC-USDC-PERP" && !netQty.startsWith("-"))
      .reduce((sum, { netQty }) => sum + Number(netQty), 0)
    assert.approximately(figures()[0] ?? 0, longs, 1e-9)
    assert.notStrictEqual(figures()[0], open)
    command({ type: "book", symbol: "BTC-USDC-PERP", size: "0", levels: null, spread: null })
    tick(day + minute)
    assert.strictEqual(figures()[1], 0)
  })
})

describe("klines of the venue", () => {
  /** A trade in each of these minutes after the start, which is a minute before eight. */
  const traded = (...minutes: ReadonlyArray<number>) => {
    const world = opened()
    world.command({ type: "book", symbol: "BTC-USDC-PERP", size: "0", levels: null, spread: null })
    minutes.forEach((at, n) => {
      world.venue.apply({ type: "time", to: startAt + at * minute })
      world.place({ ref: `S-${n}`, account: "CL-2", side: "SELL", price: `${60_000 + n}`, qty: "0.2" })
      world.place({ ref: `B-${n}`, side: "BUY", price: `${60_000 + n}`, qty: "0.1" })
      world.call("cancelOrder", { account: "CL-2", target: `S-${n}` })
    })
    const page = (interval: KlineInterval, from: number | null, to: number | null, limit: number) => {
      const at = (minutes_: number | null) => (minutes_ === null ? null : startAt + minutes_ * minute)
      const found = world.venue.klines({ symbol: "BTC-USDC-PERP", interval, from: at(from), to: at(to), limit })
      return {
        rows: found?.klines.map(({ t, close, trades }) => [(t - startAt) / minute, close, trades]),
        before: found?.before,
        oldest: ((found?.oldestAvailable ?? 0) - startAt) / minute
      }
    }
    return { ...world, page }
  }

  it("A2-05: the newest, the first from a time, the last before one, the first of a window; empty intervals are implied", () => {
    const { page } = traded(1, 2, 5, 9)
    const [first] = page("1m", null, null, 100).rows ?? []
    assert.strictEqual(first?.[0], 0)
    assert.deepStrictEqual(page("1m", null, null, 5).rows, [
      [5, "60002", 1],
      [9, "60003", 1]
    ])
    assert.strictEqual(page("1m", null, null, 5).before, "60001")
    assert.deepStrictEqual(page("1m", 2, null, 3).rows, [[2, "60001", 1]])
    assert.deepStrictEqual(page("1m", 2.5, null, 4), {
      rows: [
        [2, "60001", 1],
        [5, "60002", 1]
      ],
      before: "60000",
      oldest: 0
    })
    assert.deepStrictEqual(page("1m", null, 5, 4).rows, [
      [1, "60000", 1],
      [2, "60001", 1]
    ])
    assert.deepStrictEqual(page("1m", 1, 6, 2).rows, [
      [1, "60000", 1],
      [2, "60001", 1]
    ])
    assert.deepStrictEqual(page("1m", 6, 9, 10), { rows: [], before: "60002", oldest: 0 })
    assert.deepStrictEqual(page("5m", 1, null, 10).rows, [
      [1, "60002", 3],
      [6, "60003", 1]
    ])
    assert.deepStrictEqual(page("1h", 1, null, 10).rows, [[1, "60003", 4]])
  })

  it("A2-04: nothing before the first trade ever, and an unknown market has none", () => {
    const { page, venue } = traded(3)
    assert.isNull(page("1m", -50, null, 10).before)
    assert.isNull(venue.klines({ symbol: "NO-USDC-PERP", interval: "1m", from: null, to: null, limit: 1 }))
  })

  it("A2-113: klines of a barrier market follow its mark", () => {
    const { venue, command, tick } = opened()
    tick(minute)
    command({ type: "price", symbol: "BTC-USDC-PERP", price: "60500", only: null })
    command({ type: "price", symbol: "BTC-USDC-PERP", price: "59500", only: null })
    tick()
    const page = venue.klines({ symbol: "BTC-USDC-KO", interval: "1m", from: null, to: null, limit: 1 })
    assert.deepInclude(page?.klines[0], {
      open: "60000",
      high: "60500",
      low: "59500",
      close: "59500",
      volume: "0",
      trades: 0
    })
  })

  it("two days by the minute and a hundred by the hour are kept, in whole days", () => {
    const { venue, tick } = opened({ tickMillis: 10 * minute })
    for (let n = 0; n < 130; n++) tick(day)
    const oldest = (interval: KlineInterval) =>
      venue.klines({ symbol: "BTC-USDC-KO", interval, from: null, to: null, limit: 1 })?.oldestAvailable ?? 0
    for (const interval of ["1m", "5m", "30m"] as const) assert.isAtLeast(oldest(interval), venue.now - 3 * day)
    for (const interval of ["1h", "4h", "1d"] as const) {
      assert.isAtMost(oldest(interval), venue.now - 100 * day)
      assert.isAtLeast(oldest(interval), venue.now - 102 * day)
      assert.strictEqual(oldest(interval) % day, 0)
    }
    const early = venue.klines({ symbol: "BTC-USDC-KO", interval: "1d", from: 0, to: null, limit: 1_000 })
    assert.deepInclude(early ?? {}, { klines: [], before: null })
    const first = venue.klines({ symbol: "BTC-USDC-KO", interval: "1d", from: oldest("1d"), to: null, limit: 1 })
    assert.isNotNull(first?.before)
  })
})
