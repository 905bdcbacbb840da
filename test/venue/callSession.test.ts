/**
 * Sessions of calls at the simulated venue, over a real socket: the calls that they accept and refuse, the faults,
 * which affect a call of a session like a single call, and the end of a session.
 */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { callSession, sessionCallLimit, sessionLineLimit } from "../../src/venue/callSession.ts"
import type { FaultKind } from "../../src/venue/VenueCommand.ts"
import { restingOrder, runVenue, type TestVenue } from "./runningVenue.ts"
import type { OpenSession } from "./venueClient.ts"

let venue: TestVenue
let session: OpenSession
let made = 0
const ref = (): string => `s${++made}`

beforeAll(async () => {
  venue = await runVenue()
  await venue.client.ask("/venue/v1/accounts", { ref: "a1", account: "CL1" })
  session = await venue.client.session()
})
afterEach(() => venue.client.command({ type: "clear" }))
afterAll(async () => {
  session.close()
  await venue.end()
})

const placing = (id: number, name: string, over: Readonly<Record<string, unknown>> = {}) => ({
  id,
  name: "placeOrder",
  request: restingOrder(name, over)
})
const answerTo = (id: number, of: OpenSession = session) => of.next((line) => line.id === id)
const outcomeOf = async (name: string): Promise<string> =>
  (await venue.client.ask("/venue/v1/lookups", { refs: [name] })).json.outcomes[0].outcome

describe("opening", () => {
  it.each([
    ["without the key", { key: "wrong" }, /status 401/],
    ["at another path", { path: "/venue/v1/events" }, /status 404/],
    ["with another protocol", { protocol: "websocket" }, /status 404/]
  ])("%s is refused", async (_, over, sentence) => {
    await venue.client.session(over).then(
      () => assert.fail("it was let in"),
      (error: Error) => assert.match(error.message, sentence)
    )
  })

  it("a request without an upgrade finds no such route", async () => {
    assert.strictEqual((await venue.client.ask(callSession.path)).status, 404)
  })

  it("a session sends a heartbeat at once, and then every second", async () => {
    const opened = await venue.client.session()
    const [first, second] = [await opened.next(), await opened.next()]
    assert.deepInclude(first, { heartbeat: true, version: 1 })
    assert.isAtLeast(second.at, first.at)
    opened.close()
  })
})

describe("calls", () => {
  it("each call of a session has the answer of a single call, with its id and its event", async () => {
    const [one, other] = [ref(), ref()]
    session.say(placing(1, one))
    session.say(placing(2, other, { price: "1" }))
    const [placed, refused] = [await answerTo(1), await answerTo(2)]
    const { events: made, ...outcome } = placed.outcome
    assert.deepStrictEqual([placed.trouble, outcome.outcome, outcome.order.state], [null, "EXECUTED", "WORKING"])
    const again = await venue.client.ask("/venue/v1/orders", restingOrder(one))
    assert.deepStrictEqual(again.json, outcome)
    const { events } = (await venue.client.ask(`/venue/v1/accounts/CL1/events?after=${made.first - 1}`)).json
    assert.deepStrictEqual([events[0].fact.type, events[0].fact.order], ["order", outcome.order])
    assert.strictEqual(refused.outcome.outcome, "REFUSED")
    session.say({ id: 3, name: "cancelOrder", request: { ref: ref(), account: "CL1", target: one } })
    assert.deepInclude((await answerTo(3)).outcome.order, { ref: one, state: "CANCELLED" })
  })

  it("a call that trades returns its trades, each with the sequence of its event", async () => {
    session.say(placing(4, ref(), { price: null, tif: "IOC", qty: "0.01" }))
    const { outcome } = await answerTo(4)
    const { events } = (await venue.client.ask(`/venue/v1/accounts/CL1/events?after=${outcome.events.first - 1}`)).json
    assert.strictEqual(outcome.order.state, "FILLED")
    assert.deepStrictEqual(
      outcome.fills,
      events.flatMap(({ fact: { type, sequence, fill } }: { fact: { type: string; sequence: number; fill: object } }) =>
        type === "fill" ? [{ sequence, fill }] : []
      )
    )
    assert.strictEqual(outcome.events.last, events.at(-1).fact.sequence)
  })

  it("each of very many calls sent at once has one answer", async () => {
    const opened = await venue.client.session()
    const count = 2 * sessionCallLimit + 10
    const names = Array.from({ length: count }, () => ref())
    // One write to the socket has more calls than the limit of calls in flight.
    opened.say(names.map((name, at) => `${JSON.stringify(placing(at + 1, name, { tif: "IOC" }))}\n`).join(""))
    const answered = new Map<number, string>()
    while (answered.size < count) {
      const { id, outcome } = await opened.next((line) => line.id !== undefined)
      assert.isFalse(answered.has(id))
      answered.set(id, outcome.ref)
    }
    assert.deepStrictEqual(
      [...answered].toSorted(([a], [b]) => a - b).map(([, name]) => name),
      names
    )
    opened.close()
  })

  it("an unreadable call is refused by its id, and the other calls continue", async () => {
    session.say({ id: 5, name: "placeOrder", request: { ref: "x y" } })
    session.say({ id: 6, name: "sellEverything", request: {} })
    const name = ref()
    session.say(placing(7, name))
    for (const id of [5, 6]) {
      const { outcome, trouble } = await answerTo(id)
      assert.deepStrictEqual([outcome, trouble], [null, "VenueBadRequest: The call can not be read."])
    }
    assert.strictEqual((await answerTo(7)).outcome.outcome, "EXECUTED")
  })

  it.each([
    ["no JSON", "{\n"],
    ["no id", '{"name":"placeOrder"}\n'],
    ["a line that is too long", `${" ".repeat(sessionLineLimit + 1)}\n`]
  ])("%s ends its session alone", async (_, line) => {
    const opened = await venue.client.session()
    opened.say(line)
    await opened.ended
    const name = ref()
    session.say(placing(8, name))
    assert.strictEqual((await answerTo(8)).outcome.outcome, "EXECUTED")
  })
})

