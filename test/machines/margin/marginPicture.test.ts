/** Perpetual positions of the margin picture, by figures worked out by hand (doc 2, Margin picture; F4, F5, F8, F11, A2-99). */
import { assert, describe, it } from "@effect/vitest"
import { accountRisk } from "../../../src/machines/margin/accountRisk.ts"
import { marginPictureOf } from "../../../src/machines/margin/marginPicture.ts"
import type { PerpHolding } from "../../../src/machines/margin/perpRisk.ts"
import { type Facts, type Instrument, noFacts } from "../../../src/machines/market/Facts.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { termsAt } from "../../fixtures/perpetuals.ts"

const symbol = "BTC-USDC-PERP"
const micro = 1_000_000n
const instrument: Instrument = {
  symbol,
  family: "PERP",
  assetClass: "crypto",
  priceDecimals: 1,
  qtyDecimals: 4,
  priceTick: { decimals: 1, step: 1 },
  bandBps: 1_000
}
const long = { symbol, netQty: "0.1000", avgEntry: "60000", netCost: "6000", realizedPnl: 5n * micro }
const holding: PerpHolding = {
  symbol,
  position: long,
  orders: [],
  terms: termsAt(10)
}

const pictureOf = (perpetuals: ReadonlyArray<PerpHolding>, { mark = "61000", listed = true } = {}) => {
  const facts: Facts = {
    ...noFacts,
    takenAt: 0,
    marks:
      mark === "" ? new Map() : new Map([[symbol, { price: new MoneyDecimal(mark), places: 1, at: 0, current: true }]]),
    instruments: listed ? new Map([[symbol, instrument]]) : new Map()
  }
  const cashOf = () => 1_000n * micro
  const risk = accountRisk({ cashOf, contracts: [], accepts: [], perpetuals }, facts)
  const money = { cash: 1_000n * micro, reserved: 0n }
  const { instruments } = facts
  return marginPictureOf({
    clientId: 7,
    categorization: "RETAIL",
    ...money,
    barriers: 0,
    openOrders: 3,
    instruments,
    risk
  })
}

describe("A2-99: positions of the margin picture", () => {
  it("a long: worth, margin, return and the price that would close it out", () => {
    const { positions, ...picture } = pictureOf([holding])
    assert.deepStrictEqual(positions, [
      {
        symbol,
        netQty: "0.1000",
        avgEntryPrice: "60000.0",
        mark: "61000.0",
        markFresh: true,
        unrealizedPnl: "100.000000",
        initialMargin: "610.000000",
        roiPct: "16.67",
        leverage: 10,
        realizedPnl: "5.000000",
        estLiquidationPrice: "52631.6"
      }
    ])
    assert.deepInclude(picture, {
      equity: "1100.000000",
      unrealizedPnl: "100.000000",
      positionMargin: "610.000000",
      orderMargin: "0.000000",
      initialMargin: "610.000000",
      freeMargin: "490.000000",
      openOrders: 3
    })
  })

  it("orders alone are no position, nor is a flat one; the margin of orders is listed separately", () => {
    const order = { symbol, side: "BUY", left: "0.1", price: "60000", boundBps: null, reduceOnly: false } as const
    const flat = { ...long, netQty: "0.0000", avgEntry: "0", netCost: "0" }
    for (const position of [null, flat]) {
      const picture = pictureOf([{ ...holding, position, orders: [order] }])
      assert.deepStrictEqual(picture.positions, [])
      assert.deepInclude(picture, { positionMargin: "0.000000", orderMargin: "600.000000" })
    }
  })

  it("without a mark a position has its entry price and is stale; of a market that is not listed no price is shown", () => {
    const [unmarked] = pictureOf([holding], { mark: "" }).positions
    assert.deepInclude(unmarked, {
      mark: null,
      markFresh: false,
      unrealizedPnl: "0.000000",
      initialMargin: "600.000000"
    })
    const [unlisted] = pictureOf([holding], { listed: false }).positions
    assert.deepInclude(unlisted, { avgEntryPrice: "60000", estLiquidationPrice: null })
  })

  it("F11: an average between two ticks is shown as it is stored", () => {
    const between = { ...holding, position: { ...long, avgEntry: "60000.333333333333333333" } }
    assert.strictEqual(pictureOf([between]).positions[0]?.avgEntryPrice, "60000.333333333333333333")
  })
})
