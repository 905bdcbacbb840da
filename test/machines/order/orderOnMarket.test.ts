/**
 * A2-91, A2-93: the markets that accept orders, the orders that a SPOT market refuses, and an order on its market's
 * grids (doc 2, Order).
 */
import { assert, describe, it } from "@effect/vitest"
import type { OrderBody } from "../../../src/machines/order/OrderBody.ts"
import { leverageMarket, orderMarket, orderOnMarket } from "../../../src/machines/order/orderOnMarket.ts"
import { listed, perpetual, placedOn, plainOrder, spot, spotOrder, stopLoss } from "../../fixtures/orders.ts"
import { knockOut } from "../../fixtures/rfqs.ts"

const notOffered = {
  ok: false,
  refusal: { _tag: "Unknown", reason: "MARKET_NOT_OFFERED", sentence: "This market is not offered." }
} as const
const wrongFamily = "The market symbol must be of a PERP or SPOT market."
const noOrders = {
  ok: false,
  refusal: { _tag: "Invalid", reason: "INVALID_FIELDS", sentence: wrongFamily, errors: { symbol: wrongFamily } }
}

describe("the market of an order", () => {
  it.each([
    ["a perpetual", perpetual.symbol, { market: perpetual, family: "PERP", base: "BTC", quote: "USDC" }],
    ["a spot market", spot.symbol, { market: spot, family: "SPOT", base: "ETH", quote: "USDC" }]
  ])("%s", (_, symbol, value) => {
    assert.deepStrictEqual<unknown>(orderMarket(symbol, listed), { ok: true, value })
  })

  it.each([
    ["nothing", "BTC-USDT-PERP", notOffered],
    ["another spelling", "btc-usdc-perp", notOffered],
    ["knock-out contracts", knockOut.symbol, noOrders],
    ["staking", "BTC-SWAP", noOrders]
  ])("none: %s", (_, symbol, answer) => assert.deepStrictEqual<unknown>(orderMarket(symbol, listed), answer))

  it.each([
    ["a perpetual that is not settled in USDC", { ...perpetual, symbol: "BTC-EUR-PERP" }],
    ["a spot market of what clients can't hold", { ...spot, base: "DOGE", symbol: "DOGE-USDC" }],
    ["a spot market against what clients can't hold", { ...spot, symbol: "ETH-JPY" }],
    ["a symbol without a quote", { ...spot, symbol: "ETH" }]
  ])("none: %s", (_, market) => {
    assert.deepStrictEqual<unknown>(orderMarket(market.symbol, { ...listed, market: () => market }), notOffered)
  })

  it("A2-50: only perpetuals have leverage", () => {
    assert.isTrue(leverageMarket(perpetual.symbol, listed).ok)
    for (const symbol of [spot.symbol, knockOut.symbol, "BTC-SWAP", "NONE"]) {
      assert.deepStrictEqual<unknown>(leverageMarket(symbol, listed), notOffered)
    }
  })
})

