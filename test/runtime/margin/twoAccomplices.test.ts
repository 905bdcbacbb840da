/**
 * Two clients trade only with each other, in two markets. While the marks stay the same, no sequence of orders, cancels and
 * outgoing money makes the house pay, however thin the books are. When marks, margins or cash move, the house pays at most the part
 * of each single move beyond the equity (F9, F13).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { isDeep } from "../../support/every.ts"
import { gold, perp } from "../order/leverageTurns.ts"
import { TwoTraders, type Wish } from "./TwoTraders.ts"

type Act =
  | { readonly act: "place"; readonly at: number; readonly wish: Asked }
  /** The other client first places an order at that price. */
  | { readonly act: "meet"; readonly at: number; readonly wish: Asked }
  /** Two orders against the position, which the other client then takes. */
  | { readonly act: "pair"; readonly at: number; readonly wishes: readonly [Asked, Asked] }
  | { readonly act: "cancel"; readonly at: number; readonly nth: number }
  | { readonly act: "takeOut"; readonly at: number; readonly percent: number }
  | { readonly act: "choose"; readonly at: number; readonly symbol: string; readonly leverage: number }
  | { readonly act: "jump"; readonly symbol: string; readonly away: number }
  /** Small steps of a mark in one direction. */
  | { readonly act: "drift"; readonly symbol: string; readonly steps: number; readonly away: number }
  /** An order rests while the mark drifts past it, and the other client then takes what is left of it. */
  | { readonly act: "leave"; readonly at: number; readonly wish: Asked; readonly steps: number }
  | { readonly act: "fund"; readonly symbol: string; readonly bps: number }
  | { readonly act: "categorize"; readonly at: number; readonly as: "RETAIL" | "PROFESSIONAL" }
  | { readonly act: "profile"; readonly metal: number }
  | { readonly act: "call" | "answer" | "event" | "settle" | "wait" }

/** An order: its size in lots or as multiples of the position, and its distance from the mark in basis points. */
interface Asked {
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  readonly type: "LIMIT" | "MARKET" | "STOP_MARKET" | "STOP_LIMIT"
  readonly lots: number
  readonly times: 0 | 1 | 2
  readonly away: number
  readonly reduceOnly: boolean
  readonly tif: "GTC" | "IOC"
}

const marks: Readonly<Record<string, string>> = { [perp]: "60000.0", [gold]: "4000.0" }
/** A price on the grid, `away` basis points from a mark. */
const moved = (mark: string, away: number): string =>
  (Math.round((Number(mark) * (10_000 + away)) / 1_000) / 10).toFixed(1)
const priceAt = (world: TwoTraders, symbol: string, away: number): string => moved(world.markOf(symbol), away)

// A tenth of a bitcoin is worth as much as an ounce and a half of gold.
const qtyOf = (symbol: string, lots: number): string => (symbol === perp ? lots / 1_000 : lots / 66).toFixed(4)

