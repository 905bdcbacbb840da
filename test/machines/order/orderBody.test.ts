/**
 * The bodies of orders, margin previews and choices of leverage, field by field and pair by pair: accepted values with
 * their parsed form, refused values with their sentence and path (doc 2, Place order request; F2; A2-35, A2-36, A2-50,
 * A2-93).
 */
import { assert, describe, it } from "@effect/vitest"
import { capSentence, decodeLeverage } from "../../../src/machines/order/LeverageBody.ts"
import { decodeOrder, type OrderBody } from "../../../src/machines/order/OrderBody.ts"
import {
  isConditional,
  isLimited,
  orderTypes,
  timesInForce,
  triggerDirectionOf,
  venueTifOf
} from "../../../src/machines/order/orderTokens.ts"
import { decodePreview } from "../../../src/machines/order/PreviewBody.ts"
import { setAt } from "../../fixtures/onboarding.ts"
import { plainOrder, sentOrder } from "../../fixtures/orders.ts"

type Paths = Readonly<Record<string, unknown>>

const changed = (paths: Paths): object => {
  const body = structuredClone(sentOrder)
  for (const [path, value] of Object.entries(paths)) setAt(body, path, value)
  return body
}

const market: Paths = { type: "MARKET", price: undefined }
/** A reduce-only stop to sell. */
const stop: Paths = {
  type: "STOP_MARKET",
  side: "SELL",
  price: undefined,
  reduceOnly: true,
  "trigger.source": "MARK",
  "trigger.price": "58000",
  "trigger.direction": "AT_OR_BELOW"
}
const stopLimit: Paths = { ...stop, type: "STOP_LIMIT", "trigger.limitPrice": "57900" }
const stopped: Partial<OrderBody> = {
  type: "STOP_MARKET",
  side: "SELL",
  price: null,
  reduceOnly: true,
  trigger: { source: "MARK", price: "58000", direction: "AT_OR_BELOW", limitPrice: null }
}

describe("an order is accepted", () => {
  const rows: ReadonlyArray<readonly [string, Paths, Partial<OrderBody>]> = [
    ["with what it needs alone", {}, {}],
    [
      "with nulls for what is optional",
      { tif: null, reduceOnly: null, trigger: null, attach: null, ocoGroup: null, leverage: null },
      {}
    ],
    ["with members that nobody knows", { foo: 1 }, {}],
    ["SELL", { side: "SELL" }, { side: "SELL" }],
    ["with white space around", { symbol: " BTC-USDC-PERP ", qty: " 1 ", price: " 2 " }, { qty: "1", price: "2" }],
    ["with a symbol that is none", { symbol: "no such market" }, { symbol: "no such market" }],
    ["with the least quantity of all", { qty: "0.000000000000000001" }, { qty: "0.000000000000000001" }],
    [
      "with 18 digits before and after the point",
      { price: `${"9".repeat(18)}.${"9".repeat(18)}` },
      { price: `${"9".repeat(18)}.${"9".repeat(18)}` }
    ],
    ...timesInForce.map((tif) => [`LIMIT with ${tif}`, { tif }, { tif }] as const),
    ["reduce-only", { reduceOnly: true }, { reduceOnly: true }],
    ["MARKET", market, { type: "MARKET", price: null }],
    ...(["GTC", "IOC", "FOK"] as const).map(
      (tif) => [`A2-35: MARKET with ${tif}`, { ...market, tif }, { type: "MARKET", price: null, tif }] as const
    ),
    ["STOP_MARKET", stop, stopped],
    ...(["IOC", "FOK"] as const).map(
      (tif) => [`A2-35: STOP_MARKET with ${tif}`, { ...stop, tif }, { ...stopped, tif }] as const
    ),
    ["STOP_MARKET with GTC, and null for its limit", { ...stop, tif: "GTC", "trigger.limitPrice": null }, stopped],
    [
      "STOP_LIMIT",
      stopLimit,
      {
        ...stopped,
        type: "STOP_LIMIT",
        trigger: { source: "MARK", price: "58000", direction: "AT_OR_BELOW", limitPrice: "57900" }
      }
    ],
    [
      "TAKE_PROFIT_LIMIT that opens",
      {
        type: "TAKE_PROFIT_LIMIT",
        price: undefined,
        "trigger.source": "LAST",
        "trigger.price": " 59000 ",
        "trigger.direction": "AT_OR_BELOW",
        "trigger.limitPrice": " 59001 "
      },
      {
        type: "TAKE_PROFIT_LIMIT",
        price: null,
        trigger: { source: "LAST", price: "59000", direction: "AT_OR_BELOW", limitPrice: "59001" }
      }
    ],
    [
      "with both legs",
      { "attach.takeProfit.price": "63000", "attach.stopLoss.price": " 58000 ", "attach.stopLoss.limitPrice": "57900" },
      {
        attach: { takeProfit: { price: "63000", limitPrice: null }, stopLoss: { price: "58000", limitPrice: "57900" } }
      }
    ],
    [
      "MARKET with one leg, and nulls",
      { ...market, "attach.takeProfit": null, "attach.stopLoss.price": "58000", "attach.stopLoss.limitPrice": null },
      { type: "MARKET", price: null, attach: { takeProfit: null, stopLoss: { price: "58000", limitPrice: null } } }
    ],
    ["in a group of one character", { ...stop, ocoGroup: "a" }, { ...stopped, ocoGroup: "a" }],
    [
      "in a group of forty of every kind",
      { ...stop, ocoGroup: `aZ09:_-${"x".repeat(33)}` },
      { ...stopped, ocoGroup: `aZ09:_-${"x".repeat(33)}` }
    ],
    ["in a group that only looks like ours", { ...stop, ocoGroup: "ATT:1" }, { ...stopped, ocoGroup: "ATT:1" }],
    ["at a leverage of 1", { leverage: 1 }, { leverage: 1 }],
    ["at any leverage: the cap is the market's", { leverage: 5_000 }, { leverage: 5_000 }]
  ]
  it.each(rows)("%s", (_, paths, stored) => {
    assert.deepStrictEqual(decodeOrder(changed(paths)), { ok: true, body: { ...plainOrder, ...stored } })
  })
})