/** The line that a session receives for a call (or nothing, or its end), and the outcome of the call. */
const ofCalls: ReadonlyArray<readonly [kind: FaultKind, sees: RegExp | "nothing" | "the end", outcome: string]> = [
  ["timeout-before", "nothing", "UNKNOWN"],
  ["timeout-after", "nothing", "EXECUTED"],
  ["reset", "the end", "UNKNOWN"],
  ["outage", "the end", "UNKNOWN"],
  ["http-500", /"outcome":null,"trouble":"status 500"/, "UNKNOWN"],
  ["broken-json", /^\{"id":1,"outcome":\{"ref":"[^}]*$/, "EXECUTED"],
  ["reject", /"REFUSED","reason":"rejected by fault"/, "REFUSED"],
  ["silent", /"EXECUTED"/, "EXECUTED"],
  ["visibility-lag", /"EXECUTED"/, "UNKNOWN"],
  ["slow", /"EXECUTED"/, "EXECUTED"],
  ["fill-before-ack", /"EXECUTED"/, "EXECUTED"]
]

describe("faults of one call", () => {
  it.each(ofCalls)("%s affects one call, on its route and symbol alone", async (kind, sees, outcome) => {
    await venue.client.command({
      type: "fault",
      kind,
      route: "order",
      symbol: "BTC-USDC-PERP",
      forMillis: null,
      times: 1,
      delayMillis: 400
    })
    const opened = await venue.client.session()
    const [other, hit, after] = [ref(), ref(), ref()]
    opened.say(placing(2, other, { symbol: "ETH-USDC-PERP", price: "2900" }))
    assert.strictEqual((await answerTo(2, opened)).outcome.outcome, "EXECUTED")
    opened.say(placing(1, hit))
    if (sees === "the end") await opened.ended
    else if (sees !== "nothing") {
      const line = await opened.next((each) => each.heartbeat !== true)
      assert.match(typeof line === "string" ? line : JSON.stringify(line), sees)
    }
    const next = sees === "the end" ? session : opened
    next.say(placing(9, after))
    assert.strictEqual((await answerTo(9, next)).outcome.outcome, "EXECUTED")
    assert.strictEqual(await outcomeOf(hit), outcome)
    assert.isFalse(opened.waiting().some((line) => line.id === 1))
    opened.close()
  })
})

describe("the end of a venue", () => {
  it("a venue that ends answers the calls that it has accepted, then ends its sessions", async () => {
    const other = await runVenue()
    const { client } = other
    await client.ask("/venue/v1/accounts", { ref: "a1", account: "CL1" })
    const opened = await client.session()
    await client.command({
      type: "fault",
      kind: "slow",
      route: "order",
      symbol: null,
      forMillis: null,
      times: 1,
      delayMillis: 500
    })
    const name = ref()
    opened.say(placing(1, name))
    const found = async () => (await client.ask("/venue/v1/lookups", { refs: [name] })).json.outcomes[0].outcome
    while ((await found()) === "UNKNOWN");
    // The fault delays the answer of call 1.
    assert.isFalse(opened.waiting().some((line) => line.id === 1))
    const ending = other.end()
    assert.strictEqual((await answerTo(1, opened)).outcome.outcome, "EXECUTED")
    await Promise.all([opened.ended, ending])
  })
})
