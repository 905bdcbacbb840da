/**
 * Whole accounts over random histories of orders, fills, ends, prices, deposits, leverage and restarts: each stored or
 * shown figure equals that of a second implementation by the definitions (F4 to F8, F11 to F13, F20, F21; A2-60,
 * A2-90), to the last decimal place.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { defaultMarketTerms } from "../../../src/machines/market/marketTerms.ts"
import type { OrderBody } from "../../../src/machines/order/OrderBody.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { moneyApart, ownMoney, venueMoney } from "../../../src/machines/reconciliation/money.ts"
import { moneyText, NaiveAccount, type NaiveAsked, textOf } from "../../fixtures/naiveAccount.ts"
import { fraction, usdcOf } from "../../fixtures/naiveTrading.ts"
import { gold, perp } from "./leverageTurns.ts"
import { spot, TradingWorld } from "./TradingWorld.ts"

const text = (units: number, places: number) =>
  new MoneyDecimal(units).div(new MoneyDecimal(10).pow(places)).toFixed(places)
const usdc = (micro: bigint) => moneyText(micro, "USDC")
const sameFigure = (one: string, other: string) => new MoneyDecimal(one).eq(other)

const someSymbol = fc.constantFrom(perp, gold, spot)
/** A price level in tenths of a USDC; a price of gold is a fifteenth of it. */
const someLevel = fc.integer({ min: 300_000, max: 900_000 })
const priceIn = (symbol: string, level: number) => text(symbol === gold ? Math.floor(level / 15) : level, 1)

type Step = (at: { readonly world: TradingWorld; readonly naive: NaiveAccount }) => void

const deposit: fc.Arbitrary<Step> = fc
  .record({ currency: fc.constantFrom("USDC" as const, "BTC" as const), units: fc.integer({ min: 1, max: 2 ** 33 }) })
  .map(({ currency, units }): Step => ({ world, naive }) => {
    const amount = BigInt(currency === "BTC" ? units % 10 ** 9 : units) + 1n
    world.deposit(currency, moneyText(amount, currency))
    naive.deposit(currency, amount)
  })

const price: fc.Arbitrary<Step> = fc
  .record({ symbol: someSymbol, level: someLevel })
  .map(({ symbol, level }): Step => ({ world, naive }) => {
    const mark = priceIn(symbol, level)
    world.mark(symbol, mark)
    naive.marks.set(symbol, mark)
  })

const leverage: fc.Arbitrary<Step> = fc
  .record({ symbol: fc.constantFrom(perp, gold), chosen: fc.integer({ min: 1, max: 10 }) })
  .map(({ symbol, chosen }): Step => ({ world, naive }) => {
    world.chooseLeverage(symbol, chosen)
    naive.leverage.set(symbol, chosen)
  })

const restart: fc.Arbitrary<Step> = fc.constant<Step>(({ world }) => world.restart())

const end: fc.Arbitrary<Step> = fc.nat().map((pick): Step => ({ world, naive }) => {
  const { working } = world
  const id = working[pick % working.length]
  if (id === undefined) return
  world.end(id)
  naive.end(id)
})

const fill: fc.Arbitrary<Step> = fc
  .record({ pick: fc.nat(), share: fc.integer({ min: 1, max: 12 }), better: fc.nat(500) })
  .map(({ pick, share, better }): Step => ({ world, naive }) => {
    const { working } = world
    const id = working[pick % working.length]
    if (id === undefined) return
    const { symbol, context } = world.order(id)
    const left = new MoneyDecimal(context.qty).minus(context.filledQty)
    let qty = MoneyDecimal.min(left, left.mul(share).div(10).toDecimalPlaces(4, MoneyDecimal.ROUND_UP))
    if (context.reduceOnly) {
      const held = naive.positionOf(symbol).qty
      if (held.sign * (context.side === "BUY" ? 1 : -1) >= 0) return
      qty = MoneyDecimal.min(qty, textOf(held.size))
    }
    const limit = context.venuePrice ?? context.trigger?.limitPrice ?? world.best(symbol, context.side)
    const at = new MoneyDecimal(limit).plus(context.side === "BUY" ? -better : better).toFixed(1)
    world.fill(id, qty.toFixed(4), at)
    naive.fill(id, qty.toFixed(4), at)
  })

