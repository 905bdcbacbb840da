/** Every fault of the simulated venue over a real socket (C1, Transport): its effect, and its count in `show`. */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { faultKinds, type FaultKind, type VenueCommand } from "../../src/venue/VenueCommand.ts"
import { quoteRequest, restingOrder, runVenue, type TestVenue } from "./runningVenue.ts"
import type { Answer } from "./venueClient.ts"

let venue: TestVenue
let made = 0
const ref = (): string => `f${++made}`

beforeAll(async () => {
  venue = await runVenue()
  await venue.client.ask("/venue/v1/accounts", { ref: "a1", account: "CL1" })
})
afterAll(() => venue.end())
afterEach(() => venue.client.command({ type: "clear" }))

type Order = Partial<Extract<VenueCommand, { readonly type: "fault" }>>
const fault = (kind: FaultKind, over: Order = {}) =>
  venue.client.command({
    type: "fault",
    kind,
    route: "all",
    symbol: null,
    forMillis: null,
    times: null,
    delayMillis: null,
    ...over
  })
const struck = async () => (await venue.client.show()).faults.map(({ timesLeft, struck }) => [timesLeft, struck])
const place = (name: string, over: Readonly<Record<string, unknown>> = {}, timeoutMillis = 20_000) =>
  venue.client.ask("/venue/v1/orders", restingOrder(name, over), { timeoutMillis })
const outcomeOf = async (name: string): Promise<string> =>
  (await venue.client.ask("/venue/v1/lookups", { refs: [name] })).json.outcomes[0].outcome
const failed = (answer: Promise<Answer>): Promise<string> =>
  answer.then(
    ({ status, text }) => `answered ${status} ${text}`,
    (error: Error) => error.message
  )
const now = async (): Promise<number> => (await venue.client.ask("/venue/v1/clock")).json.now

