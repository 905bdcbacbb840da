/**
 * A2-13, A2-110 step 1: the bodies of requests for quotes, accepts and requests to close, field by field: accepted
 * values with their parsed form, refused values with their sentence and path (doc 2, RFQ request body; F2; A2-29).
 */
import { assert, describe, it } from "@effect/vitest"
import { decodeAccept } from "../../src/machines/rfq/AcceptBody.ts"
import { decodeClose } from "../../src/machines/rfq/CloseBody.ts"
import { decodeRfq, type RfqBody } from "../../src/machines/rfq/RfqBody.ts"
import { setAt } from "../fixtures/onboarding.ts"

const now = 1_764_000_000_000
const sent = { symbol: "BTC-USDC-KO", side: "BUY", qty: "0.5", barrier: { level: "59000" } }
const plain: RfqBody = {
  symbol: "BTC-USDC-KO",
  side: "BUY",
  qty: "0.5",
  premium: null,
  level: "59000",
  takeProfit: null,
  expiryTs: null,
  strict: false,
  expiresInMs: 60_000,
  autoAccept: true
}

const changed = (paths: Readonly<Record<string, unknown>>): object => {
  const body = structuredClone(sent)
  for (const [path, value] of Object.entries(paths)) setAt(body, path, value)
  return body
}
const strict = { "barrier.takeProfit": "61000", "barrier.expiryTs": now + 1, "barrier.strictTakeProfit": true }

describe("a request for quotes is accepted", () => {
  const rows: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>, Partial<RfqBody>]> = [
    ["with what it needs alone", {}, {}],
    [
      "with nulls for what is optional",
      {
        premium: null,
        expiresInMs: null,
        autoAccept: null,
        "barrier.takeProfit": null,
        "barrier.expiryTs": null,
        "barrier.strictTakeProfit": null
      },
      {}
    ],
    ["with members that nobody knows", { foo: 1, "barrier.foo": 1 }, {}],
    ["LONG", { side: "LONG" }, {}],
    ["SELL", { side: "SELL" }, { side: "SELL" }],
    ["SHORT", { side: "SHORT" }, { side: "SELL" }],
    [
      "with white space around",
      { symbol: " BTC-USDC-KO ", qty: " 1 ", "barrier.level": " 2 ", "barrier.takeProfit": " 3 ", premium: " 4 " },
      { qty: "1", level: "2", takeProfit: "3", premium: 4_000_000n }
    ],
    ["with a symbol that is none", { symbol: "no such market" }, { symbol: "no such market" }],
    [
      "with 18 digits before and after the point",
      { qty: `${"9".repeat(18)}.${"9".repeat(18)}` },
      { qty: `${"9".repeat(18)}.${"9".repeat(18)}` }
    ],
    ["with the least quantity of all", { qty: "0.000000000000000001" }, { qty: "0.000000000000000001" }],
    ["with a budget of a micro-USDC", { premium: "0.000001" }, { premium: 1n }],
    ["with the largest budget", { premium: "9223372036854.775807" }, { premium: 2n ** 63n - 1n }],
    ["with an expiry a millisecond ahead", { "barrier.expiryTs": now + 1 }, { expiryTs: now + 1 }],
    ["with a strict take profit", strict, { strict: true, takeProfit: "61000", expiryTs: now + 1 }],
    ["with the shortest window", { expiresInMs: 1_000 }, { expiresInMs: 1_000 }],
    ["with the longest window", { expiresInMs: 86_400_000 }, { expiresInMs: 86_400_000 }],
    ["without auto-accept", { autoAccept: false }, { autoAccept: false }]
  ]
  it.each(rows)("%s", (_, paths, stored) => {
    assert.deepStrictEqual(decodeRfq(changed(paths), { now }), { ok: true, body: { ...plain, ...stored } })
  })
})