const decimalRows = (path: string, label: string, base: Paths = {}) =>
  [
    ...[1, true, {}, []].map((value) => [value, `${label} must be a decimal string such as 12.50.`] as const),
    ...["", "-1", "+1", "1e3", "1,000", ".5", "5.", "01", "٣", "1".repeat(19), `1.${"1".repeat(19)}`].map(
      (value) =>
        [value, `${label} must be a plain decimal number such as 12.50, without sign, exponent or grouping.`] as const
    ),
    ...["0", "0.000"].map((value) => [value, `${label} must be greater than zero.`] as const)
  ].map(([value, sentence]) => [{ ...base, [path]: value }, path, sentence] as const)

const types = "LIMIT, MARKET, STOP_MARKET, STOP_LIMIT, TAKE_PROFIT_MARKET, TAKE_PROFIT_LIMIT"
const leg = { "attach.takeProfit.price": "63000" }
const groupShape = "The OCO group must be 1 to 40 letters, digits, colons, underscores or hyphens."
const groupUse = "The OCO group is taken with conditional reduce-only orders alone."
const wholeLeverage = "The leverage must be a whole number of at least 1."

const fields: ReadonlyArray<readonly [Paths, string, string]> = [
  [{ symbol: undefined }, "symbol", "The market symbol is required."],
  [{ symbol: null }, "symbol", "The market symbol is required."],
  [{ symbol: " " }, "symbol", "The market symbol is required."],
  [{ symbol: 5 }, "symbol", "The market symbol must be text."],
  [{ symbol: "S".repeat(41) }, "symbol", "The market symbol must be at most 40 characters."],
  [{ side: undefined }, "side", "The side is required."],
  ...["buy", "LONG", "", 1].map((side) => [{ side }, "side", "The side must be one of: BUY, SELL."] as const),
  [{ type: undefined }, "type", "The order type is required."],
  ...["limit", "TRAILING_STOP", 1].map(
    (type) => [{ type }, "type", `The order type must be one of: ${types}.`] as const
  ),
  [{ qty: undefined }, "qty", "The quantity is required."],
  ...decimalRows("qty", "The quantity"),
  ...decimalRows("price", "The price"),
  ...["gtc", "GTD", 1].map(
    (tif) => [{ tif }, "tif", "The time in force must be one of: GTC, IOC, FOK, POST_ONLY."] as const
  ),
  ...["true", 1].map((reduceOnly) => [{ reduceOnly }, "reduceOnly", "Reduce-only must be true or false."] as const),
  ...["58000", [], 5].map((trigger) => [{ ...stop, trigger }, "trigger", "The trigger must be an object."] as const),
  [{ ...stop, "trigger.source": undefined }, "trigger.source", "The trigger source is required."],
  [{ ...stop, "trigger.source": "BID" }, "trigger.source", "The trigger source must be one of: LAST, MARK, INDEX."],
  [{ ...stop, "trigger.price": undefined }, "trigger.price", "The trigger price is required."],
  ...decimalRows("trigger.price", "The trigger price", stop),
  [{ ...stop, "trigger.direction": undefined }, "trigger.direction", "The trigger direction is required."],
  [
    { ...stop, "trigger.direction": "UP" },
    "trigger.direction",
    "The trigger direction must be one of: AT_OR_ABOVE, AT_OR_BELOW."
  ],
  ...decimalRows("trigger.limitPrice", "The limit price", stopLimit),
  ...["63000", []].map((attach) => [{ attach }, "attach", "The attached levels must be an object."] as const),
  [{ "attach.takeProfit": "63000" }, "attach.takeProfit", "The take profit must be an object."],
  [{ "attach.takeProfit": {} }, "attach.takeProfit.price", "The take profit price is required."],
  ...decimalRows("attach.takeProfit.price", "The take profit price"),
  ...decimalRows("attach.takeProfit.limitPrice", "The limit price of the take profit", leg),
  [{ "attach.stopLoss": [] }, "attach.stopLoss", "The stop loss must be an object."],
  ...decimalRows("attach.stopLoss.price", "The stop loss price"),
  ...decimalRows("attach.stopLoss.limitPrice", "The limit price of the stop loss", { "attach.stopLoss.price": "1" }),
  ...["", " ", "a b", "a.b", "ä", "x".repeat(41)].map(
    (ocoGroup) => [{ ...stop, ocoGroup }, "ocoGroup", groupShape] as const
  ),
  [{ ...stop, ocoGroup: 5 }, "ocoGroup", "The OCO group must be text."],
  ...[0, -1, 1.5, "10", true, 2 ** 53].map((leverage) => [{ leverage }, "leverage", wholeLeverage] as const)
]

