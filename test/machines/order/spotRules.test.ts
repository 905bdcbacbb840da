/** F20: the reserve of spot orders, and the part that their fills use. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  heldOf,
  reservationOf,
  settleSpotFill,
  type SpotOrder,
  spotQuoteOf,
  type SpotReservation,
  type SpotRunning
} from "../../../src/machines/order/spotRules.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import {
  cancelledCase,
  spotBalanceCases,
  spotReleaseCases,
  spotReservationCases
} from "../../fixtures/goldenTrading.ts"
import { fraction, zero } from "../../fixtures/naiveTrading.ts"
import { someSide } from "../../fixtures/perpetuals.ts"

const grid = { decimals: 1, step: 1 } as const
const orderWith = (over: Partial<SpotOrder> = {}): SpotOrder => ({
  side: "BUY",
  base: "BTC",
  quote: "USDC",
  qty: "1",
  price: "60000",
  commissionBps: 10,
  ...over
})

const reserved = (order: SpotOrder, bestAsk: string | null = null): SpotReservation => {
  const reservation = reservationOf(order, bestAsk, grid)
  if (reservation === null) throw new Error("nothing was offered")
  return reservation
}

const started = (order: SpotOrder): SpotRunning => ({
  ...order,
  reservation: reserved(order),
  filledQty: "0",
  notional: "0",
  consumed: 0n,
  released: 0n
})

/** Lots of XRP, and a lot's price in micro-USDC. */
const inLots = (qty: string, lotPrice: string): SpotOrder =>
  orderWith({ base: "XRP", qty, price: new MoneyDecimal(lotPrice).div(1e6).toFixed(), commissionBps: 0 })

describe("the reserve of an order", () => {
  it.each(spotReservationCases)("$id", ({ lots, lotPrice, reserved: amount }) => {
    assert.strictEqual(reserved(inLots(lots, lotPrice)).amount, amount)
  })

  it.each(spotBalanceCases)("$id: a balance of $balance", ({ lots, lotPrice, balance, accepted }) => {
    assert.strictEqual(reserved(inLots(lots, lotPrice)).amount <= balance, accepted)
  })

  it.each([
    ["a BUY with its commission", orderWith(), "USDC", 60_060_000_000n, "60000"],
    ["both parts rounded up", orderWith({ qty: "0.0001", price: "0.3" }), "USDC", 31n, "0.3"],
    ["in another quote", orderWith({ quote: "EUR", qty: "0.0001" }), "EUR", 601n, "60000"],
    ["a SELL the asset alone", orderWith({ side: "SELL", qty: "0.1" }), "BTC", 10_000_000n, null],
    ["a MARKET sale likewise", orderWith({ side: "SELL", price: null }), "BTC", 100_000_000n, null]
  ] as const)("%s", (_, order, currency, amount, price) => {
    assert.deepStrictEqual(reserved(order), { currency, amount, price })
  })

  it.each([
    ["60000", { decimals: 1, step: 1 }, "61200.0"],
    ["60000.1", { decimals: 1, step: 1 }, "61200.2"],
    ["60000.1", { decimals: 1, step: 5 }, "61200.5"],
    ["3000", { decimals: 0, step: 7 }, "3066"]
  ] as const)("a MARKET buy up to 2 percent above %s, on the tick", (ask, tick, price) => {
    const order = orderWith({ price: null, commissionBps: 0 })
    const amount = fraction(price).ceil(6)
    assert.deepStrictEqual(reservationOf(order, ask, tick), { currency: "USDC", amount, price })
  })

  it("a MARKET buy without an offer has no cap", () => {
    assert.isNull(reservationOf(orderWith({ price: null }), null, grid))
  })

  it.each([
    ["BTC-USDC", "USDC"],
    ["USDC-EUR", "EUR"],
    ["BTC-USDT", null],
    ["BTC-USDC-PERP", null]
  ])("the quote of %s is %s", (symbol, quote) => assert.strictEqual(spotQuoteOf(symbol), quote))
})

