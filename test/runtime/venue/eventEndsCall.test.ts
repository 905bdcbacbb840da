/**
 * An event that arrives before the answer of its call ends the call, once, whatever the answer or a lookup reports
 * later, also at a venue that executes and does not show the result at once (C1, D6, A2-26). An event with a time
 * before the account's earlier events ends no call (A2-115). In virtual time, over a memory store and a memory venue.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { stopInput } from "../../../src/machines/order/orderSamples.ts"
import type { VenueOutcome } from "../../../src/machines/venue/venueCalls.ts"
import type { VenueOrder } from "../../../src/machines/venue/venueObjects.ts"
import { start } from "../../../src/runtime/effects/advance.ts"
import { ActorHost } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { type VenueShape, VenueUnanswered } from "../../../src/runtime/ports/Venue.ts"
import { sampleRows } from "../engine/fixtures.ts"
import { CallWorld, uidOf } from "./CallWorld.ts"
import { account, aside, orderOf, saying, sequence } from "./eventWorld.ts"

/** The number of times that the object of a call got its outcome. */
const ends = (world: CallWorld) =>
  world.store.rows("audit").filter(({ action }) => action === "venueProbe.end" || action === "venueProbe.found").length

/** A venue whose lookups and voidings do not show its executions. */
const lagging =
  (lag: { on: boolean }, blind: (outcome: VenueOutcome) => VenueOutcome = unseen) =>
  (venue: VenueShape): VenueShape => {
    const asked = <E>(ask: Effect.Effect<ReadonlyArray<VenueOutcome>, E>) =>
      Effect.map(ask, (outcomes) => (lag.on ? outcomes.map(blind) : outcomes))
    return { ...venue, lookup: (refs) => asked(venue.lookup(refs)), voidRefs: (refs) => asked(venue.voidRefs(refs)) }
  }
const executed = { outcome: "EXECUTED", reason: null, at: 0, rfq: null, contract: null, swap: null } as const
const unseen = (outcome: VenueOutcome): VenueOutcome => ({ ...outcome, outcome: "UNKNOWN", order: null })
const voided = (outcome: VenueOutcome): VenueOutcome => ({ ...outcome, outcome: "VOID", order: null })

/** Sends a stop of client 7, whose partner becomes known. */
const sendStop = Effect.gen(function* () {
  const host = yield* ActorHost
  yield* host.record({ partners: [sampleRows(1).partners] }, "internal")
  yield* host.dispatch({
    subject: "client:7",
    by: { role: "SYSTEM", keyLabel: "test", requestId: "test", actor: "system:test" },
    decide: (turn) => {
      const input = { ...stopInput, orderId: 1, clientId: 7, account, qty: "0.001", createdAt: turn.now }
      const { symbol, parentOrderId, createdAt } = input
      const owned = { id: 1, partnerId: 1, clientId: 7, symbol, currency: "USDC", amount: 0n }
      const event = { type: "SEND", at: createdAt } as const
      start(turn, "orders", { event, input, columns: { ...owned, parentOrderId, createdAt } })
    }
  })
})