const trigger = { "trigger.source": "MARK", "trigger.price": "58000", "trigger.direction": "AT_OR_BELOW" }
const noAttach = "The attached levels are taken with the types LIMIT and MARKET alone."

const pairs: ReadonlyArray<readonly [Paths, string, string]> = [
  [{ price: undefined }, "price", "The price is required with the type LIMIT."],
  [{ price: null }, "price", "The price is required with the type LIMIT."],
  [{ type: "MARKET" }, "price", "A MARKET order takes no price."],
  [{ ...stop, price: "58000" }, "price", "A conditional order takes its prices by the trigger."],
  [{ ...market, tif: "POST_ONLY" }, "tif", "POST_ONLY is taken with the type LIMIT alone."],
  [{ ...stop, tif: "POST_ONLY" }, "tif", "POST_ONLY is taken with the type LIMIT alone."],
  [{ ...stopLimit, tif: "POST_ONLY" }, "tif", "POST_ONLY is taken with the type LIMIT alone."],
  [{ ...trigger }, "trigger", "A trigger is taken with conditional types alone."],
  [{ ...market, ...trigger }, "trigger", "A trigger is taken with conditional types alone."],
  ...orderTypes
    .filter(isConditional)
    .map(
      (type) =>
        [{ ...stop, type, trigger: undefined }, "trigger", `The trigger is required with the type ${type}.`] as const
    ),
  [{ ...stop, trigger: null }, "trigger", "The trigger is required with the type STOP_MARKET."],
  [{ ...stop, type: "STOP_LIMIT" }, "trigger.limitPrice", "The limit price is required with the type STOP_LIMIT."],
  [
    { ...stop, type: "TAKE_PROFIT_LIMIT", "trigger.direction": "AT_OR_ABOVE" },
    "trigger.limitPrice",
    "The limit price is required with the type TAKE_PROFIT_LIMIT."
  ],
  [
    { ...stopLimit, type: "STOP_MARKET" },
    "trigger.limitPrice",
    "The limit price is not taken with the type STOP_MARKET."
  ],
  [
    { ...stop, "trigger.direction": "AT_OR_ABOVE" },
    "trigger.direction",
    "The trigger direction of STOP_MARKET with the side SELL must be AT_OR_BELOW."
  ],
  [
    { ...stop, side: "BUY" },
    "trigger.direction",
    "The trigger direction of STOP_MARKET with the side BUY must be AT_OR_ABOVE."
  ],
  [
    { ...stop, type: "TAKE_PROFIT_MARKET" },
    "trigger.direction",
    "The trigger direction of TAKE_PROFIT_MARKET with the side SELL must be AT_OR_ABOVE."
  ],
  [{ ...stop, reduceOnly: false, ...leg }, "attach", noAttach],
  [{ ...stop, ...leg }, "attach", noAttach],
  [{ reduceOnly: true, ...leg }, "attach", "The attached levels are not taken with a reduce-only order."],
  ...[{}, { takeProfit: null }].map(
    (attach) => [{ attach }, "attach", "The attached levels must have a take profit or a stop loss."] as const
  ),
  [{ ocoGroup: "a" }, "ocoGroup", groupUse],
  [{ reduceOnly: true, ocoGroup: "a" }, "ocoGroup", groupUse],
  [{ ...stop, reduceOnly: false, ocoGroup: "a" }, "ocoGroup", groupUse],
  ...["att:", "att:12", " att:12 "].map(
    (ocoGroup) =>
      [
        { ...stop, ocoGroup },
        "ocoGroup",
        "The OCO group must not begin with att:, as the groups of attached levels do."
      ] as const
  )
]