describe("an order on its market", () => {
  it("has everything that is stored and sent, on the grids", () => {
    const leg = { price: "58000.10", limitPrice: "57900" }
    const body = { qty: "1.5", price: "60000.10", leverage: 5, attach: { takeProfit: null, stopLoss: leg } }
    assert.deepStrictEqual(placedOn(body), {
      ok: true,
      grid: null,
      market: perpetual,
      order: {
        symbol: "BTC-USDC-PERP",
        side: "BUY",
        type: "LIMIT",
        qty: "1.5000",
        price: "60000.1",
        tif: "GTC",
        venueTif: "GTC",
        reduceOnly: false,
        trigger: null,
        attach: { takeProfit: null, stopLoss: { price: "58000.1", limitPrice: "57900.0" } },
        ocoGroup: null,
        leverage: 5,
        family: "PERP",
        base: "BTC",
        quote: "USDC",
        assetClass: "crypto",
        priceDecimals: 1,
        qtyDecimals: 4
      }
    })
  })

  it("of a conditional type has its trigger on the ticks", () => {
    const trigger = { source: "MARK", price: "58000", direction: "AT_OR_BELOW", limitPrice: "57900.0" } as const
    const { order } = placedOn({ ...stopLoss, type: "STOP_LIMIT", trigger })
    assert.deepStrictEqual(order.trigger, { ...trigger, price: "58000.0" })
    assert.isNull(order.price)
    assert.strictEqual(order.venueTif, "GTC")
    assert.strictEqual(placedOn(stopLoss).order.venueTif, "IOC")
  })

  const rows: ReadonlyArray<readonly [string, Partial<OrderBody>, string | null, string | null]> = [
    ["the least quantity", { qty: "0.0001" }, null, null],
    ["half a lot", { qty: "0.00005" }, "qty", "The quantity must be at least 0.0001."],
    ["between two lots", { qty: "0.00011" }, "qty", "The quantity must be a multiple of 0.0001."],
    ["the largest quantity", { qty: "100" }, null, null],
    ["a lot more", { qty: "100.0001" }, "qty", "The quantity must be at most 100."],
    ["an absurd quantity", { qty: "9".repeat(18) }, "qty", "The quantity must be at most 100."],
    ["a price off the ticks", { price: "60000.01" }, "price", "The price must be a multiple of 0.1."],
    ["an absurd price", { price: "9".repeat(18) }, "price", "The price must be a multiple of 0.1."],
    ["of SPOT, on five cents", { ...spotOrder, qty: "0.002", price: "3000.05" }, null, null],
    ["of SPOT, off them", { ...spotOrder, price: "3000.06" }, "price", "The price must be a multiple of 0.05."],
    ["of SPOT, a lot but too small", { ...spotOrder, qty: "0.001" }, "qty", "The quantity must be at least 0.002."],
    [
      "a trigger off the ticks",
      { ...stopLoss, trigger: { source: "LAST", price: "58000.05", direction: "AT_OR_BELOW", limitPrice: null } },
      "trigger.price",
      "The trigger price must be a multiple of 0.1."
    ],
    [
      "a limit behind a trigger off the ticks",
      {
        ...stopLoss,
        type: "STOP_LIMIT",
        trigger: { source: "LAST", price: "58000", direction: "AT_OR_BELOW", limitPrice: "57999.99" }
      },
      "trigger.limitPrice",
      "The limit price must be a multiple of 0.1."
    ],
    [
      "a take profit off the ticks",
      { attach: { takeProfit: { price: "63000.01", limitPrice: null }, stopLoss: null } },
      "attach.takeProfit.price",
      "The take profit price must be a multiple of 0.1."
    ],
    [
      "the limit of a stop loss off the ticks",
      { attach: { takeProfit: null, stopLoss: { price: "58000", limitPrice: "57999.99" } } },
      "attach.stopLoss.limitPrice",
      "The limit price of the stop loss must be a multiple of 0.1."
    ]
  ]
  it.each(rows)("%s", (_, over, path, sentence) => {
    const { order, grid } = placedOn(over)
    const refusal =
      path === null ? null : { _tag: "Invalid", reason: "INVALID_FIELDS", sentence, errors: { [path]: sentence } }
    assert.deepStrictEqual<unknown>(grid, refusal)
    if (path === "qty") assert.strictEqual(order.qty, over.qty)
    if (path === "price") assert.strictEqual(order.price, over.price)
  })

  it("names all values that are off the grids, in the documented order", () => {
    const leg = { price: "0.01", limitPrice: "0.01" }
    const { grid } = placedOn({ qty: "1000", price: "0.01", attach: { takeProfit: leg, stopLoss: leg } })
    assert.strictEqual(grid?._tag, "Invalid")
    if (grid?._tag !== "Invalid") return
    assert.strictEqual(grid.sentence, "The quantity must be at most 100.")
    assert.deepStrictEqual(Object.keys(grid.errors ?? {}), [
      "qty",
      "price",
      "attach.takeProfit.price",
      "attach.takeProfit.limitPrice",
      "attach.stopLoss.price",
      "attach.stopLoss.limitPrice"
    ])
  })
})

describe("A2-93: fields that a SPOT market refuses", () => {
  const onSpot = (over: Partial<OrderBody>) => {
    const market = orderMarket(spot.symbol, listed)
    if (!market.ok) throw new Error("no market")
    const judged = orderOnMarket({ ...plainOrder, ...spotOrder, ...over }, market.value)
    return judged.ok ? null : judged
  }
  const conditional = (type: OrderBody["type"], side: OrderBody["side"]): Partial<OrderBody> => ({
    type,
    side,
    price: null,
    trigger: {
      source: "LAST",
      price: "2900",
      direction: "AT_OR_BELOW",
      limitPrice: type.endsWith("LIMIT") ? "2890" : null
    }
  })
  const leg = { price: "3100", limitPrice: null }

  const rows: ReadonlyArray<readonly [string, Partial<OrderBody>, string | null, string | null]> = [
    ["a limit buy", {}, null, null],
    ["a market buy", { type: "MARKET", price: null }, null, null],
    ["a stop that sells at the market", conditional("STOP_MARKET", "SELL"), null, null],
    ["a stop that buys up to a limit", conditional("STOP_LIMIT", "BUY"), null, null],
    [
      "a stop that buys at the market",
      conditional("STOP_MARKET", "BUY"),
      "type",
      "STOP_MARKET with the side BUY is not taken on a SPOT market."
    ],
    [
      "a take profit that buys at the market",
      conditional("TAKE_PROFIT_MARKET", "BUY"),
      "type",
      "TAKE_PROFIT_MARKET with the side BUY is not taken on a SPOT market."
    ],
    ["reduce-only", { reduceOnly: true }, "reduceOnly", "A reduce-only order is not taken on a SPOT market."],
    [
      "attached levels",
      { attach: { takeProfit: leg, stopLoss: null } },
      "attach",
      "Attached levels are not taken on a SPOT market."
    ],
    ["a group", { ocoGroup: "a" }, "ocoGroup", "An OCO group is not taken on a SPOT market."],
    ["a leverage", { leverage: 1 }, "leverage", "A leverage is not taken on a SPOT market."]
  ]
  it.each(rows)("%s", (_, over, path, sentence) => {
    const refusal = path === null ? null : { ok: false, sentence, errors: { [path]: sentence } }
    assert.deepStrictEqual<unknown>(onSpot(over), refusal)
  })

  it("all of it at once, in the documented order", () => {
    const judged = onSpot({
      ...conditional("STOP_MARKET", "BUY"),
      reduceOnly: true,
      attach: { takeProfit: leg, stopLoss: null },
      ocoGroup: "a",
      leverage: 2
    })
    assert.deepStrictEqual(Object.keys(judged?.errors ?? {}), ["type", "reduceOnly", "attach", "ocoGroup", "leverage"])
  })
})
