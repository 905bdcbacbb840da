/**
 * An order whose report by the venue does not fit. Nothing of the report is booked, and holds stay. The order is read again with
 * growing pauses. If no answer fits, a break pauses the client's money. A fitting answer ends the reads (A2-115). The venue's own
 * trades are judged by the position at their place among the trades, in whatever order these are booked (A2-97).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { lieOfFact } from "../../../simulator/venue/core/lies.ts"
import { type LieKind, lieKinds } from "../../../src/venue/testerTokens.ts"
import type { VenueFill, VenueOrder } from "../../../src/machines/venue/venueObjects.ts"
import { contractsNow } from "../../fixtures/contracts.ts"
import { reportOf, venueOrder } from "../../support/venueOrders.ts"
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

describe("A2-97: the venue's own trades, booked in any order", () => {
  /** Hundredths of a trade, signed. */
  interface Traded {
    readonly units: number
    readonly tradeId: number
    readonly isOwn: boolean
    /** The client's own trade that a look-up books before all events. */
    readonly isFound: boolean
  }
  const signed = (units: number): string => (units / 100).toFixed(2)

  /** A world whose orders wait for the client's trades: one order for each. */
  const worldOf = (trades: ReadonlyArray<Traded>) => {
    const world = new TradingWorld({ clock: () => contractsNow + 1_000 })
    world.mark(perp, "60000")
    world.deposit("USDC", "10000000")
    const ids = new Map<number, number>()
    for (const { units, tradeId, isOwn } of trades) {
      if (isOwn) continue
      const placed = world.place({
        symbol: perp,
        side: units > 0 ? "BUY" : "SELL",
        type: "LIMIT",
        qty: signed(Math.abs(units)),
        price: "60000",
        tif: "GTC",
        reduceOnly: false,
        trigger: null,
        attach: null,
        ocoGroup: null,
        leverage: null
      })
      ids.set(tradeId, placed.id ?? assert.fail("it was not placed"))
    }
    const [row] = world.store.rows("clients")
    const account = row?.uid ?? assert.fail("no client")
    return {
      world,
      held: () => Number(world.positions.find(({ symbol }) => symbol === perp)?.netQty ?? 0),
      client: ({ units, tradeId }: Traded) =>
        world.found(ids.get(tradeId) ?? assert.fail(`no order of ${tradeId}`), [
          { tradeId, qty: signed(Math.abs(units)), price: "60000", at: contractsNow + tradeId }
        ]),
      own: (tradeId: number, units: number) => {
        const side = units > 0 ? "BUY" : "SELL"
        const qty = signed(Math.abs(units))
        const of = { id: 5_000 + tradeId, side, symbol: perp, qty, filledQty: qty, state: "FILLED" } as const
        const order = venueOrder(account, null, of)
        const fill: VenueFill = {
          tradeId,
          orderId: order.id,
          ref: null,
          account,
          symbol: perp,
          side,
          price: "60000",
          qty,
          liquidity: "TAKER",
          reason: "deleverage",
          at: contractsNow + tradeId
        }
        return world.venueDid({ type: "fill", account, sequence: tradeId, order, fill })
      }
    }
  }

  it("each is judged by the position at its place, whichever later trades are booked", () => {
    const drawn = fc.array(
      fc.record({
        isOwn: fc.boolean(),
        isFound: fc.boolean(),
        size: fc.integer({ min: 1, max: 9 }),
        buys: fc.boolean()
      }),
      { minLength: 2, maxLength: 10 }
    )
    fc.assert(
      fc.property(drawn, (steps) => {
        let held = 0
        const trades: Array<Traded & { readonly before: number }> = []
        for (const { isOwn, isFound, size, buys } of steps) {
          if (isOwn && held === 0) continue
          const most = Math.min(size, Math.abs(held))
          const units = isOwn ? -Math.sign(held) * most : buys ? size : -size
          trades.push({ units, tradeId: trades.length + 1, isOwn, isFound: isFound && !isOwn, before: held })
          held += units
        }
        const at = worldOf(trades)
        for (const trade of trades) if (trade.isFound) at.client(trade)
        for (const trade of trades) {
          const { tradeId, units, before, isOwn } = trade
          if (!isOwn) {
            if (!trade.isFound) at.client(trade)
            continue
          }
          assert.isString(at.own(tradeId, -before - Math.sign(before))?.reason, "larger than the position")
          assert.isString(at.own(tradeId, Math.sign(before))?.reason, "on the position's side")
          assert.isNull(at.own(tradeId, units))
        }
        assert.strictEqual(at.held(), held / 100)
      }),
      { numRuns: 60 }
    )
  })

  it("one that does not fit waits while the service still reads an order, for a minute", () => {
    const buy: Traded = { units: 4, tradeId: 1, isOwn: false, isFound: false }
    const { world, client, own } = worldOf([buy])
    const [id = 0] = world.working
    world.unsettled.add({ clientId: 1, orderId: id, filledQty: "0.04", ended: false, wasOver: false })
    assert.deepInclude(own(2, -4), { isEarly: true })
    client(buy)
    assert.isNull(own(2, -4))
    assert.isUndefined((own(4, -1) ?? assert.fail("it fits")).isEarly, "nothing is read any more")
  })
})
