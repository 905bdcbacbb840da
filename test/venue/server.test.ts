/** The simulated venue on its socket: the key, unreadable requests, and the two streams (C1; VenueApi). */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { statSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { runVenue, restingOrder, type TestVenue } from "./runningVenue.ts"

let venue: TestVenue
beforeAll(async () => {
  venue = await runVenue()
  await venue.client.ask("/venue/v1/accounts", { ref: "a1", account: "CL1" })
})
afterAll(() => venue.end())

const place = (ref: string, over: Readonly<Record<string, unknown>> = {}) =>
  venue.client.ask("/venue/v1/orders", restingOrder(ref, over))

describe("the key", () => {
  it("is in a file that only its owner can read", () => {
    assert.strictEqual(statSync(join(venue.directory, "venue.key")).mode & 0o777, 0o600)
  })

  it.each([["/venue/v1/clock"], ["/venue/v1/control"], ["/venue/v1/events?after=0"], ["/nothing"]])(
    "%s answers 401 without it",
    async (path) => {
      for (const key of ["", "wrong", `${venue.client.key}x`]) {
        const answer = await venue.client.ask(path, undefined, { key })
        assert.deepStrictEqual([answer.status, answer.json._tag], [401, "VenueKeyRefused"])
      }
    }
  )
})

describe("unreadable requests", () => {
  it.each([
    ["/venue/v1/orders", "{", 400],
    ["/venue/v1/orders", "[]", 400],
    ["/venue/v1/orders", { ...restingOrder("bad ref") }, 400],
    ["/venue/v1/orders", { ...restingOrder("r"), qty: "-1" }, 400],
    ["/venue/v1/orders", { ...restingOrder("r"), qty: 1 }, 400],
    ["/venue/v1/orders", { ...restingOrder("r"), side: "LONG" }, 400],
    ["/venue/v1/lookups", { refs: Array.from({ length: 501 }, (_, n) => `r${n}`) }, 400],
    ["/venue/v1/control", { type: "price", symbol: "BTC-USDC-PERP", price: "dear", only: null }, 400],
    ["/venue/v1/control", { type: "price", symbol: "NOPE", price: "1", only: null }, 400],
    ["/venue/v1/control", { type: "fault", kind: "earthquake" }, 400],
    ["/venue/v1/control", fault({ times: 0 }), 400],
    ["/venue/v1/control", { type: "set", knobs: "speed: 1" }, 400],
    ["//", {}, 400],
    ["/venue/v1/nothing", {}, 404],
    ["/venue/v1/klines?symbol=BTC-USDC-PERP&interval=2m&limit=1", undefined, 400],
    ["/venue/v1/klines?symbol=BTC-USDC-PERP&interval=1m", undefined, 400],
    ["/venue/v1/klines?symbol=NO-USDC-PERP&interval=1m&limit=1", undefined, 404],
    ["/venue/v1/market-data/depth/BTC-USDC-PERP", undefined, 400],
    ["/venue/v1/market-data/ticker/NO-USDC-PERP", undefined, 404],
    ["/venue/v1/accounts/nobody", undefined, 404],
    ["/venue/v1/orders/nobodys/fills", undefined, 404],
    ["/venue/v1/orders/bad%20ref/fills", undefined, 400],
    ["/venue/v1/events", undefined, 400],
    ["/venue/v1/events?after=-1", undefined, 400],
    ["/venue/v1/events?after=0&more=1", undefined, 400],
    ["/venue/v1/events?after=999999999", undefined, 410],
    ["/venue/v1/market-data", undefined, 400],
    ["/venue/v1/market-data?subscribe=", undefined, 400],
    ["/venue/v1/market-data?subscribe=depth:BTC-USDC-PERP", undefined, 400],
    ["/venue/v1/market-data?subscribe=ticker:NO-USDC-PERP", undefined, 404]
  ])("%s with %j answers %d with a sentence", async (path, body, status) => {
    const answer = await venue.client.ask(path, body)
    assert.strictEqual(answer.status, status, answer.text)
    assert.isString(answer.json._tag)
    assert.match(answer.json.message, /\w{2}/)
    assert.isAtMost(answer.json.message.length, 256)
  })

  it("a body beyond the limit answers 413", async () => {
    assert.strictEqual((await venue.client.ask("/venue/v1/orders", "x".repeat(70_000))).status, 413)
    // The limit for a path of prices is larger.
    const points = Array.from({ length: 10_000 }, (_, n) => ({ offsetMs: n * 1_000, price: "0.6" }))
    await venue.client.command({ type: "path", symbol: "XRP-USDC-PERP", points })
  })

  it("headers beyond 16 KB are not read", async () => {
    const { port } = new URL(venue.url)
    const text = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), "127.0.0.1", () =>
        socket.write(`GET /venue/v1/clock HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(20_000)}\r\n\r\n`)
      )
      let got = ""
      socket.on("data", (piece) => void (got += piece.toString()))
      socket.on("close", () => resolve(got))
      // A cut connection counts as an answer.
      socket.on("error", () => socket.destroy())
    })
    assert.notMatch(text, /^HTTP\/1\.1 200/)
  })
})