describe("an event that arrives before its call's answer", () => {
  it("A2-26: the event ends the call, the waiting caller is told, and nothing is queried", () => {
    const world = new CallWorld((name) => (name === "placeOrder" ? { lost: "after", silent: true } : {}))
    const process = world.launch()
    process.probe(7, 1)
    const known = process.known(7, ["P-1"])
    world.run(200)
    assert.deepStrictEqual([world.inFlight, [...world.probes.values()], ends(world)], [[], ["EXECUTED"], 1])
    assert.deepStrictEqual(known.exit, Exit.succeed(true))
    world.run(60_000)
    assert.deepStrictEqual([process.figures.lookups, process.figures.inFlight, ends(world)], [0, 0, 1])
    assert.deepStrictEqual([aside(world), world.errors], [[], []])
  })

  it("A2-26: the answer that arrives after the event changes nothing", () => {
    const world = new CallWorld((name) => (name === "placeOrder" ? { toCaller: 3_000 } : {}))
    const process = world.launch()
    process.probe(7, 2)
    world.run(20_000)
    assert.deepStrictEqual([[...world.probes.values()], ends(world)], [["EXECUTED", "EXECUTED"], 2])
    assert.deepStrictEqual([process.figures.lookups, sequence(world)], [0, 2])
  })

  it("D6, C1: a venue that does not show the object yet is queried again; the event ends the call, and nothing is voided", () => {
    const lag = { on: true }
    const world = new CallWorld((name) => (name === "placeOrder" ? { lost: "after" } : {}), lagging(lag))
    world.venue.deaf = true
    const process = world.launch()
    process.probe(7, 1)
    world.run(40_000)
    assert.deepStrictEqual([world.inFlight, [...world.probes.values()]], [["P-1"], ["IN_FLIGHT"]])
    assert.isAtLeast(process.figures.lookups, 8)
    world.venue.deaf = false
    world.venue.disconnect()
    world.run(1_000)
    const { lookups } = process.figures
    assert.deepStrictEqual([world.inFlight, [...world.probes.values()], ends(world)], [[], ["EXECUTED"], 1])
    lag.on = false
    world.run(60_000)
    assert.deepStrictEqual([process.figures.lookups, ends(world), world.errors], [lookups, 1, []])
  })

  it("D6, C1: without an event the end is known once the venue shows the object", () => {
    const lag = { on: true }
    const world = new CallWorld((name) => (name === "placeOrder" ? { lost: "after" } : {}), lagging(lag))
    world.venue.deaf = true
    const process = world.launch()
    process.probe(7, 1)
    world.run(20_000)
    lag.on = false
    world.run(6_000)
    assert.deepStrictEqual([world.inFlight, [...world.probes.values()], ends(world)], [[], ["EXECUTED"], 1])
    assert.strictEqual(process.figures.inFlight, 0)
  })

  it("D6: a void that is answered after the event is not believed against the event", () => {
    const lag = { on: true }
    const world = new CallWorld(
      (name) => (name === "placeOrder" ? { lost: "after" } : name === "voidRefs" ? { toCaller: 2_000 } : {}),
      lagging(lag, voided)
    )
    world.venue.deaf = true
    const process = world.launch()
    process.probe(7, 1)
    world.run(1_500)
    world.venue.deaf = false
    world.venue.disconnect()
    world.run(20_000)
    assert.deepStrictEqual([[...world.probes.values()], ends(world)], [["EXECUTED"], 1])
    assert.deepStrictEqual([world.inFlight, process.figures.inFlight, process.figures.lookups], [[], 0, 1])
  })

  it("A2-115, C1: the object of a hostile event is read again while the venue does not show it", () => {
    const lag = { on: true }
    const world = new CallWorld(
      (name) => (name === "placeOrder" ? { lost: "before" } : {}),
      (venue) => ({
        ...lagging(lag)(venue),
        voidRefs: venue.voidRefs
      })
    )
    const process = world.launch()
    process.probe(7, 1)
    world.run(5_000)
    world.venue.publish(account, saying(orderOf("P-1", { qty: "0.0015" })))
    world.run(300)
    assert.deepStrictEqual(aside(world), [])
    const asked = world.venue.requests
    lag.on = false
    world.run(3_000)
    assert.strictEqual(world.venue.requests, asked + 1)
    assert.deepStrictEqual(
      [aside(world), [...world.probes.values()]],
      [["its quantity is off the market's grid"], ["VOID"]]
    )
  })

  it("A2-115: a trigger before the account's last event is booked by a look-up, not by an event", () => {
    let found: VenueOrder | null = null
    const find: VenueShape["lookup"] = (refs) =>
      found === null
        ? Effect.fail(new VenueUnanswered({ reason: "away" }))
        : Effect.succeed(refs.map((ref) => ({ ...executed, ref, order: found })))
    const world = new CallWorld(
      (_, [ref]) => (ref === "O-1" ? { lost: "before", silent: true } : {}),
      (venue) => ({ ...venue, lookup: find, voidRefs: find })
    )
    const process = world.launch()
    process.probe(7, 1)
    world.run(100)
    process.run(sendStop)
    world.run(10_000)
    process.probe(7, 1)
    world.run(100)
    const [{ takenTo } = { takenTo: 0 }] = world.store.rows("venueAccounts")
    const trigger = { source: "MARK", price: "58000", direction: "AT_OR_BELOW" } as const
    const fired = (triggeredAt: number): VenueOrder =>
      orderOf("O-1", { side: "SELL", tif: stopInput.venueTif, reduceOnly: true, trigger, group: "exit", triggeredAt })
    const triggered = () => world.store.rows("orders").map(({ context }) => context.triggeredAt)
    const past = fired(takenTo - 5_001)
    world.venue.publish(account, saying(past))
    world.run(1_000)
    assert.deepStrictEqual([triggered(), world.inFlight, aside(world).length], [[null], ["O-1"], 1])
    assert.include(aside(world)[0], "before the account's last event")
    found = past
    world.run(60_000)
    assert.deepStrictEqual([triggered(), world.inFlight, aside(world).length], [[past.triggeredAt], [], 1])
  })

  it("A2-96: an account without any event so far is read again after a loss, because of its executed call", () => {
    const world = new CallWorld()
    world.venue.deaf = true
    const process = world.launch()
    process.probe(7, 1)
    world.run(500)
    assert.deepStrictEqual([[...world.probes.values()], sequence(world)], [["EXECUTED"], 0])
    process.lane.kill()
    world.venue.deaf = false
    for (let n = 0; n < 3; n++) world.venue.publish(uidOf(9), saying(orderOf(null)))
    world.venue.forgotten = world.venue.events.length
    world.launch()
    world.run(5_000)
    assert.strictEqual(sequence(world), 1)
  })
})