const forms = ["LIMIT", "LIMIT", "MARKET", "STOP_MARKET", "TAKE_PROFIT_LIMIT"] as const

const place: fc.Arbitrary<Step> = fc
  .record({
    symbol: someSymbol,
    side: fc.constantFrom("BUY" as const, "SELL" as const),
    lots: fc.oneof(fc.integer({ min: 1, max: 30_000 }), fc.integer({ min: 1, max: 200_000 })),
    level: someLevel,
    form: fc.constantFrom(...forms),
    reduces: fc.boolean()
  })
  .map(({ symbol, side, lots, level, form, reduces }): Step => ({ world, naive }) => {
    const isSpot = symbol === spot
    const type = isSpot && form !== "MARKET" ? "LIMIT" : form
    const at = priceIn(symbol, level)
    const isConditional = type === "STOP_MARKET" || type === "TAKE_PROFIT_LIMIT"
    const held = naive.positionOf(symbol).qty
    const reduceOnly = !isSpot && reduces && held.sign * (side === "BUY" ? 1 : -1) < 0
    const asked: NaiveAsked = {
      symbol,
      side,
      qty: text(isSpot ? (lots % 20_000) + 1 : lots, 4),
      price: type === "LIMIT" ? at : null,
      trigger: isConditional
        ? { price: at, limitPrice: type === "TAKE_PROFIT_LIMIT" ? world.best(symbol, side) : null }
        : null,
      reduceOnly
    }
    compareOrder(world, naive, asked, type)
  })

const bodyOf = ({ trigger, ...asked }: NaiveAsked, type: OrderBody["type"]): OrderBody => ({
  ...asked,
  type,
  tif: "GTC",
  trigger: trigger === null ? null : { ...trigger, source: "MARK", direction: "AT_OR_ABOVE" },
  attach: null,
  ocoGroup: null,
  leverage: null
})

/** Decides on an order in both implementations, and places it if both accept it. */
const compareOrder = (world: TradingWorld, naive: NaiveAccount, asked: NaiveAsked, type: OrderBody["type"]): void => {
  const bestAsk = world.best(asked.symbol, "BUY")
  const before = naive.risk()
  const { figures, id } = world.place(bodyOf(asked, type))
  const known = {
    equityBefore: before.equity,
    initialMarginBefore: before.initialMargin,
    freeMarginBefore: before.freeMargin
  }
  assert.deepInclude(figures, known)
  if (asked.symbol === spot) {
    assert.strictEqual(figures.reservation, naive.reserveOf(asked, bestAsk).amount)
    assert.strictEqual(id !== null, naive.takesSpot(asked, bestAsk))
  } else {
    const expected = naive.preview(asked, world.best(asked.symbol, asked.side))
    const { required, commission, slippage } = expected
    assert.deepInclude(figures, {
      marginRequired: required,
      openLoss: expected.openLoss,
      estimatedCommission: commission,
      slippageAllowance: slippage,
      estimatedCosts: commission + slippage,
      reservation: required + commission,
      orderValue: expected.value,
      freeMarginAfter: before.freeMargin - required - commission,
      initialMarginAfter: expected.initialMarginAfter,
      marginLevelAfter: expected.levelAfter,
      estLiquidationPrice: expected.liquidationAfter === null ? null : textOf(expected.liquidationAfter, 1),
      leverage: naive.leverageOf(asked.symbol)
    })
    assert.strictEqual(id !== null, expected.isTaken)
  }
  if (id !== null) naive.place(id, asked, bestAsk, figures.bound.limit)
}