const wishOf = (
  world: TwoTraders,
  at: number,
  { symbol, side, type, lots, times, away, reduceOnly, tif }: Asked
): Wish => {
  const held = Math.abs(Number(world.netQty(at, symbol))) * times
  const qty = held === 0 ? qtyOf(symbol, lots) : held.toFixed(4)
  const price = priceAt(world, symbol, away)
  const common = { symbol, side, type, qty, reduceOnly } as const
  if (type === "MARKET") return common
  if (type === "LIMIT") return { ...common, price, tif }
  const direction = side === "BUY" ? "AT_OR_ABOVE" : "AT_OR_BELOW"
  const limitPrice = type === "STOP_LIMIT" ? priceAt(world, symbol, side === "BUY" ? away + 480 : away - 480) : null
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
  times: fc.constantFrom(0 as const, 1 as const, 1 as const, 2 as const),
  away: fc.constantFrom(-1_000, -900, -494, -244, -100, -50, 0, 50, 100, 244, 494, 900, 1_000),
  reduceOnly: fc.boolean(),
  tif: fc.constantFrom("GTC" as const, "IOC" as const)
})
/** Orders of the position's size or twice that, far from the mark. */
const closing = asked.chain((one) =>
  fc
    .record({
      times: fc.constantFrom(1 as const, 1 as const, 2 as const),
      away: fc.constantFrom(50, 243, 244, 493, 494)
    })
    .map((over): Asked => ({ ...one, ...over, tif: "GTC" }))
)
const pair = fc
  .tuple(closing, closing)
  .map(([one, other]): readonly [Asked, Asked] => [one, { ...other, symbol: one.symbol, reduceOnly: !one.reduceOnly }])
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ act: fc.constant("pair" as const), at, wishes: pair }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constant("place" as const), at, wish: asked }) },
  { weight: 10, arbitrary: fc.record({ act: fc.constant("meet" as const), at, wish: asked }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("cancel" as const), at, nth: fc.nat({ max: 5 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant("choose" as const),
      at,
      symbol: fc.constantFrom(perp, gold),
      leverage: fc.constantFrom(1, 5, 10, 20)
    })
  },
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

const symbol = fc.constantFrom(perp, gold)
const jump = fc.record({
  act: fc.constant("jump" as const),
  symbol,
  away: fc.integer({ min: -2_000, max: 2_000 })
})
const move: fc.Arbitrary<Act> = fc.oneof(
  { weight: 3, arbitrary: jump },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant("drift" as const),
      symbol,
      steps: fc.integer({ min: 5, max: 40 }),
      away: fc.constantFrom(-40, -25, 25, 40)
    })
  },
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant("leave" as const),
      at,
      wish: asked.map((wish): Asked => ({ ...wish, times: 0, away: 0, type: "LIMIT", tif: "GTC", reduceOnly: false })),
      steps: fc.integer({ min: 20, max: 60 })
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constant("fund" as const), symbol, bps: fc.integer({ min: -200, max: 200 }) })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant("categorize" as const),
      at,
      as: fc.constantFrom("RETAIL" as const, "PROFESSIONAL" as const)
    })
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("profile" as const), metal: fc.constantFrom(2, 20, 50) }) }
)

const drift = (
  world: TwoTraders,
  symbol: string,
  { steps, away }: { readonly steps: number; readonly away: number }
): void => {
  const from = world.markOf(symbol)
  world.drift(
    symbol,
    Array.from({ length: steps }, (_, step) => moved(from, (step + 1) * away))
  )
}