const decimalRows = (path: string, label: string): ReadonlyArray<readonly [string, unknown, string]> => [
  ...[1, true, {}, []].map((value) => [path, value, `${label} must be a decimal string such as 12.50.`] as const),
  ...["", "-1", "+1", "1e3", "1,000", ".5", "5.", "01", "٣", "1".repeat(19), `1.${"1".repeat(19)}`].map(
    (value) =>
      [
        path,
        value,
        `${label} must be a plain decimal number such as 12.50, without sign, exponent or grouping.`
      ] as const
  ),
  ...["0", "0.000"].map((value) => [path, value, `${label} must be greater than zero.`] as const)
]

const window = "The quoting window must be a whole number from 1000 to 86400000."
const refused: ReadonlyArray<readonly [string, unknown, string]> = [
  ["symbol", undefined, "The market symbol is required."],
  ["symbol", null, "The market symbol is required."],
  ["symbol", " ", "The market symbol is required."],
  ["symbol", 5, "The market symbol must be text."],
  ["symbol", "S".repeat(41), "The market symbol must be at most 40 characters."],
  ["side", undefined, "The side is required."],
  ...["buy", "", 1, "B"].map((side) => ["side", side, "The side must be one of: BUY, SELL, LONG, SHORT."] as const),
  ["qty", undefined, "The quantity is required."],
  ...decimalRows("qty", "The quantity"),
  ["premium", 5, "The premium budget must be a decimal string such as 12.50."],
  [
    "premium",
    "-1",
    "The premium budget must be a plain decimal number such as 12.50, without sign, exponent or grouping."
  ],
  ["premium", "0.0", "The premium budget must be greater than zero."],
  ["premium", "0.0000001", "The premium budget must have at most 6 decimal places for USDC."],
  ["premium", "9223372036854.775808", "The premium budget is too large."],
  ["barrier.level", undefined, "The barrier level is required."],
  ...decimalRows("barrier.level", "The barrier level"),
  ...decimalRows("barrier.takeProfit", "The take profit"),
  ...["1", 0, -1, 1.5, true].map(
    (at) => ["barrier.expiryTs", at, "The expiry must be a positive integer of Unix milliseconds."] as const
  ),
  ["barrier.expiryTs", now, "The expiry must be in the future."],
  ["barrier.expiryTs", 1, "The expiry must be in the future."],
  ["barrier.strictTakeProfit", "true", "The strict take profit must be true or false."],
  ["barrier.strictTakeProfit", 1, "The strict take profit must be true or false."],
  ...[999, 86_400_001, 1_000.5, 0, -1, "60000", true].map((ms) => ["expiresInMs", ms, window] as const),
  ["autoAccept", "yes", "Auto-accept must be true or false."],
  ["autoAccept", 0, "Auto-accept must be true or false."]
]

describe("a request for quotes is refused", () => {
  it.each(refused)("%s of %j: %s", (path, value, sentence) => {
    assert.deepStrictEqual(decodeRfq(changed({ [path]: value }), { now }), {
      ok: false,
      sentence,
      errors: { [path]: sentence }
    })
  })

  it.each([
    ["missing", undefined, "The barrier level is required."],
    ["null", null, "The barrier level is required."],
    ["a text", "59000", "The barrier must be an object."],
    ["a list", [], "The barrier must be an object."]
  ])("a barrier that is %s is named at its level", (_, barrier, sentence) => {
    assert.deepStrictEqual(decodeRfq({ ...sent, barrier }, { now }), {
      ok: false,
      sentence,
      errors: { "barrier.level": sentence }
    })
  })

  it("a strict take profit needs the take profit and an explicit expiry", () => {
    const decoded = decodeRfq(changed({ "barrier.strictTakeProfit": true }), { now })
    assert.deepStrictEqual(decoded.ok ? {} : decoded.errors, {
      "barrier.takeProfit": "The take profit is required when it is strict.",
      "barrier.expiryTs": "The expiry is required with a strict take profit."
    })
  })

  it("every failing field is named, in the documented order, and the first one speaks", () => {
    const decoded = decodeRfq(
      {
        autoAccept: 1,
        expiresInMs: 1,
        barrier: { strictTakeProfit: 1, expiryTs: 1, takeProfit: 1, level: 1 },
        premium: 1,
        qty: 1,
        side: 1,
        symbol: 1
      },
      { now }
    )
    assert.isFalse(decoded.ok)
    if (decoded.ok) return
    assert.strictEqual(decoded.sentence, "The market symbol must be text.")
    assert.deepStrictEqual(Object.keys(decoded.errors), [
      "symbol",
      "side",
      "qty",
      "premium",
      "barrier.level",
      "barrier.takeProfit",
      "barrier.expiryTs",
      "barrier.strictTakeProfit",
      "expiresInMs",
      "autoAccept"
    ])
  })
})

