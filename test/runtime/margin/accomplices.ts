/** Random acts of two clients that trade only with each other, and the limits of the house's payments for them. */
import { assert } from "@effect/vitest"
import * as fc from "fast-check"
import { isDeep } from "../../support/every.ts"
import { gold, perp } from "../order/leverageTurns.ts"
import { TwoTraders, type Wish } from "./TwoTraders.ts"

export type Act =
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
  /**
   * Both marks move and return, so the losses of the day are already reported. A reduce-only limit then rests while they move
   * again.
   */
  | { readonly act: "overtake"; readonly at: number; readonly steps: number }
  | { readonly act: "fund"; readonly symbol: string; readonly bps: number }
  | { readonly act: "categorize"; readonly at: number; readonly as: "RETAIL" | "PROFESSIONAL" }
  | { readonly act: "profile"; readonly metal: number }
  | { readonly act: "call" | "answer" | "event" | "settle" | "wait" }

/** An order: its size in lots or as multiples of the position, and its distance from the mark in basis points. */
export interface Asked {
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
  const source = lots % 2 === 0 ? "LAST" : "MARK"
  return { ...common, trigger: { source, price, direction, limitPrice } }
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
export const act: fc.Arbitrary<Act> = fc.oneof(
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
export const move: fc.Arbitrary<Act> = fc.oneof(
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
      wish: asked.map((wish): Asked => ({ ...wish, times: 0, away: 0, type: "LIMIT", tif: "GTC" })),
      steps: fc.integer({ min: 20, max: 60 })
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constant("overtake" as const), at, steps: fc.integer({ min: 10, max: 40 }) })
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

export const drift = (
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

const overtake = (world: TwoTraders, at: number, steps: number): void => {
  const netQty = world.netQty(at, perp)
  if (Number(netQty) === 0) return
  const [side, other, away] = netQty.startsWith("-") ? (["BUY", "SELL", -80] as const) : (["SELL", "BUY", 80] as const)
  const from = [perp, gold].map((symbol) => [symbol, world.markOf(symbol)] as const)
  const go = (step: number): void => from.forEach(([symbol, mark]) => world.drift(symbol, [moved(mark, step * away)]))
  for (let step = 1; step <= steps; step++) go(step)
  for (let step = steps - 1; step >= 0; step--) go(step)
  const rest = { symbol: perp, type: "LIMIT", qty: netQty.replace("-", "") } as const
  world.place(at, { ...rest, side, price: priceAt(world, perp, away / 2), reduceOnly: true })
  world.settle()
  for (let step = 1; step <= steps; step++) go(step)
  world.place(1 - at, { ...rest, side: other, price: priceAt(world, perp, 0) })
  world.settle()
}

export const play = (world: TwoTraders, each: Act): void => {
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
      const { symbol, reduceOnly } = wish
      const isShort = world.netQty(at, symbol).startsWith("-")
      const side = reduceOnly ? (isShort ? "BUY" : "SELL") : wish.side
      world.place(at, wishOf(world, at, { ...wish, side, times: reduceOnly ? 1 : 0 }))
      world.settle()
      drift(world, symbol, { steps, away: side === "BUY" ? -40 : 40 })
      const other = side === "BUY" ? "SELL" : "BUY"
      const price = priceAt(world, symbol, 0)
      world.place(1 - at, { symbol, side: other, type: "LIMIT", qty: qtyOf(symbol, 150), price })
      return world.settle()
    }
    case "overtake":
      return overtake(world, each.at, each.steps)
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

export const begun = (Kind: typeof TwoTraders = TwoTraders): TwoTraders => {
  const world = new Kind([1_000_000_000n, 20_000_000_000n])
  for (const [symbol, price] of Object.entries(marks)) world.mark(symbol, price)
  return world
}

/** The first client's positions in lots, and the share of its margin that earlier losses have left, percent. Null: no losses. */
export interface Start {
  readonly held: Readonly<Record<string, number>>
  readonly level: number | null
}
export const moneyAlone: Start = { held: {}, level: null }
/** The seeds are chosen so that the short sample fails if the service sends an order that opens without margin. */
export const runs = (seed: number) => (isDeep ? { numRuns: 3_000 } : { numRuns: 60, seed })
export const startAt = (...levels: ReadonlyArray<number>): fc.Arbitrary<Start> =>
  fc.record({
    held: fc.record({ [perp]: fc.integer({ min: -100, max: 100 }), [gold]: fc.integer({ min: -100, max: 100 }) }),
    level: fc.constantFrom(...levels)
  })

/** Two positions of the same value, of which one gains as much as the other loses. */
export const hedged: fc.Arbitrary<Start> = fc
  .integer({ min: 40, max: 100 })
  .map((lots) => ({ held: { [perp]: lots, [gold]: -lots }, level: 120 }))

export const begunAt = ({ held, level }: Start, Kind: typeof TwoTraders = TwoTraders): TwoTraders => {
  const world = begun(Kind)
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

export const assertPaid = (world: TwoTraders): void => {
  for (const { equity, writtenOff } of world.standings()) {
    assert.strictEqual(writtenOff, 0n, "the house has paid")
    assert.isTrue(equity >= 0n, `the house will pay ${-equity} micro-USDC`)
  }
}

/** The house pays at most the part of each move beyond the equity, and 2 % of the closed value with its commission. */
export const assertBounded = (world: TwoTraders): void => {
  for (const { equity, writtenOff, beyond, closed } of world.standings()) {
    const paid = writtenOff + (equity < 0n ? -equity : 0n)
    const allowed = beyond + (closed * 206n) / 10_000n
    assert.isTrue(paid <= allowed, `the house pays ${paid} of ${allowed} micro-USDC`)
  }
}

export const offer = (world: TwoTraders, side: "BUY" | "SELL", price: string, qty: string, symbol = perp): void => {
  assert.isTrue(world.place(1, { symbol, side, type: "LIMIT", price, qty }))
  world.settle()
}
