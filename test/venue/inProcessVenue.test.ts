/**
 * The functions of InProcessVenue that simulations use beyond the port: counts of its books, a restart with fewer
 * events, and faults.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { InProcessVenue, type RequestFault } from "../../simulator/venue/InProcessVenue.ts"
import type { VenueRequest } from "../../src/machines/venue/venueCalls.ts"

const account = "ACM-00000001"

const order = (ref: string): VenueRequest<"placeOrder"> => ({
  ref,
  account,
  symbol: "BTC-USDC-PERP",
  side: "BUY",
  price: "58500",
  qty: "0.01",
  tif: "IOC",
  reduceOnly: false,
  trigger: null,
  group: null
})

/** A venue with one account. `fault` returns the fault of the next requests. */
const opened = async (fault: () => RequestFault = () => ({})) => {
  const venue = new InProcessVenue({
    venue: { seed: 7, startAt: 1_795_000_000_000, tickMillis: 60_000, knobs: {} },
    fault: (asked) => (asked === "openAccount" ? {} : fault())
  })
  const port = venue.port()
  await Effect.runPromise(port.write("openAccount", { ref: `U-${account}`, account }))
  return { venue, port }
}

describe("InProcessVenue", () => {
  it("counts how often it received a ref and how often it executed it", async () => {
    const { venue, port } = await opened()
    for (const _ of [1, 2]) await Effect.runPromise(port.write("placeOrder", order("P-1")))
    assert.deepStrictEqual([venue.came.get("P-1"), venue.executions("P-1"), venue.executions("P-2")], [2, 1, 0])
  })

  it("restarts with everything that it acknowledged, and with at most the given number of its events", async () => {
    const { venue, port } = await opened()
    const outcome = await Effect.runPromise(port.write("placeOrder", order("P-1")))
    const { number } = venue
    assert.isAtLeast(number, 2)
    venue.restart(1)
    assert.strictEqual(venue.number, number)
    assert.deepStrictEqual(
      [number - 1, number, number + 1].map((each) => venue.keeps(each)),
      [false, true, false]
    )
    assert.deepStrictEqual(venue.lookup(["P-1"])[0]?.order, outcome.order)
    const gone = await Effect.runPromise(Effect.flip(Stream.runCollect(port.events(0))))
    assert.strictEqual(gone._tag, "VenueEventsGone")
  })

  it("a lookup does not show the outcome of a call for a while; a voiding does", async () => {
    const { venue, port } = await opened(() => ({ lag: 1_000 }))
    await Effect.runPromise(port.write("placeOrder", order("P-1")))
    const seen = async () => (await Effect.runPromise(port.lookup(["P-1"])))[0]?.outcome
    assert.strictEqual(await seen(), "UNKNOWN")
    assert.strictEqual((await Effect.runPromise(port.voidRefs(["P-1"])))[0]?.outcome, "EXECUTED")
    venue.advance(venue.now + 1_000)
    assert.strictEqual(await seen(), "EXECUTED")
  })

  it("refuses with the given reason, for ever", async () => {
    const { venue, port } = await opened(() => ({ refused: "not today" }))
    const { outcome, reason } = await Effect.runPromise(port.write("placeOrder", order("P-1")))
    assert.deepStrictEqual([outcome, reason, venue.executions("P-1")], ["REFUSED", "not today", 0])
    assert.strictEqual(venue.lookup(["P-1"])[0]?.outcome, "REFUSED")
  })

  it("drops the streams of a dead process at its next event", async () => {
    const { venue } = await opened()
    let gone = false
    const later = (task: () => void) => void setImmediate(task)
    const { events } = venue.port({ toVenue: later, toCaller: later, gone: () => gone })
    const reading = Effect.runFork(Stream.runDrain(Stream.unwrap(Effect.sync(() => events(0)))))
    while (venue.streams.events === 0) await new Promise((resolve) => setImmediate(resolve))
    venue.beat()
    assert.strictEqual(venue.streams.events, 1)
    gone = true
    venue.beat()
    assert.strictEqual(venue.streams.events, 0)
    await Effect.runPromise(Fiber.interrupt(reading))
  })
})
