/**
 * Two clients trade only with each other, in two markets. While the marks stay the same, no sequence of orders, cancels and
 * outgoing money makes the house pay, however thin the books are. When marks, margins or cash move, the house pays at most the part
 * of each single move beyond the equity, with a stop that fires within the move at its full bound. Marks lead only to the turns that
 * the service's RiskWatch requests (F9, F13).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { isDeep } from "../../support/every.ts"
import { gold, perp } from "../order/leverageTurns.ts"
import {
  act,
  assertBounded,
  assertPaid,
  begun,
  begunAt,
  drift,
  hedged,
  moneyAlone,
  move,
  offer,
  play,
  runs,
  startAt
} from "./accomplices.ts"
import type { TwoTraders, Wish } from "./TwoTraders.ts"
import { WatchedTraders } from "./WatchedTraders.ts"

/** The deep tier runs thousands of sequences. */
const timeout = isDeep ? 900_000 : 30_000

describe("two accomplices in books with little quantity", () => {
  it("F13: an opening order at the market trades no further than its slippage allowance, the rest ends with that reason", () => {
    const world = begun()
    offer(world, "SELL", "60010.0", "0.0100")
    offer(world, "SELL", "66000.0", "0.5000")
    assert.isTrue(world.place(0, { symbol: perp, side: "BUY", type: "MARKET", qty: "0.1000" }))
    world.settle()
    assert.deepStrictEqual(world.ordersOf(0), ["CANCELLED, 0.0100, no liquidity within the bound of 60310.0"])
    assertPaid(world)
  })

  it("F13: a reducing order trades no further than every account can pay, at the market, as a stop and by its limit", () => {
    const world = begun()
    offer(world, "SELL", "60000.0", "0.1000")
    world.place(0, { symbol: perp, side: "BUY", type: "LIMIT", price: "60000.0", qty: "0.1000" })
    world.settle()
    offer(world, "BUY", "57035.9", "0.5000")
    const closing = { symbol: perp, side: "SELL", qty: "0.1000", reduceOnly: true } as const
    assert.isFalse(world.place(0, { ...closing, type: "LIMIT", price: "57035.9" }))
    assert.isTrue(world.place(0, { ...closing, type: "MARKET" }))
    const trigger = { source: "LAST", price: "59000.0", direction: "AT_OR_BELOW", limitPrice: null } as const
    assert.isTrue(world.place(0, { ...closing, type: "STOP_MARKET", trigger }))
    world.settle()
    // The accomplice moves only the last price.
    offer(world, "SELL", "58000.0", "0.0001")
    world.place(0, { symbol: perp, side: "BUY", type: "LIMIT", price: "58000.0", qty: "0.0001" })
    world.settle()
    assert.deepStrictEqual(world.ordersOf(0), [
      "FILLED, 0.1000",
      "CANCELLED, 0, no liquidity within the bound of 57036.0",
      "CANCELLED, 0, no liquidity within the bound of 57036.0",
      "FILLED, 0.0001"
    ])
    assertPaid(world)
  })

  it("F13: the same money never covers the immediate loss of two orders, and is not withdrawn beside one", () => {
    const world = begun()
    // At twenty times a limit a tenth above the mark loses twice its margin.
    const dear = { symbol: gold, side: "BUY", type: "LIMIT", price: "4400.0" } as const
    assert.isTrue(world.place(0, { ...dear, qty: "1.5000" }))
    assert.isFalse(world.place(0, { ...dear, qty: "0.2000" }))
    world.takeOut(0, 100)
    world.settle()
    offer(world, "SELL", "4400.0", "1.5000", gold)
    world.wait(40)
    assert.strictEqual(world.trades, 1)
    assertPaid(world)
  })

  it("F13: an order that needed no margin opens nothing once another order has closed the position", () => {
    const trigger = { source: "LAST", price: "59000.0", direction: "AT_OR_BELOW" } as const
    const closing = { symbol: perp, side: "SELL", qty: "0.1000" } as const
    const plain: ReadonlyArray<Wish> = [
      { ...closing, type: "LIMIT", price: "57036.1" },
      { ...closing, type: "STOP_MARKET", trigger: { ...trigger, limitPrice: null } },
      { ...closing, type: "STOP_LIMIT", trigger: { ...trigger, limitPrice: "57000.0" } }
    ]
    for (const wish of plain) {
      const world = begun()
      offer(world, "SELL", "60000.0", "0.1000")
      world.place(0, { symbol: perp, side: "BUY", type: "LIMIT", price: "60000.0", qty: "0.1000" })
      world.settle()
      world.level(0, 50)
      assert.isTrue(world.place(0, wish), wish.type)
      assert.isTrue(world.place(0, { ...closing, type: "LIMIT", price: "57036.0", reduceOnly: true }))
      world.settle()
      offer(world, "BUY", "57036.1", "0.2000")
      world.wait(40)
      const [, first, second] = world.ordersOf(0)
      assert.strictEqual(second, "FILLED, 0.1000")
      assert.match(first ?? "", /^(CANCELLED|REJECTED), 0, (position closed|no position to reduce)$/)
      assertPaid(world)
    }
  })

  it("F9: a close-out of one position leaves enough to close the others", () => {
    const world = begunAt({ held: { [perp]: 100, [gold]: 100 }, level: 50 })
    offer(world, "BUY", "55800.0", "0.1000")
    // At another leverage the equity of 451.5 is a fourteenth of the margin.
    world.choose(0, perp, 1)
    world.wait(100)
    assert.strictEqual(world.netQty(0, perp), "0.1000")
    offer(world, "BUY", "3920.0", "2.0000", gold)
    world.wait(40)
    assert.strictEqual(world.netQty(0, gold), "0.0000")
    offer(world, "BUY", "56800.0", "0.1000")
    world.wait(40)
    assert.strictEqual(world.netQty(0, perp), "0.0000")
    assertPaid(world)
  })

  it("F9, F13: while the marks stay, nothing that they do makes the house pay", { timeout }, () => {
    let traded = 0
    fc.assert(
      fc.property(startAt(50, 50, 60, 75, 100), fc.array(act, { minLength: 10, maxLength: 50 }), (begins, acts) => {
        const world = begunAt(begins)
        for (const each of acts) {
          play(world, each)
          if (each.act === "settle" || each.act === "meet" || each.act === "pair") assertPaid(world)
        }
        world.settle()
        world.wait(40)
        assertPaid(world)
        traded += world.trades
      }),
      runs(1)
    )
    assert.isAbove(traded, 40)
  })

  it("F13: a resting order that the equity no longer covers is cancelled while the mark moves", () => {
    const world = begun()
    assert.isTrue(world.place(0, { symbol: gold, side: "BUY", type: "LIMIT", price: "4000.0", qty: "4.8000" }))
    assert.isTrue(world.place(0, { symbol: perp, side: "BUY", type: "LIMIT", price: "55000.0", qty: "0.0010" }))
    world.settle()
    drift(world, gold, { steps: 80, away: -25 })
    assert.deepStrictEqual(world.ordersOf(0), ["CANCELLED, 0, the equity no longer covers its worst price", "ACKED, 0"])
    offer(world, "SELL", "3200.0", "4.8000", gold)
    world.wait(40)
    assertPaid(world)
  })

  const falls = { source: "MARK", price: "57000.0", direction: "AT_OR_BELOW", limitPrice: null } as const
  const levels = {
    takeProfit: { price: "65000.0", limitPrice: null },
    stopLoss: { price: "57000.0", limitPrice: null }
  } as const
  /** A long position with a stop loss, a take profit, a stop of its own, and a resting take profit. */
  const guarded = (qty: string): TwoTraders => {
    const world = begun()
    offer(world, "SELL", "60000.0", qty)
    const common = { symbol: perp, qty } as const
    world.place(0, { ...common, side: "BUY", type: "LIMIT", price: "60000.0", attach: levels })
    world.settle()
    world.place(0, { ...common, side: "SELL", type: "STOP_MARKET", reduceOnly: true, trigger: falls })
    world.place(0, { ...common, side: "SELL", type: "LIMIT", price: "61000.0" })
    world.settle()
    assert.deepStrictEqual(world.boundsOf(0, perp), [494, 494, 494])
    return world
  }

  it("F9: a close-out of a second narrows the bounds of stops and legs; afterwards they are as before, and protect", () => {
    const world = guarded("0.0500")
    offer(world, "SELL", "4000.0", "2.0000", gold)
    world.place(0, { symbol: gold, side: "BUY", type: "LIMIT", price: "4000.0", qty: "2.0000" })
    world.settle()
    world.jump(gold, "3600.0")
    world.settle()
    assert.deepStrictEqual(world.boundsOf(0, perp), [100, 100, 100])
    world.jump(gold, "4000.0")
    world.settle()
    assert.deepStrictEqual(world.boundsOf(0, perp), [494, 494, 494])
    offer(world, "BUY", "54000.0", "0.1000")
    world.jump(perp, "56000.0")
    world.wait(5)
    assert.strictEqual(world.netQty(0, perp), "0.0000")
  })

  it("F13: a categorization and another leverage change no stops, legs or passed take profit while the equity covers them", () => {
    const world = guarded("0.1000")
    world.categorize(0, "PROFESSIONAL")
    drift(world, perp, { steps: 10, away: 50 })
    assert.deepStrictEqual(world.boundsOf(0, perp), [494, 494, 494])
    assert.strictEqual(world.ordersOf(0)[4], "ACKED, 0")
    // The equity of a fiftieth of the value covers no more than the bound of professional clients.
    world.level(0, 100)
    world.wait(5)
    assert.deepStrictEqual(world.boundsOf(0, perp), [94, 94, 94])
    assertPaid(world)
  })

  it(
    "F9, F13: when marks jump, the house pays no more than each jump beyond the equity, and 2 % of the closed value",
    { timeout },
    () => {
      let paid = 0
      fc.assert(
        fc.property(
          fc.oneof(startAt(50, 60, 100), hedged, fc.constant(moneyAlone)),
          fc.array(fc.oneof({ weight: 4, arbitrary: act }, move), { minLength: 10, maxLength: 50 }),
          (begins, acts) => {
            const world = begunAt(begins, WatchedTraders)
            for (const each of acts) {
              play(world, each)
              if (each.act === "settle" || each.act === "meet" || each.act === "pair") assertBounded(world)
            }
            world.settle()
            world.wait(40)
            assertBounded(world)
            if (world.standings().some(({ writtenOff }) => writtenOff > 0n)) paid++
          }
        ),
        runs(38)
      )
      assert.isAbove(paid, 0)
    }
  )
})
