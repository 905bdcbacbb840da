/**
 * An order whose report by the venue does not fit. Nothing of the report is booked, and holds stay. The order is read again with
 * growing pauses. If no answer fits, a break pauses the client's money. A fitting answer ends the reads (A2-115).
 */
import { assert, describe, it } from "@effect/vitest"
import { lieOfFact } from "../../../simulator/venue/core/lies.ts"
import { type LieKind, lieKinds } from "../../../src/venue/testerTokens.ts"
import type { VenueFill, VenueOrder } from "../../../src/machines/venue/venueObjects.ts"
import { contractsNow } from "../../fixtures/contracts.ts"
import { reportOf } from "../../support/venueOrders.ts"
import { perp } from "./leverageTurns.ts"
import { TradingWorld } from "./TradingWorld.ts"

/** A client whose limit order the venue has filled, with the venue's true report of it. */
const traded = () => {
  const world = new TradingWorld()
  world.mark(perp, "60000")
  world.deposit("USDC", "10000")
  const placed = world.place({
    symbol: perp,
    side: "BUY",
    type: "LIMIT",
    qty: "0.1",
    price: "60000",
    tif: "GTC",
    reduceOnly: false,
    trigger: null,
    attach: null,
    ocoGroup: null,
    leverage: null
  })
  const id = placed.id ?? assert.fail("it was not placed")
  const { context } = world.order(id)
  const order = reportOf(context, 900, { filledQty: context.qty, state: "FILLED" })
  const fill: VenueFill = {
    tradeId: 70,
    orderId: 900,
    ref: order.ref,
    account: order.account,
    symbol: perp,
    side: "BUY",
    price: "60000.0",
    qty: context.qty,
    liquidity: "TAKER",
    reason: null,
    at: contractsNow
  }
  return { world, id, order, fill }
}

const told = (name: LieKind, order: VenueOrder, fill: VenueFill) => {
  const fact = lieOfFact(name, { type: "fill", account: order.account, sequence: 1, order, fill })
  return fact?.type === "fill" ? fact : null
}

const misfits = ({ store }: TradingWorld) =>
  store
    .rows("venueMisfits")
    .map(({ state, context: { reads }, breakId }) => ({ state, reads, paused: breakId !== null }))
const pauses = ({ store }: TradingWorld) =>
  store.rows("timers").flatMap(({ name }) => (name.startsWith("venue.misfit:") ? [name] : []))

describe("A2-115: an order of which the venue lies", () => {
  const { order: sample, fill: trade } = traded()
  const names = lieKinds.filter((name) => told(name, sample, trade) !== null)

  it.each(names)("%s: nothing is booked, the hold stays, a break pauses the money once it stands", (name) => {
    const { world, id, order, fill } = traded()
    const lie = told(name, order, fill) ?? assert.fail("no lie")
    const held = world.picture.initialMargin
    for (let reads = 0; reads < 7; reads++) {
      world.read(id, lie.order, [lie.fill])
      const stands = reads >= 5
      assert.deepStrictEqual(misfits(world), [
        { state: stands ? "STANDING" : "READING", reads: Math.min(reads, 5), paused: stands }
      ])
      assert.lengthOf(pauses(world), 1)
      assert.lengthOf(world.store.rows("reconBreaks"), stands ? 1 : 0)
    }
    const [open] = world.store.rows("reconBreaks")
    assert.deepInclude(open?.context, { pausesMoneyOut: true, scope: "CLIENT" })
    assert.deepStrictEqual(
      [world.store.rows("fills").length, world.positions.length, world.order(id).state, world.picture.initialMargin],
      [0, 0, "SENT", held]
    )
    assert.lengthOf(world.store.rows("venueQuarantine"), 1, "once, however often it is read")
  })

  it("the truth ends it before it stands, and is booked", () => {
    const { world, id, order, fill } = traded()
    const lie = told("false-fill-quantity", order, fill) ?? assert.fail("no lie")
    world.read(id, lie.order, [lie.fill])
    world.read(id, order, [fill])
    assert.deepStrictEqual(misfits(world), [{ state: "ENDED", reads: 0, paused: false }])
    assert.deepStrictEqual([pauses(world), world.store.rows("reconBreaks")], [[], []])
    assert.deepStrictEqual(
      world.store.rows("fills").map(({ tradeId, qty }) => [tradeId, qty]),
      [[70, fill.qty]]
    )
  })

  it("after it stands the truth is booked as well, and the break stays with staff", () => {
    const { world, id, order, fill } = traded()
    const lie = told("false-fill-side", order, fill) ?? assert.fail("no lie")
    for (let reads = 0; reads < 6; reads++) world.read(id, lie.order, [lie.fill])
    world.read(id, order, [fill])
    assert.deepStrictEqual(misfits(world), [{ state: "ENDED", reads: 5, paused: true }])
    assert.deepStrictEqual([world.store.rows("fills").length, world.store.rows("reconBreaks").length], [1, 1])
  })
})