describe("an order is refused", () => {
  const refusal = (path: string, sentence: string) => ({
    ok: false as const,
    sentence,
    errors: { [path]: sentence }
  })

  it.each(fields)("a field: %j at %s: %s", (paths, path, sentence) => {
    assert.deepStrictEqual(decodeOrder(changed(paths)), refusal(path, sentence))
  })

  it.each(pairs)("A2-93: fields that exclude each other: %j at %s: %s", (paths, path, sentence) => {
    assert.deepStrictEqual(decodeOrder(changed(paths)), refusal(path, sentence))
  })

  it("for all of its fields at once, in the documented order", () => {
    const judged = decodeOrder({
      leverage: 0,
      ocoGroup: "",
      attach: { stopLoss: { limitPrice: 1 }, takeProfit: { price: "0" } },
      trigger: { limitPrice: 1 },
      reduceOnly: 1,
      tif: "",
      price: 1
    })
    assert.isFalse(judged.ok)
    if (judged.ok) return
    assert.strictEqual(judged.sentence, "The market symbol is required.")
    assert.deepStrictEqual(Object.keys(judged.errors), [
      "symbol",
      "side",
      "type",
      "qty",
      "price",
      "tif",
      "reduceOnly",
      "trigger.source",
      "trigger.price",
      "trigger.direction",
      "trigger.limitPrice",
      "attach.takeProfit.price",
      "attach.stopLoss.price",
      "attach.stopLoss.limitPrice",
      "ocoGroup",
      "leverage"
    ])
  })

  it.each([undefined, null, [], "order", 5])("%j is no body", (body) => {
    assert.deepStrictEqual(decodeOrder(body), {
      ok: false,
      sentence: "The request body must be a JSON object.",
      errors: {}
    })
  })
})

describe("A1-14: a blank price or level is refused, never read as a missing one", () => {
  it.each([
    ["price", {}],
    ["trigger.price", stop],
    ["trigger.limitPrice", stop],
    ["trigger.limitPrice", stopLimit],
    ["attach.takeProfit.price", { "attach.stopLoss.price": "58000" }],
    ["attach.stopLoss.price", { "attach.takeProfit.price": "63000" }],
    ["attach.stopLoss.limitPrice", { "attach.stopLoss.price": "58000" }]
  ] as ReadonlyArray<readonly [string, Paths]>)("%s", (path, paths) => {
    for (const blank of ["", " ", "\u200b"]) {
      const decoded = decodeOrder(changed({ ...paths, [path]: blank }))
      assert.include(decoded.ok ? [] : Object.keys(decoded.errors), path)
    }
  })
})