describe("the part of the reserve that a fill uses", () => {
  it.each(spotReleaseCases)("$id", ({ balance, lots, reservedAt, filled, consumed, released, free }) => {
    const running = started(inLots(lots, reservedAt))
    const price = new MoneyDecimal(filled.at).div(1e6).toFixed()
    const settled = settleSpotFill(running, { qty: filled.lots, price })
    assert.deepInclude(settled, { consumed, released, quote: consumed, commission: 0n })
    assert.strictEqual(balance - running.reservation.amount + released, free)
    assert.strictEqual(heldOf(settled.running), running.reservation.amount - consumed - released)
  })

  it("PNL-015: an order that is cancelled unfilled releases all of it", () => {
    const { balance, lots, lotPrice } = cancelledCase
    const running = started(inLots(lots, lotPrice))
    assert.strictEqual(balance - running.reservation.amount + heldOf(running), balance)
  })

  it("a BUY pays consideration and commission, and gets back what its price was better", () => {
    const settled = settleSpotFill(started(orderWith()), { qty: "0.4", price: "59000" })
    assert.deepStrictEqual(settled, {
      quote: 23_600_000_000n,
      base: 40_000_000n,
      commission: 23_600_000n,
      consumed: 23_623_600_000n,
      released: 400_400_000n,
      running: {
        ...started(orderWith()),
        filledQty: "0.4",
        notional: "23600",
        consumed: 23_623_600_000n,
        released: 400_400_000n
      }
    })
    assert.strictEqual(heldOf(settled.running), 36_036_000_000n)
  })

  it("a SELL delivers the asset, and its commission is deducted from the proceeds", () => {
    const sale = orderWith({ side: "SELL", price: "59000" })
    const settled = settleSpotFill(started(sale), { qty: "0.4", price: "60000" })
    assert.deepInclude(settled, {
      quote: 24_000_000_000n,
      base: 40_000_000n,
      commission: 24_000_000n,
      consumed: 40_000_000n,
      released: 0n
    })
    assert.strictEqual(heldOf(settled.running), 60_000_000n)
  })

  it("a first fill of a SELL worth less than a cent charges no more than it brings", () => {
    const sale = orderWith({ side: "SELL", base: "XRP", quote: "EUR", qty: "100", price: "0.5" })
    const dust = settleSpotFill(started(sale), { qty: "0.01", price: "0.5" })
    assert.deepInclude(dust, { quote: 0n, commission: 0n })
    const rest = settleSpotFill(dust.running, { qty: "99.99", price: "0.5" })
    assert.deepInclude(rest, { quote: 5_000n, commission: 5n })
  })

  it("a fill that exceeds the limit or the quantity never uses more than the reserve", () => {
    const running = started(orderWith())
    const above = settleSpotFill(running, { qty: "1", price: "61000" })
    assert.deepInclude(above, { quote: 61_000_000_000n, consumed: running.reservation.amount, released: 0n })
    assert.strictEqual(heldOf(above.running), 0n)
    const beyond = settleSpotFill(above.running, { qty: "1", price: "50000" })
    assert.deepInclude(beyond, { quote: 50_000_000_000n, consumed: 0n, released: 0n })
  })
})

/** An order, and the parts in which it trades, at its limit or better. */
const someCourse = fc
  .record({
    side: someSide,
    quote: fc.constantFrom("USDC" as const, "EUR" as const),
    bps: fc.constantFrom(0, 1, 10, 333),
    limit: fc.integer({ min: 1, max: 700_000 }),
    parts: fc.array(fc.record({ lots: fc.integer({ min: 1, max: 5_000 }), better: fc.integer({ min: 0, max: 100 }) }), {
      minLength: 1,
      maxLength: 30
    })
  })
  .map(({ side, quote, bps, limit, parts }) => {
    const text = (units: number, places: number) =>
      new MoneyDecimal(units).div(new MoneyDecimal(10).pow(places)).toFixed(places)
    const fills = parts.map(({ lots, better }) => ({
      qty: text(lots, 4),
      price: text(side === "BUY" ? Math.max(1, limit - better) : limit + better, 4)
    }))
    const qty = text(
      parts.reduce((all, { lots }) => all + lots, 0),
      4
    )
    return { order: orderWith({ side, quote, qty, price: text(limit, 4), commissionBps: bps }), fills }
  })

describe("F20: running totals", () => {
  it("the fills of an order together use the amount of their sum, and leave no reserve", () => {
    fc.assert(
      fc.property(someCourse, ({ order, fills }) => {
        const total = { quote: 0n, base: 0n, commission: 0n, consumed: 0n, released: 0n }
        let running = started(order)
        for (const fill of fills) {
          const settled = settleSpotFill(running, fill)
          for (const name of ["quote", "base", "commission", "consumed", "released"] as const) {
            assert.isTrue(settled[name] >= 0n, name)
            total[name] += settled[name]
          }
          running = settled.running
          assert.isTrue(heldOf(running) >= 0n)
        }
        const buys = order.side === "BUY"
        const places = order.quote === "EUR" ? 2 : 6
        const value = fills.reduce((all, { qty, price }) => all.plus(fraction(qty).times(fraction(price))), zero)
        const charge = value.times(fraction(order.commissionBps)).by(fraction(10_000)).ceil(places)
        const quote = buys ? value.ceil(places) : value.floor(places)
        const commission = buys || charge < quote ? charge : quote
        const base = fraction(order.qty).floor(8)
        const { amount } = running.reservation
        const consumed = buys ? quote + commission : base
        assert.deepStrictEqual(total, { quote, base, commission, consumed, released: amount - consumed })
        assert.strictEqual(heldOf(running), 0n)
      })
    )
  })

  it("at any moment the rest of a BUY could still trade at its limit, and nothing more is held", () => {
    fc.assert(
      fc.property(someCourse, fc.nat(29), ({ order, fills }, stop) => {
        const buy = { ...order, side: "BUY" as const }
        let running = started(buy)
        for (const { qty } of fills.slice(0, stop)) {
          running = settleSpotFill(running, { qty, price: buy.price ?? "" }).running
        }
        const left = new MoneyDecimal(buy.qty).minus(running.filledQty)
        assert.strictEqual(running.released, 0n)
        if (left.isZero()) return
        const last = settleSpotFill(running, { qty: left.toFixed(), price: buy.price ?? "" })
        assert.strictEqual(last.consumed, heldOf(running))
      })
    )
  })

  it("a thousand partial fills: the hold ends at zero", () => {
    const order = orderWith({ qty: "0.1", price: "60000.7", commissionBps: 10 })
    let running = started(order)
    for (let n = 0; n < 1_000; n++) running = settleSpotFill(running, { qty: "0.0001", price: "60000.3" }).running
    assert.strictEqual(heldOf(running), 0n)
    const whole = settleSpotFill(started(order), { qty: "0.1", price: "60000.3" })
    assert.strictEqual(running.consumed, whole.consumed)
    assert.strictEqual(running.released, whole.released)
  })
})