const play = (world: TwoTraders, each: Act): void => {
  switch (each.act) {
    case "place":
      return void world.place(each.at, wishOf(world, each.at, each.wish))
    case "meet": {
      const { at, wish } = each
      const { symbol, side, away } = wish
      const wanted = wishOf(world, at, wish)
      const { qty } = wanted
      world.place(1 - at, {
        symbol,
        side: side === "BUY" ? "SELL" : "BUY",
        type: "LIMIT",
        qty,
        price: priceAt(world, symbol, away)
      })
      world.settle()
      world.place(at, wanted)
      return world.settle()
    }
    case "pair": {
      const { at, wishes } = each
      const [{ symbol }] = wishes
      const isShort = world.netQty(at, symbol).startsWith("-")
      const [side, other] = isShort ? (["BUY", "SELL"] as const) : (["SELL", "BUY"] as const)
      const away = (wish: Asked): number => (isShort ? wish.away : -wish.away)
      for (const wish of wishes) world.place(at, wishOf(world, at, { ...wish, side, away: away(wish) }))
      world.settle()
      const price = priceAt(world, symbol, (isShort ? Math.min : Math.max)(...wishes.map(away)))
      world.place(1 - at, { symbol, side: other, type: "LIMIT", qty: qtyOf(symbol, 150), price })
      return world.settle()
    }
    case "cancel":
      return world.cancel(each.at, each.nth)
    case "takeOut":
      return world.takeOut(each.at, each.percent)
    case "choose":
      return world.choose(each.at, each.symbol, each.leverage)
    case "jump":
      return world.jump(each.symbol, priceAt(world, each.symbol, each.away))
    case "drift":
      return drift(world, each.symbol, each)
    case "leave": {
      const { at, wish, steps } = each
      const { symbol, side } = wish
      world.place(at, wishOf(world, at, wish))
      world.settle()
      drift(world, symbol, { steps, away: side === "BUY" ? -40 : 40 })
      const other = side === "BUY" ? "SELL" : "BUY"
      const price = priceAt(world, symbol, 0)
      world.place(1 - at, { symbol, side: other, type: "LIMIT", qty: qtyOf(symbol, 150), price })
      return world.settle()
    }
    case "fund":
      return world.fund(each.symbol, each.bps)
    case "categorize":
      return world.categorize(each.at, each.as)
    case "profile":
      return world.profile(each.metal)
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
  for (const [symbol, price] of Object.entries(marks)) world.mark(symbol, price)
  return world
}

/** The first client's positions in lots, and what earlier losses have left of its margin, percent. Null: it has no losses. */
interface Start {
  readonly held: Readonly<Record<string, number>>
  readonly level: number | null
}
const moneyAlone: Start = { held: {}, level: null }
/** With these seeds the sample would find a service that sends an order that opens without margin. */
const runs = (seed: number) => (isDeep ? { numRuns: 3_000 } : { numRuns: 60, seed })
const startAt = (...levels: ReadonlyArray<number>): fc.Arbitrary<Start> =>
  fc.record({
    held: fc.record({ [perp]: fc.integer({ min: -100, max: 100 }), [gold]: fc.integer({ min: -100, max: 100 }) }),
    level: fc.constantFrom(...levels)
  })

const begunAt = ({ held, level }: Start): TwoTraders => {
  const world = begun()
  for (const [symbol, lots] of Object.entries(held)) {
    if (lots === 0) continue
    const common = {
      symbol,
      type: "LIMIT",
      qty: qtyOf(symbol, Math.abs(lots)),
      price: priceAt(world, symbol, 0)
    } as const
    assert.isTrue(world.place(1, { ...common, side: lots > 0 ? "SELL" : "BUY" }))
    world.settle()
    assert.isTrue(world.place(0, { ...common, side: lots > 0 ? "BUY" : "SELL" }))
    world.settle()
  }
  if (level !== null) world.level(0, level)
  return world
}

const assertPaid = (world: TwoTraders): void => {
  for (const { equity, writtenOff } of world.standings()) {
    assert.strictEqual(writtenOff, 0n, "the house has paid")
    assert.isTrue(equity >= 0n, `the house will pay ${-equity} micro-USDC`)
  }
}

/** The house pays at most the part of each move beyond the equity, and 2 % of the closed value with its commission. */
const assertBounded = (world: TwoTraders): void => {
  for (const { equity, writtenOff, beyond, closed } of world.standings()) {
    const paid = writtenOff + (equity < 0n ? -equity : 0n)
    const allowed = beyond + (closed * 206n) / 10_000n
    assert.isTrue(paid <= allowed, `the house pays ${paid} of ${allowed} micro-USDC`)
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

  it("F9, F13: while the marks rest, nothing that they do makes the house pay", () => {
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

  it("F13: a resting order that the equity no longer covers is cancelled while the mark drifts", () => {
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

  it("F9: a close-out of a second narrows the bounds of stops and legs; afterwards they are as they were, and protect", () => {
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

  it("F13: a categorization and another leverage leave stops, legs and a passed take profit alone while the equity covers them", () => {
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

  it("F9, F13: with moves, the house pays no more than each move beyond the equity, and 2 % of what is closed", () => {
    let paid = 0
    fc.assert(
      fc.property(
        fc.oneof(startAt(50, 60, 100), fc.constant(moneyAlone)),
        fc.array(fc.oneof({ weight: 4, arbitrary: act }, move), { minLength: 10, maxLength: 50 }),
        (begins, acts) => {
          const world = begunAt(begins)
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
      runs(37)
    )
    assert.isAbove(paid, 0)
  })
})
