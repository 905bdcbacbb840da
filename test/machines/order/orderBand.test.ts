/** A2-91: the prices of an order that the venue's band refuses, each with its sentence. */
import { assert, describe, it } from "@effect/vitest"
import type { OrderBody } from "../../../src/machines/order/OrderBody.ts"
import { type OrderFacts, orderGates } from "../../../src/machines/order/orderGates.ts"
import { unbounded } from "../../../src/machines/order/preTrade.ts"
import { firstRefusal } from "../../../src/machines/shared/Gates.ts"
import { liveMark, orderFacts, ordersNow as now, spotOrder } from "../../fixtures/orders.ts"

const says = (body: Partial<OrderBody>, over: Partial<OrderFacts> = {}): string | null => {
  const refusal = firstRefusal(orderGates, orderFacts(body, over))
  return refusal !== null && "sentence" in refusal ? refusal.sentence : null
}

describe("A2-91: the venue's band", () => {
  const refused = (of: string, limits: string, middle: string, price: string) =>
    `The ${of} must lie between ${limits}, within 5.00 % of ${middle}: it is ${price}.`
  const atMarket = { type: "MARKET", price: null } as const
  const trigger = { source: "LAST", price: "58000", direction: "AT_OR_BELOW" } as const
  const stopAt = (limitPrice: string) =>
    ({ side: "SELL", type: "STOP_LIMIT", price: null, trigger: { ...trigger, limitPrice } }) as const
  const sentAt = (limit: string) => ({
    preTrade: { refPrice: "60000", sentence: null, compared: null, bound: { ...unbounded, limit } }
  })
  const protectedBy = (takeProfit: string | null, stopLoss: string | null): Partial<OrderBody> => ({
    attach: {
      takeProfit: takeProfit === null ? null : { price: "62000", limitPrice: takeProfit },
      stopLoss: stopLoss === null ? null : { price: "58000", limitPrice: stopLoss }
    }
  })
  const marked = "57000.0 and 63000.0"

  it.each<readonly [string, Partial<OrderBody>, Partial<OrderFacts>, string | null]>([
    ["a limit on its upper end", { price: "63000.0" }, {}, null],
    ["a limit on its lower end", { price: "57000.0" }, {}, null],
    ["a limit below", { price: "56999.9" }, {}, refused("price", marked, "the mark of 60000.0", "56999.9")],
    [
      "a limit beyond that would fill at a better price",
      { side: "SELL", price: "63000.1" },
      {},
      refused("price", marked, "the mark of 60000.0", "63000.1")
    ],
    [
      "on SPOT",
      { ...spotOrder, price: "3150.05" },
      {},
      refused("price", "2850.00 and 3150.00", "the mark of 3000.00", "3150.05")
    ],
    [
      "the bound of an order at the market",
      atMarket,
      sentAt("63000.1"),
      refused("worst price of the order", marked, "the mark of 60000.0", "63000.1")
    ],
    [
      "a mark that is not live",
      { side: "SELL", reduceOnly: true, price: "63000.1" },
      { marks: { market: { ...liveMark, at: now - 10_001 }, allUsedFresh: true } },
      null
    ],
    ["a conditional limit", stopAt("55100"), {}, null],
    [
      "a conditional limit too low",
      stopAt("55099.9"),
      {},
      refused("limit price", "55100.0 and 60900.0", "the trigger price of 58000.0", "55099.9")
    ],
    ["levels of a MARKET order", { ...atMarket, ...protectedBy("64000", "56000") }, sentAt("60300.0"), null],
    [
      "a take profit of a MARKET order that would wait too high",
      { ...atMarket, ...protectedBy("65100.1", null) },
      sentAt("60300.0"),
      refused("limit price of the take profit", "58900.0 and 65100.0", "its level of 62000.0", "65100.1")
    ],
    [
      "a stop loss too low, where no bound of reduce-only orders is known",
      protectedBy(null, "55099.9"),
      {},
      refused("limit price of the stop loss", "55100.0 and 60900.0", "its level of 58000.0", "55099.9")
    ]
  ])("%s", (_, body, over, sentence) => assert.strictEqual(says(body, over), sentence))
})