/** The answer of one call and its outcome, by the fault that was in force for this call. */
const ofCalls: ReadonlyArray<readonly [kind: FaultKind, sees: RegExp, outcome: string]> = [
  ["timeout-before", /^no answer$/, "UNKNOWN"],
  ["timeout-after", /^no answer$/, "EXECUTED"],
  ["reset", /hang up|ECONNRESET/, "UNKNOWN"],
  ["outage", /hang up|ECONNRESET/, "UNKNOWN"],
  ["http-500", /^answered 500/, "UNKNOWN"],
  ["broken-json", /^answered 200 \{"ref":"[^}]*$/, "EXECUTED"],
  ["reject", /^answered 200 .*"REFUSED","reason":"rejected by fault"/, "REFUSED"],
  ["silent", /^answered 200 .*"EXECUTED"/, "EXECUTED"],
  ["visibility-lag", /^answered 200 .*"EXECUTED"/, "UNKNOWN"],
  ["slow", /^answered 200 .*"EXECUTED"/, "EXECUTED"],
  ["fill-before-ack", /^answered 200 .*"EXECUTED"/, "EXECUTED"]
]

describe("faults of one call", () => {
  it.each(ofCalls)("%s affects one call, on its route and symbol alone", async (kind, sees, outcome) => {
    await fault(kind, { route: "order", symbol: "BTC-USDC-PERP", times: 1, delayMillis: 400 })
    const [other, hit, after] = [ref(), ref(), ref()]
    // Another market and another route are not affected.
    assert.strictEqual((await place(other, { symbol: "ETH-USDC-PERP", price: "2900" })).json.outcome, "EXECUTED")
    assert.strictEqual(
      (await venue.client.ask("/venue/v1/orders/cancel", { ref: ref(), account: "CL1", target: other })).json.outcome,
      "EXECUTED"
    )
    assert.deepStrictEqual(await struck(), [[1, 0]])
    assert.match(await failed(place(hit, {}, 1_000)), sees)
    assert.strictEqual(await outcomeOf(hit), outcome)
    assert.deepStrictEqual(await struck(), [[0, 1]])
    // The fault is used up.
    assert.strictEqual((await place(after)).json.outcome, "EXECUTED")
    assert.strictEqual(await outcomeOf(after), "EXECUTED")
  })

  it("a fault with a duration ends with it; one without ends at clear", async () => {
    await fault("http-500", { forMillis: 1 })
    await fault("http-500", { route: "take" })
    const [{ until } = { until: null }] = (await venue.client.show()).faults
    assert.isNumber(until)
    assert.strictEqual((await place(ref())).status, 200)
    const take = () => venue.client.ask("/venue/v1/takes", { ref: ref(), account: "CL1", offerId: 1, qty: "0.001" })
    assert.strictEqual((await take()).status, 500)
    await venue.client.command({ type: "clear" })
    assert.strictEqual((await take()).status, 200)
    assert.deepStrictEqual((await venue.client.show()).faults, [])
  })

  it("visibility-lag: a ref is not found at first, then found; a voiding finds it at once", async () => {
    await fault("visibility-lag", { delayMillis: 300 })
    const name = ref()
    await place(name)
    assert.strictEqual(await outcomeOf(name), "UNKNOWN")
    const fills = async () => (await venue.client.ask(`/venue/v1/orders/${name}/fills`)).status
    assert.strictEqual(await fills(), 404)
    const voided = await venue.client.ask("/venue/v1/voids", { refs: [name] })
    assert.strictEqual(voided.json.outcomes[0].outcome, "EXECUTED")
    while ((await outcomeOf(name)) === "UNKNOWN") await venue.client.ask("/venue/v1/clock")
    assert.strictEqual(await fills(), 200)
  })
})

describe("faults of the events", () => {
  const open = async () => {
    const { number } = await venue.client.show()
    const stream = await venue.client.open(`/venue/v1/events?after=${number}`)
    await stream.next((line) => line.heartbeat)
    return stream
  }
  const isOf = (name: string) => (line: { fact?: { order?: { ref: string } } }) => line.fact?.order?.ref === name

  it("duplicate-events: each event arrives twice", async () => {
    const stream = await open()
    await fault("duplicate-events", { route: "events", times: 1 })
    const name = ref()
    await place(name)
    const first = await stream.next(isOf(name))
    assert.deepStrictEqual(await stream.next(isOf(name)), first)
    stream.close()
  })

  it("drop-events: an event is missing, the numbers show it, and another read returns it", async () => {
    const stream = await open()
    await fault("drop-events", { route: "order", times: 1 })
    const [lost, kept] = [ref(), ref()]
    await place(lost)
    await place(kept)
    const line = await stream.next((each) => each.fact !== undefined)
    assert.strictEqual(line.fact.order.ref, kept)
    const again = await venue.client.open(`/venue/v1/events?after=${line.number - 2}`)
    assert.strictEqual((await again.next((each) => each.fact !== undefined)).fact.order.ref, lost)
    const { events } = (await venue.client.ask("/venue/v1/accounts/CL1/events?after=0")).json
    assert.isTrue(events.some(isOf(lost)))
    stream.close()
    again.close()
  })

  it("reorder-events: an event arrives after later ones", async () => {
    const stream = await open()
    await fault("reorder-events", { route: "events", times: 1, delayMillis: 300 })
    const [late, early] = [ref(), ref()]
    await place(late)
    await place(early)
    assert.strictEqual((await stream.next((line) => line.fact !== undefined)).fact.order.ref, early)
    assert.strictEqual((await stream.next((line) => line.fact !== undefined)).fact.order.ref, late)
    stream.close()
  })

  it("fill-before-ack: the fill arrives before the order's acknowledgement and the answer", async () => {
    const stream = await open()
    await fault("fill-before-ack", { route: "order", times: 1, delayMillis: 500 })
    const name = ref()
    let answered = false
    const answer = place(name, { price: null, tif: "IOC", qty: "0.01" }).then(() => (answered = true))
    const first = await stream.next(isOf(name))
    assert.strictEqual(first.fact.type, "fill")
    assert.isFalse(answered)
    await answer
    stream.close()
  })

  it("two clients' fills: a fill that the stream drops is among its order's fills, and both orders have the trade", async () => {
    await venue.client.command({ type: "book", symbol: "BTC-USDC-PERP", size: "0", levels: null, spread: null })
    await venue.client.ask("/venue/v1/accounts", { ref: ref(), account: "CL2" })
    const [maker, taker, early] = [ref(), ref(), ref()]
    await place(maker, { price: "59000", qty: "0.2" })
    const stream = await open()
    await fault("drop-events", { route: "order", times: 1 })
    await place(taker, { account: "CL2", side: "SELL", price: "59000", tif: "IOC", qty: "0.1" })
    // The taker's acknowledgement is dropped; then the maker's fill.
    const line = await stream.next((each) => each.fact?.type === "fill")
    const fills = async (name: string) => (await venue.client.ask(`/venue/v1/orders/${name}/fills`)).json.fills
    assert.deepStrictEqual(await fills(maker), [line.fact.fill])
    assert.strictEqual((await fills(taker))[0].tradeId, line.fact.fill.tradeId)
    await stream.next((each) => each.fact?.fill?.ref === taker)
    await fault("drop-events", { route: "order", times: 3 })
    await fault("fill-before-ack", { route: "order", times: 1, delayMillis: 200 })
    await place(early, { account: "CL2", side: "SELL", price: "59000", tif: "IOC", qty: "0.1" })
    // All three events are lost: the fills of both orders can still be read.
    const [before, now] = await fills(maker)
    assert.deepInclude(before, { tradeId: line.fact.fill.tradeId, qty: "0.1" })
    assert.deepInclude((await fills(early))[0], { tradeId: now.tradeId, liquidity: "TAKER" })
    stream.close()
    await venue.client.command({ type: "clear" })
  })

  it("silent on calls: a call is accepted and has no answer", async () => {
    const stream = await open()
    await fault("silent", { route: "order", times: 1 })
    const [unheard, heard] = [ref(), ref()]
    await place(unheard)
    await place(heard)
    assert.strictEqual((await stream.next((line) => line.fact !== undefined)).fact.order.ref, heard)
    stream.close()
  })

  it("silent on a stream: it stays open without events and heartbeats", async () => {
    const stream = await open()
    await fault("silent", { route: "events" })
    await place(ref())
    const market = await venue.client.open("/venue/v1/market-data?subscribe=ticker:BTC-USDC-PERP")
    await market.next((line) => line.heartbeat)
    await market.next((line) => line.heartbeat)
    await market.next((line) => line.heartbeat)
    assert.deepStrictEqual(stream.waiting(), [])
    market.close()
    stream.close()
  })

  it.each([["reset" as const], ["outage" as const]])("%s cuts open connections and new ones", async (kind) => {
    const stream = await open()
    await fault(kind, { route: "events" })
    await stream.ended
    await venue.client.open("/venue/v1/events?after=0").then(
      () => assert.fail("it was let in"),
      (error: Error) => assert.match(error.message, /hang up|ECONNRESET/)
    )
    assert.deepStrictEqual(await struck(), [[null, 2]])
  })

  it("broken-json: a line is cut in the middle", async () => {
    const stream = await open()
    await fault("broken-json", { route: "events", times: 1 })
    await place(ref())
    const line = await stream.next((each) => each.heartbeat !== true)
    assert.isString(line)
    stream.close()
  })
})

describe("faults of market data", () => {
  const open = (symbol: string) => venue.client.open(`/venue/v1/market-data?subscribe=ticker:${symbol}`)

  it("stale-marks: no new mark arrives, a snapshot has the mark of the start, and heartbeats continue", async () => {
    const before = (await venue.client.ask("/venue/v1/market-data/ticker/SOL-USDC-PERP")).json
    await fault("stale-marks", { symbol: "SOL-USDC-PERP" })
    const [stale, fresh] = [await open("SOL-USDC-PERP"), await open("ETH-USDC-PERP")]
    const shown = await stale.next((line) => line.channel === "ticker")
    assert.isAtMost(shown.ts - before.ts, 1_000)
    for (let n = 0; n < 6; n++) await fresh.next((line) => line.channel === "ticker")
    assert.isFalse(stale.waiting().some((line) => line.channel === "ticker"))
    await stale.next((line) => line.heartbeat)
    const again = (await venue.client.ask("/venue/v1/market-data/ticker/SOL-USDC-PERP")).json
    assert.deepStrictEqual([again.ts, again.mark], [shown.ts, shown.mark])
    await venue.client.command({ type: "clear" })
    assert.isAbove((await stale.next((line) => line.channel === "ticker")).ts, shown.ts)
    stale.close()
    fresh.close()
  })

  it("drop, duplicate: the sequence shows them", async () => {
    const stream = await open("BNB-USDC-PERP")
    const { seq } = await stream.next((line) => line.channel === "ticker")
    await fault("drop-events", { route: "market-data", symbol: "BNB-USDC-PERP", times: 1 })
    const jumped = await stream.next((line) => line.channel === "ticker" && line.seq > seq + 1)
    await fault("duplicate-events", { route: "market-data", symbol: "BNB-USDC-PERP", times: 1 })
    let last = jumped.seq
    for (;;) {
      const line = await stream.next((each) => each.channel === "ticker")
      if (line.seq === last) break
      last = line.seq
    }
    stream.close()
  })
})

describe("faults of dealers and writers", () => {
  const rfq = async (name: string) =>
    (await venue.client.ask("/venue/v1/rfqs", quoteRequest(name, await now()))).json.rfq
  const quoteOf = async (name: string) => {
    for (;;) {
      const [outcome] = (await venue.client.ask("/venue/v1/lookups", { refs: [name] })).json.outcomes
      const live = outcome.rfq.quotes.find(({ state }: { state: string }) => state === "LIVE")
      if (live !== undefined) return live
    }
  }
  const accept = (target: string, quoteId: number) =>
    venue.client.ask("/venue/v1/accepts", { ref: ref(), account: "CL1", target, quoteId })

  it("without a fault a dealer quotes and is accepted", async () => {
    const name = ref()
    assert.strictEqual((await rfq(name)).state, "OPEN")
    const { json } = await accept(name, (await quoteOf(name)).id)
    assert.deepStrictEqual([json.outcome, json.contract.state], ["EXECUTED", "OPEN"])
  })

  it("quote-withdrawn: the quote is withdrawn between the call and its answer", async () => {
    const name = ref()
    await rfq(name)
    const { id } = await quoteOf(name)
    await fault("quote-withdrawn", { route: "accept", times: 1 })
    const { json } = await accept(name, id)
    assert.deepStrictEqual([json.outcome, json.reason], ["REFUSED", "quote not live"])
    const [{ rfq: after }] = (await venue.client.ask("/venue/v1/lookups", { refs: [name] })).json.outcomes
    assert.strictEqual(after.quotes.find((quote: { id: number }) => quote.id === id).state, "WITHDRAWN")
    assert.deepStrictEqual(await struck(), [[0, 1]])
  })

  it("silent on rfq: no dealer answers", async () => {
    await fault("silent", { route: "rfq", times: 1 })
    const [unanswered, answered] = [ref(), ref()]
    await rfq(unanswered)
    await rfq(answered)
    await quoteOf(answered)
    const [{ rfq: still }] = (await venue.client.ask("/venue/v1/lookups", { refs: [unanswered] })).json.outcomes
    assert.deepStrictEqual(still.quotes, [])
  })

  it("writer-default: the writer pays nothing at maturity", async () => {
    const { offers } = (await venue.client.ask("/venue/v1/offers")).json
    const offer = offers.find(({ tenorDays }: { tenorDays: number }) => tenorDays === 1)
    const taken = await venue.client.ask("/venue/v1/takes", {
      ref: ref(),
      account: "CL1",
      offerId: offer.id,
      qty: offer.minQty
    })
    await fault("writer-default", { route: "take", times: 1 })
    const { number } = await venue.client.show()
    await venue.client.command({ type: "advance", to: taken.json.swap.maturityAt + 1_000 })
    const stream = await venue.client.open(`/venue/v1/events?after=${number}`)
    const { fact } = await stream.next((line) => line.fact?.type === "swap")
    assert.deepStrictEqual([fact.swap.short, fact.swap.payments, fact.swap.end], [true, [], null])
    assert.deepStrictEqual(await struck(), [[0, 1]])
    stream.close()
  })

  it("a false member is in the answer, the event, lookups and trades while the fault lasts", async () => {
    const stream = await venue.client.open(`/venue/v1/events?after=${(await venue.client.show()).number}`)
    const name = ref()
    await fault("false-fill-quantity", { route: "order" })
    await place(name, { price: null, tif: "IOC" })
    const { fact } = await stream.next((line) => line.fact?.type === "fill" && line.fact.order.ref === name)
    const fills = async () => (await venue.client.ask(`/venue/v1/orders/${name}/fills`)).json.fills
    assert.strictEqual(fact.fill.qty, (await fills())[0].qty)
    await venue.client.command({ type: "clear" })
    assert.strictEqual(Number(fact.fill.qty), 10 * Number((await fills())[0].qty))
    await fault("false-order-side", { route: "order", times: 1 })
    const lookup = async () => (await venue.client.ask("/venue/v1/lookups", { refs: [name] })).json.outcomes[0].order
    assert.deepStrictEqual([(await lookup()).side, (await lookup()).side], ["SELL", "BUY"])
    assert.deepStrictEqual(await struck(), [[0, 1]])
    stream.close()
  })

  it("a lie affects only a message that has the object", async () => {
    await fault("false-swap-reward", { times: 1 })
    assert.strictEqual((await place(ref())).json.outcome, "EXECUTED")
    assert.deepStrictEqual(await struck(), [[1, 0]])
  })

  it("every kind of fault has a test here", () => {
    const elsewhere = [
      "duplicate-events",
      "reorder-events",
      "drop-events",
      "stale-marks",
      "quote-withdrawn",
      "writer-default",
      "unpriced-funding"
    ]
    assert.sameMembers([...faultKinds], [...ofCalls.map(([kind]) => kind), ...elsewhere])
  })
})
