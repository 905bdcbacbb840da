/**
 * The service's end of a session of calls, against a venue that is hostile, broken or silent: every waiting caller gets
 * the failure at once, or after the timeout; the next call opens another connection (A2-115).
 */
import { afterEach, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { IncomingMessage } from "node:http"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { Duplex } from "node:stream"
import type { VenueOutcome } from "../../../src/machines/venue/venueCalls.ts"
import { CallSession } from "../../../src/runtime/adapters/venue/CallSession.ts"
import { callSession, sessionLineLimit } from "../../../src/venue/callSession.ts"
import { LineCutter } from "../../../src/venue/LineCutter.ts"
import { connectionTo } from "../../support/hostileServer.ts"

const patience = 600
const heartbeat = { heartbeat: true, version: 1, number: 3, at: 1_795_000_000_000 }
const request = { ref: "U-ACM-00000001", account: "ACM-00000001" }
const outcome: VenueOutcome = {
  ref: request.ref,
  outcome: "EXECUTED",
  reason: null,
  at: 1_795_000_000_000,
  order: null,
  rfq: null,
  contract: null,
  swap: null
}

/** The venue's reaction to a call; `at` counts the calls of all its connections. */
type Answering = (call: { readonly id: number; readonly at: number }, socket: Duplex) => void

const line = (value: unknown): string => `${JSON.stringify(value)}\n`
const executed: Answering = ({ id }, socket) => void socket.write(line({ id, outcome, trouble: null }))

let server: Server | null = null
let session: CallSession | null = null
const sockets = new Set<Duplex>()
afterEach(() => {
  session?.close()
  server?.close()
  for (const socket of sockets) socket.destroy()
  sockets.clear()
})

interface HostileVenue {
  opened: number
  calls: number
  headers: IncomingMessage["headers"] | null
}

const venueThat = async (
  answering: Answering,
  { greeting = line(heartbeat), status = "101 Switching Protocols" } = {}
): Promise<{ readonly venue: HostileVenue; readonly call: () => Promise<VenueOutcome | string> }> => {
  const venue: HostileVenue = { opened: 0, calls: 0, headers: null }
  server = createServer()
  server.on("upgrade", (asked: IncomingMessage, socket: Duplex) => {
    sockets.add(socket)
    venue.opened++
    venue.headers = asked.headers
    socket.on("error", () => socket.destroy())
    socket.write(`HTTP/1.1 ${status}\r\nConnection: Upgrade\r\nUpgrade: ${callSession.protocol}\r\n\r\n${greeting}`)
    const cutter = new LineCutter(sessionLineLimit)
    socket.on("data", (chunk: Buffer) => {
      for (const { text } of cutter.cut(chunk)) {
        const { id } = JSON.parse(text) as { readonly id: number }
        answering({ id, at: ++venue.calls }, socket)
      }
    })
  })
  const { port } = await new Promise<AddressInfo>((resolve) => {
    const listening = server as Server
    listening.listen(0, "127.0.0.1", () => resolve(listening.address() as AddressInfo))
  })
  const opened = (session = new CallSession(connectionTo(`http://127.0.0.1:${port}`), patience))
  const call = () =>
    Effect.runPromise(
      Effect.match(opened.call("openAccount", request), {
        onSuccess: (found): VenueOutcome | string => found,
        onFailure: ({ reason }) => reason
      })
    )
  return { venue, call }
}

describe("calls over a session", () => {
  it("many calls share one connection, which sends the key", async () => {
    const { venue, call } = await venueThat(executed)
    const found = await Promise.all(Array.from({ length: 50 }, call))
    assert.deepStrictEqual(
      found,
      found.map(() => outcome)
    )
    assert.deepStrictEqual([venue.opened, venue.calls, venue.headers?.authorization], [1, 50, "Bearer vnk_test"])
  })

  it("answers in another order reach their own callers", async () => {
    const waiting: Array<number> = []
    const { call } = await venueThat(({ id, at }, socket) => {
      waiting.push(id)
      if (at < 3) return
      for (const each of waiting.toReversed())
        socket.write(line({ id: each, outcome: null, trouble: `trouble ${each}` }))
    })
    assert.deepStrictEqual(await Promise.all([call(), call(), call()]), ["trouble 1", "trouble 2", "trouble 3"])
  })

  const broken: ReadonlyArray<readonly [string, Answering, string]> = [
    ["a line that is no JSON", (_, socket) => void socket.write("{\n"), "an answer that can't be read"],
    [
      "half of an answer",
      ({ id }, socket) => void socket.write(`${line({ id, outcome }).slice(0, 40)}\n`),
      "an answer that can't be read"
    ],
    [
      "an answer of another form",
      ({ id }, socket) => void socket.write(line({ id, outcome: { ...outcome, at: "now" }, trouble: null })),
      "an answer that can't be read"
    ],
    [
      "a line that is too long",
      (_, socket) => void socket.write(`${"x".repeat(sessionLineLimit + 1)}\n`),
      "an answer that can't be read"
    ],
    [
      "another version",
      (_, socket) => void socket.write(line({ ...heartbeat, version: 2 })),
      "the venue speaks another version than 1, which this service knows"
    ],
    ["an end of the connection", (_, socket) => void socket.end(), "the connection broke"],
    ["a cut connection", (_, socket) => void socket.destroy(), "the connection broke"]
  ]
  for (const [title, answering, reason] of broken) {
    it(`${title} leaves no caller waiting, and the next call opens another session`, async () => {
      const { venue, call } = await venueThat((asked, socket) =>
        asked.at === 2 ? answering(asked, socket) : asked.at > 2 ? executed(asked, socket) : undefined
      )
      assert.deepStrictEqual(await Promise.all([call(), call()]), [reason, reason])
      assert.deepStrictEqual(await call(), outcome)
      assert.strictEqual(venue.opened, 2)
    })
  }

  it("a call without an answer ends, its late answer is dropped, and the session continues", async () => {
    let late = 0
    const beats: Array<NodeJS.Timeout> = []
    const { venue, call } = await venueThat((asked, socket) => {
      if (asked.at > 1) return executed(asked, socket)
      late = asked.id
      beats.push(setInterval(() => void socket.write(line(heartbeat)), patience / 10))
    })
    assert.strictEqual(await call(), `no answer within ${patience} ms`)
    for (const socket of sockets) executed({ id: late, at: 1 }, socket)
    assert.deepStrictEqual(await call(), outcome)
    assert.strictEqual(venue.opened, 1)
    for (const beat of beats) clearInterval(beat)
  })

  it("the connection to a silent venue is closed", async () => {
    const { venue, call } = await venueThat(() => {}, { greeting: "" })
    assert.strictEqual(await call(), `silent for ${patience} ms`)
    assert.strictEqual(await call(), `silent for ${patience} ms`)
    assert.strictEqual(venue.opened, 2)
  })

  it("a venue that opens no session answers no call", async () => {
    const { call } = await venueThat(executed, { status: "401 Unauthorized" })
    assert.match(String(await call()), /^(status 401|the connection broke)$/)
  })

  it("a venue that does not run answers no call", async () => {
    const { call } = await venueThat(executed)
    await new Promise<void>((resolve) => void server?.close(() => resolve()))
    assert.strictEqual(await call(), "the connection broke")
  })

  it("the end of the service leaves no caller waiting", async () => {
    const { call } = await venueThat(({ at }) => {
      if (at === 2) session?.close()
    })
    assert.deepStrictEqual(await Promise.all([call(), call()]), ["the service ends", "the service ends"])
  })
})