const someStep = fc.oneof(
  { weight: 3, arbitrary: deposit },
  { weight: 4, arbitrary: price },
  { weight: 2, arbitrary: leverage },
  { weight: 2, arbitrary: restart },
  { weight: 2, arbitrary: end },
  { weight: 9, arbitrary: fill },
  { weight: 9, arbitrary: place }
)

const comparePositions = ({ positions, picture }: TradingWorld, naive: NaiveAccount): void => {
  for (const row of positions.filter(({ state }) => state !== "SPOT")) {
    const { qty, average, cost, realized } = naive.positionOf(row.symbol)
    assert.isTrue(sameFigure(row.netQty, textOf(qty)), `${row.netQty} is not ${textOf(qty)}`)
    assert.isTrue(sameFigure(row.avgEntry, textOf(average)), `${row.avgEntry} is not ${textOf(average)}`)
    assert.isTrue(sameFigure(row.netCost, textOf(cost)), `${row.netCost} is not ${textOf(cost)}`)
    assert.strictEqual(row.realizedPnl, realized)
    assert.strictEqual(row.amount, cost.size.floor(6))
  }
  const open = [perp, gold].filter((symbol) => naive.positionOf(symbol).qty.sign !== 0)
  assert.deepStrictEqual(
    picture.positions.map(({ symbol }) => symbol),
    open
  )
  for (const shown of picture.positions) {
    const { pnl, margin } = naive.marketOf(shown.symbol)
    const liquidation = naive.liquidation(shown.symbol)
    assert.deepInclude(shown, {
      unrealizedPnl: usdc(pnl),
      initialMargin: usdc(margin),
      realizedPnl: usdc(naive.positionOf(shown.symbol).realized),
      leverage: naive.leverageOf(shown.symbol),
      roiPct: naive.roi(shown.symbol),
      estLiquidationPrice: liquidation === null ? null : textOf(liquidation, 1)
    })
  }
}

const compareMoney = (world: TradingWorld, naive: NaiveAccount): void => {
  for (const currency of ["USDC", "BTC"]) {
    const { cash, reserved } = world.balance(currency)
    assert.deepStrictEqual([cash, reserved], [naive.cash[currency], naive.reserved[currency]], currency)
  }
  const { own, money } = world.money
  // A2-103: the ledger equals the venue's books, whatever the order of the trades and the roundings.
  assert.deepStrictEqual(moneyApart(ownMoney(own), venueMoney({ money }) ?? new Map()), [])
  assert.deepStrictEqual(
    world.lots.map(({ qty, cost, commission }) => ({ qty, cost, commission })),
    naive.lots
  )
  for (const [id, { filled, spot: running }] of naive.orders) {
    const { context } = world.order(id)
    assert.isTrue(fraction(context.filledQty).minus(filled).sign === 0)
    if (running === null) continue
    const currency = context.reserved?.currency ?? "USDC"
    const told = [context.reserved?.amount, context.consumed, context.released]
    const should = [running.amount, running.consumed, running.released]
    assert.isTrue(
      told.every((amount, at) => sameFigure(amount ?? "0", moneyText(should[at] ?? 0n, currency))),
      `${told.join()} is not ${should.join()}`
    )
  }
}

const compareAccount = (world: TradingWorld, naive: NaiveAccount): void => {
  compareMoney(world, naive)
  comparePositions(world, naive)
  const risk = naive.risk()
  assert.deepInclude(world.picture, {
    equity: usdc(risk.equity),
    closeOutEquity: usdc(risk.equity),
    cash: usdc(naive.cash["USDC"] ?? 0n),
    reserved: usdc(naive.reserved["USDC"] ?? 0n),
    unrealizedPnl: usdc(risk.unrealizedPnl),
    positionMargin: usdc(risk.positionMargin),
    orderMargin: usdc(risk.orderMargin),
    initialMargin: usdc(risk.initialMargin),
    maintenanceMargin: usdc(risk.maintenanceMargin),
    freeMargin: usdc(risk.freeMargin),
    marginLevel: risk.marginLevel,
    riskState: risk.riskState as "NORMAL",
    openOrders: naive.orders.size
  })
  const { fills, pnl, spotPnl, commission } = naive.totals
  assert.deepInclude(world.summary, {
    tradeCount: fills,
    realizedPnl: usdc(pnl),
    realizedTotal: usdc(pnl + spotPnl),
    commissionPaid: usdc(commission)
  })
  assert.deepInclude(world.summary.realizedByFamily, { fills: usdc(pnl), spot: usdc(spotPnl) })
  comparePortfolio(world, naive)
}