const notAnObject = { ok: false, sentence: "The request body must be a JSON object.", errors: {} } as const
it.each([[null], [[]], ["text"], [5]])("a body that is %j is no object", (body) => {
  assert.deepStrictEqual(decodeRfq(body, { now }), notAnObject)
  assert.deepStrictEqual(decodeAccept(body), notAnObject)
  assert.deepStrictEqual(decodeClose(body), notAnObject)
})

describe("A1-14: a blank level or price is refused, never read as a missing one", () => {
  it.each(["premium", "barrier.level", "barrier.takeProfit"])("%s", (path) => {
    for (const blank of ["", " ", "\u200b"]) {
      const decoded = decodeRfq(changed({ [path]: blank }), { now })
      assert.include(decoded.ok ? [] : Object.keys(decoded.errors), path)
    }
  })
})

describe("doc 2, Barrier contracts: an accept", () => {
  it.each([[1], [Number.MAX_SAFE_INTEGER]])("of quote %d is accepted", (quoteId) => {
    assert.deepStrictEqual(decodeAccept({ quoteId, more: 1 }), { ok: true, body: { quoteId } })
  })

  const positive = "The quote id must be a positive integer."
  const ids: ReadonlyArray<readonly [unknown, string]> = [
    [undefined, "The quote id is required."],
    [null, "The quote id is required."],
    ...[0, -1, 1.5, "1", true, 2 ** 53, 2 ** 63].map((quoteId) => [quoteId, positive] as const)
  ]
  it.each(ids)("of quote %j is refused", (quoteId, sentence) => {
    assert.deepStrictEqual(decodeAccept(quoteId === undefined ? {} : { quoteId }), {
      ok: false,
      sentence,
      errors: { quoteId: sentence }
    })
  })
})

describe("A2-29: a request to close", () => {
  const usual = { autoAccept: true, expiresInMs: 60_000 }
  it.each([
    ["without a body", undefined, usual],
    ["with an empty one", {}, usual],
    ["with nulls", { autoAccept: null, expiresInMs: null }, usual],
    [
      "by hand, in the shortest window",
      { autoAccept: false, expiresInMs: 1_000 },
      { autoAccept: false, expiresInMs: 1_000 }
    ],
    ["in the longest window", { expiresInMs: 86_400_000 }, { ...usual, expiresInMs: 86_400_000 }]
  ])("%s is accepted", (_, body, taken) => {
    assert.deepStrictEqual(decodeClose(body), { ok: true, body: taken })
  })

  it.each([[999], [86_400_001], [1_000.5], ["60000"]])("in a window of %j is refused", (expiresInMs) => {
    assert.deepStrictEqual(decodeClose({ expiresInMs }), {
      ok: false,
      sentence: window,
      errors: { expiresInMs: window }
    })
  })

  it("every failing field is named", () => {
    const decoded = decodeClose({ expiresInMs: 1, autoAccept: 1 })
    assert.deepStrictEqual(decoded.ok ? [] : Object.keys(decoded.errors), ["autoAccept", "expiresInMs"])
  })
})
