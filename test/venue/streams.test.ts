/**
 * The venue's streams with readers that are slow, do not read, or start far behind: bounded, in order, encoded once.
 */
import { afterEach, assert, describe, it } from "@effect/vitest"
import { createServer, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { ChannelMessage } from "../../src/machines/venue/marketData.ts"
import type { VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import { EventFeed } from "../../simulator/venue/server/EventFeed.ts"
import { Faults } from "../../simulator/venue/server/Faults.ts"
import { MarketFeed } from "../../simulator/venue/server/MarketFeed.ts"
import { VenueClient, type OpenStream } from "./venueClient.ts"

const servers: Array<Server> = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A server that passes every response to `open`. */
const serving = async (open: (response: ServerResponse) => void): Promise<() => Promise<OpenStream>> => {
  const server = createServer((_, response) => open(response))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const client = new VenueClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, "")
  return () => client.open("/")
}
const faults = () => new Faults(() => Date.now())
const limits = { backlogBytes: 256 * 1024, stallMillis: 60_000 }

const listed = (number: number): VenueEvent => ({
  number,
  at: 1,
  fact: { type: "listing", version: number, symbol: "BTC-USDC-PERP" }
})
/** A growing list of events, as a venue keeps them. */
const eventSource = (count: number) => {
  const events = Array.from({ length: count }, (_, n) => listed(n + 1))
  return {
    now: 1,
    get number() {
      return events.length
    },
    add: () => events[events.push(listed(events.length + 1)) - 1] as VenueEvent,
    eventsAfter: (after: number) => (after > events.length ? null : events.slice(after))
  }
}

const ticker = (seq: number, text: string): ChannelMessage => ({
  channel: "ticker",
  kind: "snapshot",
  symbol: "BTC-USDC-PERP",
  seq,
  ts: 1,
  last: text,
  mark: null,
  index: null,
  bestBid: null,
  bestAsk: null,
  volume24h: "0",
  openInterest: null,
  funding: null
})

describe("events", () => {
  it("a reader that starts far behind gets every number once and in order, and then new events", async () => {
    const source = eventSource(30_000)
    const feed = new EventFeed(source, faults(), limits)
    const stream = await (await serving((response) => void feed.open(response, 0)))()
    await stream.next((line) => line.heartbeat)
    for (let n = 0; n < 100; n++) {
      feed.happened(source.add())
      feed.flush()
    }
    for (let number = 1; number <= 30_100; number++) assert.strictEqual((await stream.next()).number, number)
    stream.close()
    await stream.ended
  })

  it("a reader that does not read is cut, and until then holds no more than its socket does", async () => {
    const source = eventSource(200_000)
    const feed = new EventFeed(source, faults(), { backlogBytes: 64 * 1024 * 1024, stallMillis: 200 })
    let backlog = 0
    const open = await serving((response) => {
      feed.open(response, 0)
      backlog = response.writableLength
    })
    const stream = await open()
    stream.stall()
    assert.isBelow(backlog, 1024 * 1024)
    while (feed.size > 0) await new Promise<void>((resolve) => setImmediate(resolve))
  })
})

describe("market data", () => {
  it("a reader that does not read is cut at its limit; other readers are not delayed", async () => {
    let seq = 1
    const source = { now: 1, number: 0, snapshot: () => ticker(seq, "1") }
    const feed = new MarketFeed(source, faults(), limits)
    const open = await serving((response) => feed.open(response, [{ channel: "ticker", symbol: "BTC-USDC-PERP" }]))
    const [slow, fast] = [await open(), await open()]
    slow.stall()
    await fast.next((line) => line.channel === "ticker")
    assert.deepStrictEqual([feed.size, feed.subscriptions], [2, 2])
    while (feed.size === 2) {
      feed.happened(ticker(++seq, "9".repeat(15)))
      feed.flush()
      assert.strictEqual((await fast.next((line) => line.channel === "ticker")).seq, seq)
    }
    fast.close()
    await fast.ended
  })

  it("a message is encoded once for all its readers, and not at all without readers", async () => {
    let encodings = 0
    const counted = (seq: number): ChannelMessage => {
      const message = ticker(seq, "1")
      return Object.defineProperty({ ...message }, "last", {
        enumerable: true,
        get: () => {
          encodings++
          return "1"
        }
      })
    }
    const feed = new MarketFeed({ now: 1, number: 0, snapshot: () => ticker(1, "1") }, faults(), limits)
    const open = await serving((response) => feed.open(response, [{ channel: "ticker", symbol: "BTC-USDC-PERP" }]))
    feed.happened(counted(2))
    feed.flush()
    assert.strictEqual(encodings, 0)
    const streams = await Promise.all(Array.from({ length: 64 }, open))
    for (const stream of streams) await stream.next((line) => line.channel === "ticker")
    feed.happened(counted(2))
    feed.flush()
    for (const stream of streams) await stream.next((line) => line.seq === 2)
    assert.strictEqual(encodings, 1)
    for (const stream of streams) stream.close()
  })

  /** The sequences that a reader receives after its first snapshot, from `count` messages of one flush. */
  const received = async (made: (seq: number) => ChannelMessage, count: number): Promise<ReadonlyArray<number>> => {
    let seq = 1
    const { channel, symbol } = made(1)
    const feed = new MarketFeed({ now: 1, number: 0, snapshot: () => made(seq) }, faults(), limits)
    const open = await serving((response) => feed.open(response, [{ channel, symbol }]))
    const stream = await open()
    await stream.next((line) => line.channel === channel)
    while (seq <= count) feed.happened(made(++seq))
    feed.flush()
    const sequences: Array<number> = []
    while (sequences.at(-1) !== seq) sequences.push((await stream.next((line) => line.channel === channel)).seq)
    stream.close()
    return sequences
  }

  it("a jump of time sends one snapshot of trades, and not thousands of messages", async () => {
    const trades = (seq: number): ChannelMessage => ({
      ...ticker(seq, "1"),
      channel: "trades",
      kind: "update",
      trades: []
    })
    assert.deepStrictEqual(await received(trades, 5_000), [5_001])
  })

  it("every ticker of a jump is sent: the service judges events by their marks", async () => {
    assert.lengthOf(await received((seq) => ticker(seq, "1"), 500), 500)
  })
})