/** The same figures wherever they are shown, and each holding at the cost of its lots. */
const comparePortfolio = ({ balances, overview, lots }: TradingWorld, naive: NaiveAccount): void => {
  const { fills, pnl, spotPnl, commission, wins, losses } = naive.totals
  const risk = naive.risk()
  assert.strictEqual(balances.portfolioValue, usdc(naive.worth))
  assert.deepInclude(overview, {
    equity: usdc(risk.equity),
    cash: usdc(naive.cash["USDC"] ?? 0n),
    freeMargin: usdc(risk.freeMargin),
    initialMargin: usdc(risk.initialMargin),
    unrealizedPnl: usdc(risk.unrealizedPnl),
    wins,
    losses
  })
  assert.deepInclude(overview.realized, { fills: usdc(pnl), spot: usdc(spotPnl), total: usdc(pnl + spotPnl) })
  assert.deepStrictEqual([overview.commission.total, overview.counts.fills], [usdc(commission), fills])
  const held = (naive.cash["BTC"] ?? 0n) + (naive.reserved["BTC"] ?? 0n)
  const cost = lots.reduce((sum, lot) => sum + lot.cost + lot.commission, 0n)
  const [holding] = overview.holdings
  assert.strictEqual(overview.holdings.length, held === 0n ? 0 : 1)
  if (held !== 0n) assert.deepInclude(holding, { asset: "BTC", qty: moneyText(held, "BTC"), cost: usdc(cost) })
}

/** Enough money for the first tiers, or so little that prices cause a margin call. */
const someWealth = fc.constantFrom(900_000_000_001n, 30_000_000_001n, 12_000_000_000n)

const begun = () => {
  const naive = new NaiveAccount(
    defaultMarketTerms.riskTiers.map(({ from, maxLeverage }) => ({ from: usdcOf(from), maxLeverage }))
  )
  const world = new TradingWorld()
  for (const [symbol, mark] of [
    [perp, "60000.0"],
    [gold, "4000.0"],
    [spot, "60000.0"]
  ] as const) {
    world.mark(symbol, mark)
    naive.marks.set(symbol, mark)
  }
  return { world, naive }
}

describe("an independent computation of whole accounts", () => {
  it("agrees after every step of any history, and on every order that is queried", { timeout: 120_000 }, () => {
    const seen = { fills: 0, closed: 0, sold: 0, states: new Set<string>() }
    fc.assert(
      fc.property(fc.array(someStep, { minLength: 25, maxLength: 40 }), someWealth, (steps, wealth) => {
        const at = begun()
        at.world.deposit("USDC", usdc(wealth))
        at.naive.deposit("USDC", wealth)
        for (const step of steps) {
          step(at)
          compareAccount(at.world, at.naive)
          seen.states.add(at.naive.risk().riskState)
        }
        seen.fills += at.naive.totals.fills
        if (at.naive.totals.pnl !== 0n) seen.closed++
        if (at.naive.totals.spotPnl !== 0n) seen.sold++
      }),
      { numRuns: 60, seed: 15 }
    )
    // The histories reach every state that the test is for.
    assert.isAbove(seen.fills, 300)
    assert.isAbove(seen.closed, 20)
    assert.isAbove(seen.sold, 10)
    assert.sameMembers([...seen.states], ["NORMAL", "MARGIN_CALL", "CLOSE_OUT"])
  })
})
