/**
 * An order whose report by the venue does not fit. Nothing of the report is booked, and holds stay. The order is read again with
 * growing pauses. If no answer fits, a break pauses the client's money. A fitting answer ends the reads (A2-115). The venue's own
 * trades are judged by the position at their place among the trades, in whatever order these are booked (A2-97).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { outsideBand } from "../../../src/machines/market/PriceBand.ts"
import { judgedOn, type MarketSeen, type Verdict } from "../../../src/runtime/services/venue/verdict.ts"
import { lieOfFact } from "../../../simulator/venue/core/lies.ts"
import { type LieKind, lieKinds } from "../../../src/venue/testerTokens.ts"
import type { VenueFill, VenueOrder } from "../../../src/machines/venue/venueObjects.ts"
import type { RecentMarket } from "../../../src/machines/market/Facts.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { RecentMarks } from "../../../src/runtime/services/market/RecentMarks.ts"
import { contractsNow } from "../../fixtures/contracts.ts"
import { plainOrder } from "../../fixtures/orders.ts"
import { reportOf, venueOrder } from "../../support/venueOrders.ts"
import { perp } from "./leverageTurns.ts"
import { TradingWorld } from "./TradingWorld.ts"

/** A client whose limit order the venue has filled, with the venue's true report of it. */
const traded = () => {
  const world = new TradingWorld()
  world.mark(perp, "60000")
  world.deposit("USDC", "10000")
  const placed = world.place({ ...plainOrder, qty: "0.1" })
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

describe("A2-115: an order with false reports of the venue", () => {
  const { order: sample, fill: trade } = traded()
  const names = lieKinds.filter((name) => told(name, sample, trade) !== null)

  it.each(names)("%s: nothing is booked, the hold stays, a break pauses the money once the misfit stands", (name) => {
    const { world, id, order, fill } = traded()
    const lie = told(name, order, fill) ?? assert.fail("no lie")
    const held = world.picture.initialMargin
    for (let reads = 0; reads < 7; reads++) {
      world.fireMisfits()
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

  it("the true report ends the misfit before it stands, and is booked", () => {
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

  it("after the misfit stands the true report is booked as well, and the break stays with staff", () => {
    const { world, id, order, fill } = traded()
    const lie = told("false-fill-side", order, fill) ?? assert.fail("no lie")
    for (let reads = 0; reads < 6; reads++) {
      world.fireMisfits()
      world.read(id, lie.order, [lie.fill])
    }
    world.read(id, order, [fill])
    assert.deepStrictEqual(misfits(world), [{ state: "ENDED", reads: 5, paused: true }])
    assert.deepStrictEqual([world.store.rows("fills").length, world.store.rows("reconBreaks").length], [1, 1])
  })

  it("answers to other reads neither count nor move the next one", () => {
    const { world, id, order, fill } = traded()
    const lies = ["false-fill-side", "false-fill-quantity"] as const
    const reports = lies.map((name) => told(name, order, fill) ?? assert.fail("no lie"))
    const read = () => reports.forEach((lie) => world.read(id, lie.order, [lie.fill]))
    read()
    const due = world.store.rows("timers").map(({ dueAt }) => dueAt)
    for (let reads = 0; reads < 10; reads++) read()
    assert.deepStrictEqual(misfits(world), [{ state: "READING", reads: 0, paused: false }])
    assert.deepStrictEqual(
      world.store.rows("timers").map(({ dueAt }) => dueAt),
      due
    )
    world.fireMisfits()
    read()
    assert.deepStrictEqual(misfits(world), [{ state: "READING", reads: 1, paused: false }])
  })
})

describe("A2-115: the marks by which an order was judged", () => {
  const firedAt = contractsNow + 1_000
  const lie = "1.0"
  const hour = 3_600_000

  /** A stop that the venue reports as fired, with its bound. */
  const fired = () => {
    const clock = { now: contractsNow }
    const world = new TradingWorld({ clock: () => clock.now })
    world.mark(perp, "60000")
    world.deposit("USDC", "10000")
    const body = { symbol: perp, price: null, attach: null, ocoGroup: null, leverage: null } as const
    const limit = { ...body, side: "BUY", type: "LIMIT", qty: "0.1", price: "60000", tif: "GTC" } as const
    const entry = world.place({ ...limit, reduceOnly: false, trigger: null }).id ?? assert.fail("no entry")
    world.fill(entry, "0.1", "60000")
    const trigger = { source: "MARK", price: "59500", direction: "AT_OR_BELOW", limitPrice: null } as const
    const stop = { ...body, side: "SELL", type: "STOP_MARKET", qty: "0.1", tif: "IOC", reduceOnly: true } as const
    const id = world.place({ ...stop, trigger }).id ?? assert.fail("no stop")
    const { context } = world.order(id)
    clock.now = firedAt + 10_000
    const read = (bound: string) => {
      const order = reportOf(context, 950, { filledQty: "0.1", state: "FILLED", price: bound, triggeredAt: firedAt })
      const { side, account } = context
      const named = { tradeId: 77, orderId: 950, ref: order.ref, account, symbol: perp, side }
      const fill = { ...named, price: bound, qty: "0.1", liquidity: "TAKER", reason: null, at: firedAt } as const
      world.fireMisfits()
      world.read(id, order, [fill])
    }
    return { clock, world, read }
  }
  /** Each second has a mark of this price, from an hour before the trigger on. */
  const marked = (to: number, from = firedAt - hour, price = "59500"): RecentMarket => {
    const marks = new RecentMarks()
    for (let at = from; at <= to; at += 1_000) marks.add(new MoneyDecimal(price), at, at === from)
    return {
      bandAt: (_symbol, at, bps = 1_000) => marks.bandAt(at, bps),
      bandNear: (_symbol, at, bps) => marks.bandNear(at, bps),
      isListed: () => true
    }
  }
  const netQty = ({ world }: ReturnType<typeof fired>) => world.positions.map((position) => position.netQty)

  const unknownAgain = {
    "after a restart": ({ clock, world }: ReturnType<typeof fired>) => {
      world.restart()
      clock.now += 60_000
      world.recent = marked(clock.now, clock.now - 20_000)
    },
    "seventy minutes later": ({ clock, world }: ReturnType<typeof fired>) => {
      clock.now += 70 * 60_000
      world.recent = marked(clock.now)
    },
    "a minute after, when a second has no band of its own any more": ({ clock, world }: ReturnType<typeof fired>) => {
      clock.now += 65_000
      world.recent = { ...marked(clock.now), bandAt: () => null, bandNear: () => null }
    }
  }

  it.each(Object.entries(unknownAgain))("%s, a false report that stands is booked by no read", (_, forget) => {
    const stop = fired()
    stop.world.recent = marked(firedAt + 10_000)
    for (let reads = 0; reads <= 5; reads++) stop.read(lie)
    assert.deepStrictEqual(misfits(stop.world), [{ state: "STANDING", reads: 5, paused: true }])
    forget(stop)
    for (let reads = 0; reads < 2; reads++) stop.read(lie)
    assert.deepStrictEqual(misfits(stop.world), [{ state: "STANDING", reads: 5, paused: true }])
    assert.deepStrictEqual(netQty(stop), ["0.1000"])
  })

  it.each(Object.entries(unknownAgain))("%s, the true report is booked by the stored marks", (_, forget) => {
    const stop = fired()
    stop.world.recent = marked(firedAt + 10_000)
    stop.read(lie)
    forget(stop)
    stop.read("59400.0")
    assert.deepStrictEqual(misfits(stop.world), [{ state: "ENDED", reads: 0, paused: false }])
    assert.deepStrictEqual(netQty(stop), ["0.0000"])
  })

  it("marks that were never known set nothing aside", () => {
    const stop = fired()
    stop.read(lie)
    assert.deepStrictEqual(netQty(stop), ["0.0000"])
  })
})

describe("A2-115: a time whose marks are unknown", () => {
  const symbol = perp
  const now = contractsNow
  const second = 1_000
  /** Four marks a second, of 60,000, from one time to another. The mark after each of the lost times follows a loss. */
  const marked = (from: number, to: number, ...lost: ReadonlyArray<number>): RecentMarket => {
    const marks = new RecentMarks()
    const price = new MoneyDecimal("60000")
    for (let at = from; at <= to; at += 250) {
      const isAfterLoss = at === from || lost.some((time) => time >= at - 250 && time < at)
      marks.add(price, at, isAfterLoss)
    }
    return {
      bandAt: (_, at, bps = 1_000) => marks.bandAt(at, bps),
      bandNear: (_, at, bps) => marks.bandNear(at, bps),
      isListed: () => true
    }
  }
  interface Given {
    /** The width of the band, instead of the market's. */
    readonly bps?: number
    /** The time up to which the account's events are taken. */
    readonly takenTo?: number
    readonly isKnown?: boolean
  }
  /** The verdict on a price at a time. */
  const judged = (
    recent: RecentMarket,
    price: string,
    at: number,
    { bps, takenTo = 0, isKnown = false }: Given = {}
  ): Verdict => {
    const world = new TradingWorld({ clock: () => now })
    world.mark(perp, "60000")
    world.recent = recent
    let verdict: Verdict = null
    world.turn((turn) => {
      turn.draft.put("venueAccounts", { clientId: 1, sequence: 4, takenTo, gapTo: 0 })
      const misfit = ({ bandAt }: MarketSeen) => outsideBand(price, bandAt(at, bps))
      verdict = judgedOn(turn, { symbol, at, isKnown }, misfit, () => 1n)
    })
    return verdict
  }
  const fits = (...given: Parameters<typeof judged>): boolean => judged(...given) === null

  it.each([
    ["a lost message before it", 10 * second, marked(now - 60 * second, now, now - 10_100)],
    [
      "messages lost on and on",
      10 * second,
      marked(now - 60 * second, now, ...Array.from({ length: 240 }, (_, n) => now - n * 250))
    ],
    ["a lost message, and no mark since", 10 * second, marked(now - 60 * second, now - 11 * second)],
    ["a passed time before a restart", 3_600 * second, marked(now - 10 * second, now)]
  ])("%s: the nearest marks judge it, within five times the band", (_, age, recent) => {
    const at = now - age - 100
    assert.deepStrictEqual(
      ["1", "29999", "30001", "89999", "90001", "6000000"].map((price) =>
        fits(recent, price, at, { takenTo: now - second })
      ),
      [false, false, true, true, false, false]
    )
    assert.isFalse(
      fits(recent, "90001", at, { bps: 2_000, takenTo: now - second }),
      "a touch is not judged by a product of both bands"
    )
  })

  it("a mark that may still arrive is waited for, and a price within five times the band is not set aside", () => {
    const recent = marked(now - 60 * second, now - 2 * second)
    const lost = now - 1_500
    assert.isTrue(judged({ ...recent, bandAt: () => null }, "6000000", lost)?.isEarly)
    assert.isTrue(fits({ ...recent, bandAt: () => null }, "89999", lost))
  })

  it("is excused by an outage of the service, and judged by present marks if the account's events have passed it", () => {
    const recent = marked(now - 10 * second, now)
    const lost = now - 20 * second
    const excused = (at: number, takenTo: number, isKnown = false) => fits(recent, "1", at, { takenTo, isKnown })
    assert.isTrue(excused(lost, 0), "nothing was ever taken")
    assert.isTrue(excused(lost, lost + 5_000), "the events wait since the outage")
    assert.isFalse(excused(lost, lost + 5_001))
    assert.isFalse(excused(1, lost))
    assert.isTrue(excused(1, lost, true), "the venue reported the time before")
    assert.isTrue(fits(marked(now - 900 * second, now - 200 * second), "1", now - 100 * second), "no mark since")
  })

  it("an own trade and the first report of a stamp have the time of their event", () => {
    const { world, id, order, fill } = traded()
    world.read(id, order, [fill])
    world.recent = marked(now - 10 * second, now)
    const { account } = order
    world.turn((turn) => turn.draft.put("venueAccounts", { clientId: 1, sequence: 4, takenTo: contractsNow, gapTo: 0 }))
    const own = (at: number) => {
      const of = venueOrder(account, null, {
        id: 990,
        side: "SELL",
        symbol,
        qty: "0.1",
        filledQty: "0.1",
        state: "FILLED"
      })
      const trade = {
        ...fill,
        tradeId: 90,
        orderId: 990,
        ref: null,
        side: "SELL",
        price: "1",
        reason: "liquidation"
      } as const
      return world.venueDid({ type: "fill", account, sequence: 5, order: of, fill: { ...trade, at } })?.reason
    }
    assert.include(own(1), "before the account's last event")
    const stamp = (settledAt: number) => {
      const funding = { symbol, settledAt, mark: "6000000", rate: "0.0075", netQty: "0.1", amount: "-4500" }
      return world.venueDid({ type: "funding", account, sequence: 5, funding })?.reason
    }
    const hour = 3_600_000
    assert.include(stamp(Math.floor(contractsNow / hour) * hour - 3 * hour), "outside")
    assert.strictEqual(world.store.rows("fills").length, 1)
  })
})

describe("A2-97: the venue's own trades, booked in any order", () => {
  /** Hundredths of a trade, signed. */
  interface Traded {
    readonly units: number
    readonly tradeId: number
    readonly isOwn: boolean
    /** The client's own trade, which a query books before all events. */
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
        ...plainOrder,
        side: units > 0 ? "BUY" : "SELL",
        qty: signed(Math.abs(units))
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

  it("a trade that does not fit waits while the service still reads an order, for a minute", () => {
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