describe("A2-35, A2-36: the meaning of the types", () => {
  it.each([
    ["STOP_MARKET", "BUY", "AT_OR_ABOVE"],
    ["STOP_LIMIT", "BUY", "AT_OR_ABOVE"],
    ["STOP_MARKET", "SELL", "AT_OR_BELOW"],
    ["STOP_LIMIT", "SELL", "AT_OR_BELOW"],
    ["TAKE_PROFIT_MARKET", "BUY", "AT_OR_BELOW"],
    ["TAKE_PROFIT_LIMIT", "BUY", "AT_OR_BELOW"],
    ["TAKE_PROFIT_MARKET", "SELL", "AT_OR_ABOVE"],
    ["TAKE_PROFIT_LIMIT", "SELL", "AT_OR_ABOVE"]
  ] as const)("%s with %s is triggered %s", (type, side, direction) => {
    assert.strictEqual(triggerDirectionOf(type, side), direction)
    assert.strictEqual(isLimited(type), type.endsWith("_LIMIT"))
  })

  it.each([
    ...timesInForce.map((tif) => ["LIMIT", tif, tif] as const),
    ["MARKET", "GTC", "IOC"],
    ["MARKET", "IOC", "IOC"],
    ["MARKET", "FOK", "FOK"],
    ...(["STOP_MARKET", "TAKE_PROFIT_MARKET"] as const).flatMap(
      (type) =>
        [
          [type, "GTC", "IOC"],
          [type, "IOC", "IOC"],
          [type, "FOK", "FOK"]
        ] as const
    ),
    ...(["GTC", "IOC", "FOK"] as const).flatMap(
      (tif) =>
        [
          ["STOP_LIMIT", tif, tif],
          ["TAKE_PROFIT_LIMIT", tif, tif]
        ] as const
    )
  ] as const)("%s with %s is sent to the venue with %s", (type, tif, sent) => {
    assert.strictEqual(venueTifOf(type, tif), sent)
  })
})

describe("a margin preview", () => {
  it.each([{}, market, stop, stopLimit, { leverage: 3 }, { attach: { stopLoss: { price: "1" } } }])(
    "accepts the order %j",
    (paths) => {
      assert.deepStrictEqual(decodePreview(changed(paths)), decodeOrder(changed(paths)))
    }
  )

  it("leaves out the group, whatever it is", () => {
    assert.deepStrictEqual(decodePreview(changed({ ocoGroup: {} })), { ok: true, body: plainOrder })
  })

  it.each(pairs.filter(([, path]) => path !== "ocoGroup"))("refuses %j as the order", (paths) => {
    assert.deepStrictEqual(decodePreview(changed(paths)), decodeOrder(changed(paths)))
  })

  it("is refused without a body", () => assert.isFalse(decodePreview(undefined).ok))
})

describe("A2-50: a choice of leverage", () => {
  const choice = { symbol: "BTC-USDC-PERP", leverage: 5 }
  it.each([
    ["with what it needs alone", choice, { ...choice, force: false }],
    ["with force", { ...choice, force: true }, { ...choice, force: true }],
    ["with null for it", { ...choice, force: null }, { ...choice, force: false }],
    ["of 1", { ...choice, leverage: 1 }, { ...choice, leverage: 1, force: false }],
    ["with white space around", { ...choice, symbol: " X " }, { symbol: "X", leverage: 5, force: false }]
  ])("is accepted %s", (_, sent, body) => {
    assert.deepStrictEqual(decodeLeverage(sent), { ok: true, body })
  })

  it.each<readonly [string, unknown, string]>([
    ["symbol", undefined, "The market symbol is required."],
    ["leverage", undefined, "The leverage is required."],
    ...[0, -5, 2.5, "5", false, 2 ** 53].map((leverage) => ["leverage", leverage, wholeLeverage] as const),
    ["force", "yes", "Force must be true or false."]
  ])("%s of %j: %s", (path, value, sentence) => {
    const body: Record<string, unknown> = { ...choice }
    setAt(body, path, value)
    assert.deepStrictEqual(decodeLeverage(body), { ok: false, sentence, errors: { [path]: sentence } })
  })

  it("is at most the cap", () => {
    assert.isNull(capSentence(10, 10))
    assert.strictEqual(capSentence(11, 10), "The leverage must be at most 10 in this market.")
  })
})