describe("events", () => {
  it("a reader that reconnects with its number gets every event once, in order", async () => {
    const first = await venue.client.open("/venue/v1/events?after=0")
    const heartbeat = await first.next()
    assert.deepInclude(heartbeat, { heartbeat: true, version: 1 })
    await place("e1")
    const placed = await first.next((line) => line.fact?.order?.ref === "e1")
    first.close()
    for (let n = 2; n <= 20; n++) await place(`e${n}`)
    const second = await venue.client.open(`/venue/v1/events?after=${placed.number}`)
    await second.next((line) => line.heartbeat === true)
    for (let n = 2; n <= 20; n++) {
      const line = await second.next()
      assert.deepInclude(line.fact.order, { ref: `e${n}`, state: "WORKING" })
      assert.strictEqual(line.number, placed.number + n - 1)
    }
    second.close()
  })

  it("every reader gets a heartbeat each second, with the number of the last event", async () => {
    const stream = await venue.client.open("/venue/v1/events?after=0")
    await stream.next(
      (line) => line.fact !== undefined && line.number === (stream.waiting().at(-1)?.number ?? line.number)
    )
    const one = await stream.next((line) => line.heartbeat === true)
    const other = await stream.next((line) => line.heartbeat === true)
    assert.isAtLeast(other.at - one.at, 500)
    assert.strictEqual(one.number, (await venue.client.show()).number)
    stream.close()
  })
})

describe("market data", () => {
  it("first a snapshot of each subscription, then the changes; show counts the readers", async () => {
    const stream = await venue.client.open(
      "/venue/v1/market-data?subscribe=ticker:BTC-USDC-PERP,book:BTC-USDC-PERP,trades:BTC-USDC-PERP,ticker:BTC-USDC-PERP"
    )
    assert.isTrue((await stream.next()).heartbeat)
    const snapshots = [await stream.next(), await stream.next(), await stream.next()]
    assert.deepStrictEqual(
      snapshots.map(({ channel, kind }) => [channel, kind]),
      [
        ["ticker", "snapshot"],
        ["book", "snapshot"],
        ["trades", "snapshot"]
      ]
    )
    const update = await stream.next((line) => line.channel === "book" && line.kind === "update")
    assert.strictEqual(update.seq, snapshots[1].seq + 1)
    assert.deepInclude((await venue.client.show()).readers, { marketData: 1, subscriptions: 3 })
    stream.close()
    await stream.ended
  })

  it("a held price gets a new time", async () => {
    await venue.client.command({ type: "price", symbol: "ETH-USDC-PERP", price: "3100", only: null })
    const stream = await venue.client.open("/venue/v1/market-data?subscribe=ticker:ETH-USDC-PERP")
    const first = await stream.next((line) => line.mark === "3100")
    const second = await stream.next((line) => line.mark === "3100" && line.ts > first.ts)
    assert.isBelow(second.ts - first.ts, 1_500)
    stream.close()
  })
})

function fault(over: Readonly<Record<string, unknown>>) {
  return {
    type: "fault",
    kind: "slow",
    route: "all",
    symbol: null,
    forMillis: null,
    times: null,
    delayMillis: null,
    ...over
  }
}
