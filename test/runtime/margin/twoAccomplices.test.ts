/**
 * Two clients trade only with each other, in two markets. While the marks stay the same, no sequence of orders, cancels and
 * outgoing money makes the house pay, however thin the books are (F9, F13).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { gold, perp } from "../order/leverageTurns.ts"
import { TwoTraders, type Wish } from "./TwoTraders.ts"

type Act =
  | { readonly act: "place"; readonly at: number; readonly wish: Asked }
  /** The other client first places an order at that price. */
  | { readonly act: "meet"; readonly at: number; readonly wish: Asked }
  | { readonly act: "cancel"; readonly at: number; readonly nth: number }
  | { readonly act: "takeOut"; readonly at: number; readonly percent: number }
  | { readonly act: "call" | "answer" | "event" | "settle" | "wait" }

/** An order: its size as a share of the account's capacity, and its distance from the mark in basis points. */
interface Asked {
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  readonly type: "LIMIT" | "MARKET" | "STOP_MARKET" | "STOP_LIMIT"
  readonly lots: number
  readonly away: number
  readonly reduceOnly: boolean
  readonly tif: "GTC" | "IOC"
}

const marks: Readonly<Record<string, number>> = { [perp]: 60_000, [gold]: 4_000 }
const priceAt = (symbol: string, away: number): string =>
  (Math.round(((marks[symbol] ?? 0) * (10_000 + away)) / 1_000) / 10).toFixed(1)

const wishOf = ({ symbol, side, type, lots, away, reduceOnly, tif }: Asked): Wish => {
  // A tenth of a bitcoin is worth as much as an ounce and a half of gold.
  const qty = (symbol === perp ? lots / 1_000 : lots / 66).toFixed(4)
  const price = priceAt(symbol, away)
  const common = { symbol, side, type, qty, reduceOnly } as const
  if (type === "MARKET") return common
  if (type === "LIMIT") return { ...common, price, tif }
  const direction = side === "BUY" ? "AT_OR_ABOVE" : "AT_OR_BELOW"
  const limitPrice = type === "STOP_LIMIT" ? priceAt(symbol, side === "BUY" ? away + 480 : away - 480) : null
  return { ...common, trigger: { source: "LAST", price, direction, limitPrice } }
}

const at = fc.constantFrom(0, 1)
const asked: fc.Arbitrary<Asked> = fc.record({
  symbol: fc.constantFrom(perp, gold),
  side: fc.constantFrom("BUY" as const, "SELL" as const),
  type: fc.constantFrom(
    "LIMIT" as const,
    "LIMIT" as const,
    "MARKET" as const,
    "STOP_MARKET" as const,
    "STOP_LIMIT" as const
  ),
  lots: fc.integer({ min: 1, max: 150 }),
  away: fc.constantFrom(-1_000, -900, -494, -244, -100, -50, 0, 50, 100, 244, 494, 900, 1_000),
  reduceOnly: fc.boolean(),
  tif: fc.constantFrom("GTC" as const, "IOC" as const)
})
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant("place" as const), at, wish: asked }) },
  { weight: 10, arbitrary: fc.record({ act: fc.constant("meet" as const), at, wish: asked }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("cancel" as const), at, nth: fc.nat({ max: 5 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant("takeOut" as const), at, percent: fc.constantFrom(30, 90, 100) })
  },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom("call", "answer", "event", "settle", "settle", "wait")
      .map((each) => ({ act: each }) as Act)
  }
)

const play = (world: TwoTraders, each: Act): void => {
  switch (each.act) {
    case "place":
      return void world.place(each.at, wishOf(each.wish))
    case "meet": {
      const { at, wish } = each
      const { symbol, side, away } = wish
      const qty = wishOf(wish).qty
      world.place(1 - at, {
        symbol,
        side: side === "BUY" ? "SELL" : "BUY",
        type: "LIMIT",
        qty,
        price: priceAt(symbol, away)
      })
      world.settle()
      world.place(at, wishOf(wish))
      return world.settle()
    }
    case "cancel":
      return world.cancel(each.at, each.nth)
    case "takeOut":
      return world.takeOut(each.at, each.percent)
    case "settle":
      return world.settle()
    case "wait":
      return world.wait(2)
    default:
      return void world.deliver(each.act)
  }
}

const begun = (): TwoTraders => {
  const world = new TwoTraders([1_000_000_000n, 20_000_000_000n])
  for (const symbol of [perp, gold]) world.mark(symbol, priceAt(symbol, 0))
  return world
}

const assertPaid = (world: TwoTraders): void => {
  for (const { equity, writtenOff } of world.standings()) {
    assert.strictEqual(writtenOff, 0n, "the house has paid")
    assert.isTrue(equity >= 0n, `the house will pay ${-equity} micro-USDC`)
  }
}

const offer = (world: TwoTraders, side: "BUY" | "SELL", price: string, qty: string, symbol = perp): void => {
  assert.isTrue(world.place(1, { symbol, side, type: "LIMIT", price, qty }))
  world.settle()
}

describe("two accomplices in thin books", () => {
  it("F13: what opens at the market trades no further than its slippage allowance, the rest ends with that reason", () => {
    const world = begun()
    offer(world, "SELL", "60010.0", "0.0100")
    offer(world, "SELL", "66000.0", "0.5000")
    assert.isTrue(world.place(0, { symbol: perp, side: "BUY", type: "MARKET", qty: "0.1000" }))
    world.settle()
    assert.deepStrictEqual(world.ordersOf(0), ["CANCELLED, 0.0100, no liquidity within the bound of 60310.0"])
    assertPaid(world)
  })

  it("F13: what only reduces trades no further than every account can pay, at the market, as a stop and by its limit", () => {
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

  it("F13: the same money never stands behind the loss at once of two orders, nor leaves beside it", () => {
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

  it("F9, F13: while the marks rest, nothing that they do makes the house pay", () => {
    let traded = 0
    fc.assert(
      fc.property(fc.array(act, { minLength: 10, maxLength: 50 }), (acts) => {
        const world = begun()
        for (const each of acts) {
          play(world, each)
          if (each.act === "settle" || each.act === "meet") assertPaid(world)
        }
        world.settle()
        world.wait(40)
        assertPaid(world)
        traded += world.trades
      }),
      { numRuns: 60 }
    )
    assert.isAbove(traded, 40)
  })
})
