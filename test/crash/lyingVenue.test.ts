/**
 * Facts that outlive kill -9. A restarted process does not know the marks from the time of a false message, but does
 * not book it while its misfit stands (A2-115). An empty listing removes no markets (A2-114). A proxy in front of the
 * venue changes the venue's answers.
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { createServer, request as requestOf, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { spot } from "../support/orderSteps.ts"
import { dataOf, type RealService } from "../support/RealService.ts"
import { runVenue, type TestVenue } from "../venue/runningVenue.ts"
import { makeTradeWorld, type Trader, type TradeWorld } from "./tradeWorld.ts"

type Bend = (path: string, text: string) => string

/** A proxy of HTTP requests and upgraded connections. It changes a listing as a whole, and other answers chunk by chunk. */
const openProxy = async (target: URL) => {
  let bend: Bend = (_, text) => text
  const sockets = new Set<Duplex>()
  const passed = (path: string, answer: IncomingMessage, response: ServerResponse): void => {
    const { "content-length": _, ...headers } = answer.headers
    response.writeHead(answer.statusCode ?? 502, headers)
    const isWhole = path.endsWith("/listing")
    let whole = ""
    answer.setEncoding("utf8")
    answer.on("data", (text: string) => void (isWhole ? (whole += text) : response.write(bend(path, text))))
    answer.on("end", () => response.end(isWhole ? bend(path, whole) : ""))
    answer.on("error", () => response.destroy())
    response.on("close", () => answer.destroy())
  }
  const server = createServer((request, response) => {
    const path = request.url ?? ""
    const onward = requestOf(new URL(path, target), { method: request.method ?? "GET", headers: request.headers })
    onward.on("response", (answer) => passed(path, answer, response))
    onward.on("error", () => response.destroy())
    request.pipe(onward)
  })
  server.on("connection", (socket: Socket) => void sockets.add(socket))
  server.on("upgrade", ({ method, url, rawHeaders }, socket: Duplex, head: Buffer) => {
    const onward = connect(Number(target.port), target.hostname)
    sockets.add(onward)
    const headers = rawHeaders.map((text, at) => `${text}${at % 2 === 0 ? ": " : "\r\n"}`).join("")
    onward.write(`${method} ${url} HTTP/1.1\r\n${headers}\r\n`)
    onward.write(head)
    onward.pipe(socket).pipe(onward)
    for (const [one, other] of [[onward, socket] as const, [socket, onward] as const])
      one.on("error", () => other.destroy())
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bending: (next: Bend) => void (bend = next),
    close: async () => {
      const closed = new Promise((resolve) => void server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    }
  }
}

const honest: Bend = (_, text) => text
/** Each sale gets a price of 1. */
const falseSales: Bend = (_, text) => text.replace(/("tradeId":[^{}]*"side":"SELL","price":)"[0-9.]+"/g, '$1"1.0"')
const emptyListing: Bend = (path, text) =>
  path.endsWith("/listing") ? JSON.stringify({ ...JSON.parse(text), markets: [], stakingMarkets: [] }) : text

let world: TradeWorld
let venue: TestVenue
let proxy: Awaited<ReturnType<typeof openProxy>>
let service: RealService
let trader: Trader

const start = () => world.start({ venue: { url: proxy.url, keyFile: venue.keyFile } })
const restart = async () => {
  await service.kill("SIGKILL")
  await service.stop()
  service = await start()
}
const eventually = <A>(look: () => Promise<A>): Promise<A> => vi.waitFor(look, { timeout: 60_000, interval: 250 })
const read = (path: string) => service.call(trader.key, "GET", path)
const priced = () => eventually(async () => assert.strictEqual((await read(`/ticker?symbol=${spot}`)).status, 200))

beforeAll(async () => {
  venue = await runVenue()
  proxy = await openProxy(new URL(venue.url))
  world = await makeTradeWorld("lying-venue")
  service = await start()
  trader = await world.trader(service, await service.partner("TRADE"))
  await world.price(service, "60000")
  await priced()
}, 120_000)
afterAll(async () => {
  await world.end()
  await proxy.close()
  await venue.end()
})

describe("after kill -9", { timeout: 120_000 }, () => {
  it("A2-115: a standing false report is not booked, and the true one is", async () => {
    const order = { symbol: spot, type: "MARKET", qty: "0.01" }
    dataOf(await world.post(service, trader, "/orders", { ...order, side: "BUY" }))
    const sales = () => world.query<{ readonly price: string }>("SELECT price FROM fills WHERE side = 'SELL'")
    const misfit = async () => {
      const [row] = await world.query<{ readonly state: string; readonly reads: number }>(
        "SELECT state, (context->>'reads')::int AS reads FROM venue_misfits"
      )
      return row ?? assert.fail("no misfit")
    }
    proxy.bending(falseSales)
    // The fill of a resting order arrives as an event. The proxy does not change answers to calls.
    dataOf(await world.post(service, trader, "/orders", { ...order, type: "LIMIT", price: "60500", side: "SELL" }))
    await service.done("sim", "venue", "price", spot, "61000")
    const { reads } = await eventually(misfit)
    await restart()
    await eventually(async () => assert.isAbove((await misfit()).reads, reads + 1))
    assert.deepStrictEqual(await sales(), [])
    proxy.bending(honest)
    // A comparison reads the object at once, even if the misfit already stands because of a slow machine.
    await service.done("venue", "reconcile", trader.uid)
    const [sale] = await eventually(async () => {
      const found = await sales()
      assert.lengthOf(found, 1)
      return found
    })
    assert.closeTo(Number(sale?.price), 60_750, 500)
    assert.strictEqual((await misfit()).state, "ENDED")
  })

  it("A2-114: an empty listing leaves the markets as they were", async () => {
    const listed = async () => (await read("/instruments")).text
    await eventually(async () => assert.lengthOf(await world.query("SELECT id FROM last_listings"), 1))
    const before = await listed()
    proxy.bending(emptyListing)
    await restart()
    await priced()
    assert.deepStrictEqual(await listed(), before)
  })
})
