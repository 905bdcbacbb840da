/** Marks drift, and clients get only the turns that the service's RiskWatch requests: resting orders never cost the house money (F13). */
import { assert, describe, it } from "@effect/vitest"
import { gold, perp } from "../order/leverageTurns.ts"
import { assertPaid, offer } from "./accomplices.ts"
import type { Wish } from "./TwoTraders.ts"
import { WatchedTraders } from "./WatchedTraders.ts"

const notCovered = "CANCELLED, 0, the equity no longer covers its worst price"

const begunWith = (cash: bigint): WatchedTraders => {
  const world = new WatchedTraders([cash * 1_000_000n, 1_000_000_000_000n])
  world.mark(perp, "60000.0")
  world.mark(gold, "4000.0")
  return world
}

const steps = (from: number, to: number, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, step) => (from + ((to - from) * (step + 1)) / count).toFixed(1))

/** The second client takes the other side. */
const open = (world: WatchedTraders, wish: Pick<Wish, "symbol" | "side" | "qty">, price: string): void => {
  offer(world, wish.side === "BUY" ? "SELL" : "BUY", price, wish.qty, wish.symbol)
  assert.isTrue(world.place(0, { ...wish, type: "LIMIT", price }))
  world.settle()
}

describe("resting orders of accounts that marks concern", () => {
  it("an opening limit is cancelled beside a small position whose margin covers its cost at first", () => {
    const world = begunWith(620n)
    world.choose(0, gold, 10)
    open(world, { symbol: gold, side: "BUY", qty: "0.0200" }, "4000.0")
    assert.isTrue(world.place(0, { symbol: perp, side: "BUY", type: "LIMIT", qty: "0.1000", price: "60000.0" }))
    world.settle()
    world.drift(perp, steps(60_000, 51_000, 30))
    assert.strictEqual(world.ordersOf(0)[1], notCovered)
    offer(world, "SELL", "51000.0", "0.1000")
    assertPaid(world)
  })

  for (const restarts of [false, true]) {
    it(`a reduce-only limit far below a risen mark is cancelled${restarts ? " after a start" : ""}`, () => {
      const world = begunWith(1_300n)
      open(world, { symbol: gold, side: "SELL", qty: "1.5000" }, "4000.0")
      open(world, { symbol: perp, side: "BUY", qty: "0.1000" }, "60000.0")
      // The first way there reports the losses of the day, so reaching them again requests no turn.
      const both = (step: number): void => {
        world.drift(perp, [String(60_000 + step * 500)])
        world.drift(gold, [String(4_000 + step * 33)])
      }
      for (let step = 1; step <= 42; step++) both(step)
      for (let step = 41; step >= 0; step--) both(step)
      const rest = { symbol: perp, side: "SELL", type: "LIMIT", qty: "0.1000", price: "60300.0" } as const
      assert.isTrue(world.place(0, { ...rest, reduceOnly: true }))
      world.settle()
      if (restarts) world.profile(20)
      for (let step = 1; step <= 40; step++) both(step)
      assert.strictEqual(world.ordersOf(0)[2], notCovered)
      offer(world, "BUY", "80000.0", "0.1000")
      assertPaid(world)
    })
  }

  it("an order with a limit that waits for the mark stays however far the mark goes from its level", () => {
    for (const source of ["MARK", "LAST"] as const) {
      const world = begunWith(620n)
      const trigger = { source, price: "65000.0", direction: "AT_OR_ABOVE", limitPrice: "65100.0" } as const
      assert.isTrue(world.place(0, { symbol: perp, side: "BUY", type: "STOP_LIMIT", qty: "0.0500", trigger }))
      world.settle()
      world.drift(perp, steps(60_000, 46_000, 50))
      // A trigger on the last price can fire at any mark.
      assert.deepStrictEqual(world.ordersOf(0), [source === "MARK" ? "PENDING_TRIGGER, 0" : notCovered])
    }
  })

  it("a stop whose bound is wider than that of new ones is amended once the equity no longer covers it", () => {
    const world = begunWith(1_300n)
    world.profile(5)
    world.mark(gold, "3000.0")
    open(world, { symbol: gold, side: "BUY", qty: "2.0000" }, "3000.0")
    world.drift(gold, steps(3_000, 4_000, 50))
    world.takeOut(0, 100)
    world.settle()
    const trigger = { source: "MARK", price: "3201.0", direction: "AT_OR_BELOW", limitPrice: null } as const
    const stop = { symbol: gold, side: "SELL", type: "STOP_MARKET", qty: "2.0000", reduceOnly: true, trigger } as const
    assert.isTrue(world.place(0, stop))
    world.profile(20)
    world.settle()
    assert.deepStrictEqual(world.boundsOf(0, gold), [994])
    world.drift(gold, steps(4_000, 3_202, 200))
    assert.deepStrictEqual(world.boundsOf(0, gold), [244])
    offer(world, "BUY", "2885.0", "2.0000", gold)
    world.drift(gold, ["3201.0"])
    world.wait(30)
    assertPaid(world)
  })
})
