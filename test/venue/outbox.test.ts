/**
 * The events of an input are published after the whole input, and those of a failed input never, whatever the jump of
 * time. A failing reader does not undo the input.
 */
import { assert, describe, it } from "@effect/vitest"
import { Account } from "../../simulator/venue/core/Account.ts"
import { EventLine, eventsAtMost, eventsKept, youngMillis } from "../../simulator/venue/core/EventLine.ts"
import { Outbox } from "../../simulator/venue/core/Outbox.ts"
import { InputFailed, Venue } from "../../simulator/venue/core/Venue.ts"
import type { ChannelMessage } from "../../src/machines/venue/marketData.ts"
import type { VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import { venueOptions } from "./venueInputs.ts"

const trades = (symbol: string, seq: number): ChannelMessage => ({
  channel: "trades",
  kind: "update",
  symbol,
  seq,
  ts: seq,
  trades: []
})
const listed = (number: number, at = 10 * number): VenueEvent => ({
  number,
  at,
  fact: { type: "listing", version: number, symbol: "BTC-USDC" }
})
const heard = () => {
  const events: Array<number> = []
  const messages: Array<string> = []
  const outbox = new Outbox({
    event: ({ number }) => void events.push(number),
    market: ({ symbol, seq }) => void messages.push(`${symbol} ${seq}`)
  })
  return { events, messages, outbox }
}

describe("the outbox", () => {
  it("holds any number of events until its release, and publishes each once", () => {
    const { events, messages, outbox } = heard()
    for (let n = 1; n <= 15_000; n++) {
      outbox.event(listed(n))
      outbox.market(trades("BTC-USDC", n))
    }
    assert.deepStrictEqual([events, messages], [[], []])
    outbox.release()
    outbox.release()
    assert.deepStrictEqual(
      events,
      Array.from({ length: 15_000 }, (_, n) => n + 1)
    )
    assert.lengthOf(messages, 15_000)
  })

  it("of more events than the venue keeps it publishes the newest, and of each channel the last state", () => {
    const { events, messages, outbox } = heard()
    outbox.market(trades("ETH-USDC", 1))
    for (let n = 1; n <= 100_000; n++) {
      outbox.event(listed(n))
      outbox.market(trades("BTC-USDC", n))
    }
    outbox.release()
    assert.isAtMost(events.length, 2 * eventsKept)
    assert.isAtLeast(events.length, eventsKept)
    assert.strictEqual(events.at(-1), 100_000)
    assert.strictEqual((events.at(-1) ?? 0) - (events[0] ?? 0), events.length - 1, "without a gap")
    assert.isAtMost(messages.length, 20_000)
    assert.include(messages, "ETH-USDC 1")
    assert.strictEqual(messages.at(-1), "BTC-USDC 100000")
  })

  it("publishes all events of one moment, up to a limit", () => {
    const { events, outbox } = heard()
    for (let n = 1; n <= 100_000; n++) outbox.event(listed(n, 1))
    outbox.release()
    assert.lengthOf(events, 100_000)
    for (let n = 1; n <= 2 * eventsAtMost; n++) outbox.event(listed(100_000 + n, 2))
    outbox.release()
    assert.isAtMost(events.length, 100_000 + eventsAtMost + eventsKept)
    assert.strictEqual(events.at(-1), 100_000 + 2 * eventsAtMost)
  })
})

describe("the line of events", () => {
  it("keeps the newest events, and all of the last minute up to a limit", () => {
    const account = new Account(1, "CL-1")
    const line = new EventLine(() => undefined)
    const say = (times: number, at: number) => {
      for (let n = 0; n < times; n++)
        line.publish(account, at, { type: "bust", tradeId: 1, orderId: 1, reason: "test" })
    }
    say(3 * eventsKept, 1_000)
    assert.lengthOf(line.after(0) ?? [], 3 * eventsKept, "all of one moment")
    say(1, 1_000 + youngMillis)
    assert.lengthOf(line.after(0) ?? [], 3 * eventsKept + 1, "a minute old")
    say(1, 1_001 + youngMillis)
    assert.isNull(line.after(0))
    assert.lengthOf(line.state().events, eventsKept)
    say(2 * eventsAtMost, 2_000 + youngMillis)
    assert.lengthOf(line.state().events, eventsAtMost)
    assert.strictEqual(line.state().events.at(-1)?.number, line.number)
  })
})

describe("a fault of a reader", () => {
  it("does not fail the input, which stays played", () => {
    const fault = new Error("nobody is there")
    let isBroken = false
    const venue = new Venue(venueOptions(), {
      event: () => {
        if (isBroken) throw fault
      },
      market: () => undefined
    })
    venue.apply({ type: "call", name: "openAccount", request: { ref: "open", account: "CL-1" } })
    const request = {
      ref: "O-1",
      account: "CL-1",
      symbol: "BTC-USDC-PERP",
      side: "BUY",
      price: "59000",
      qty: "0.01",
      tif: "GTC",
      reduceOnly: false,
      trigger: null,
      group: null
    } as const
    isBroken = true
    let thrown: unknown = null
    try {
      venue.apply({ type: "call", name: "placeOrder", request })
    } catch (error) {
      thrown = error
    }
    assert.strictEqual(thrown, fault)
    assert.notInstanceOf(thrown, InputFailed)
    assert.strictEqual(venue.lookup(["O-1"])[0]?.outcome, "EXECUTED")
  })
})
