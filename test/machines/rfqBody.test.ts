/**
 * The bodies of requests for quotes, of accepts and of requests to close: every field rule as a row with path and sentence,
 * each limit at, one below and one above (doc 2, RFQ request body and Limits; F2).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { decodeAccept, decodeClose, decodeRfq, type RfqBody } from "../../src/machines/rfq/RfqBody.ts"
import type { FieldErrors } from "../../src/machines/shared/Fields.ts"
import { withPaths } from "../support/Builders.ts"

const expiryTs = 1_795_140_000_000
const valid = {
  symbol: "BTC-USDC-KO",
  side: "BUY",
  qty: "0.5",
  premium: "950",
  barrier: { level: "58000", takeProfit: "62000", expiryTs, strictTakeProfit: true },
  expiresInMs: 30_000,
  autoAccept: false
}
const stored: RfqBody = {
  symbol: "BTC-USDC-KO",
  side: "BUY",
  qty: "0.5",
  premium: 950_000_000n,
  barrierLevel: "58000",
  takeProfit: "62000",
  expiryTs,
  strict: true,
  expiresInMs: 30_000,
  autoAccept: false
}

/** The body with a member changed, at a dotted path; undefined: without it. */
const changed = (path: string, value: unknown): object => withPaths<object>(valid, { [path]: value })
const errorsOf = (decided: { readonly ok: boolean; readonly errors?: FieldErrors }): FieldErrors => decided.errors ?? {}

const sides = "The side must be one of: BUY, SELL, LONG, SHORT."
const quantity = "The quantity must be a positive decimal string such as 0.5."
const level = "The barrier level must be a positive decimal string such as 58000.0."
const profit = "The take profit must be a positive decimal string such as 62000.0."
const expiry = "The expiry must be a positive integer of Unix milliseconds."
const strict = "The strict take profit must be true or false."
const window = "The quoting window must be a whole number of milliseconds from 1000 to 86400000."
const plain = "The premium must be a plain decimal number such as 12.50, without sign, exponent or grouping."
const itself = "Whether a quote is accepted by itself must be true or false."

const digits = (count: number) => "9".repeat(count)
/** What no quantity and no price is. */
const noDecimals = ["", "0", "0.000", "-1", "+1", "1e3", "1,5", ".5", "5.", "01", "0x10", "NaN", "½", 0.5, true, {}, []]
const tooLong = [digits(19), `1.${digits(19)}`]

const rows: ReadonlyArray<readonly [path: string, value: unknown, sentence: string | undefined]> = [
  ["symbol", undefined, "The symbol is required."],
  ["symbol", null, "The symbol is required."],
  ["symbol", "", "The symbol is required."],
  ["symbol", 7, "The symbol must be text."],
  ["symbol", "no such market", undefined],
  ["side", undefined, "The side is required."],
  ["side", null, "The side is required."],
  ...["buy", "Long", "", " BUY", 1, true].map((value) => ["side", value, sides] as const),
  ["qty", undefined, "The quantity is required."],
  ["qty", null, "The quantity is required."],
  ...[...noDecimals, ...tooLong].map((value) => ["qty", value, quantity] as const),
  ...[digits(18), `0.${"0".repeat(17)}1`, `${digits(18)}.${digits(18)}`].map(
    (value) => ["qty", value, undefined] as const
  ),
  ["premium", undefined, undefined],
  ["premium", null, undefined],
  ["premium", 950, "The premium must be a decimal string such as 12.50."],
  ["premium", "", plain],
  ["premium", "-1", plain],
  ["premium", "1e3", plain],
  ["premium", "0.000000", "The premium must be greater than zero."],
  ["premium", "0.000001", undefined],
  ["premium", "0.0000010", "The premium must have at most 6 decimal places for USDC."],
  ["premium", "9223372036854.775806", undefined],
  ["premium", "9223372036854.775807", undefined],
  ["premium", "9223372036854.775808", "The premium is too large."],
  ...["x", 7, true].map((value) => ["barrier", value, "The barrier must be an object."] as const),
  ["barrier.level", undefined, "The barrier level is required."],
  ["barrier.level", null, "The barrier level is required."],
  ...[...noDecimals, ...tooLong].map((value) => ["barrier.level", value, level] as const),
  ["barrier.level", digits(18), undefined],
  ...[...noDecimals, ...tooLong].map((value) => ["barrier.takeProfit", value, profit] as const),
  ["barrier.takeProfit", digits(18), undefined],
  ...[0, -1, 1.5, 2 ** 53, "1795140000000", true, {}].map((value) => ["barrier.expiryTs", value, expiry] as const),
  ["barrier.expiryTs", 1, undefined],
  ["barrier.expiryTs", 2 ** 53 - 1, undefined],
  ...["true", 0, 1, {}, []].map((value) => ["barrier.strictTakeProfit", value, strict] as const),
  ["barrier.strictTakeProfit", false, undefined],
  ["barrier.strictTakeProfit", null, undefined],
  ["expiresInMs", undefined, undefined],
  ["expiresInMs", null, undefined],
  ["expiresInMs", 999, window],
  ["expiresInMs", 1_000, undefined],
  ["expiresInMs", 1_001, undefined],
  ["expiresInMs", 86_399_999, undefined],
  ["expiresInMs", 86_400_000, undefined],
  ["expiresInMs", 86_400_001, window],
  ...[1_000.5, "60000", true, 0, -1, 1e300, {}].map((value) => ["expiresInMs", value, window] as const),
  ["autoAccept", null, undefined],
  ...["true", 1, {}].map((value) => ["autoAccept", value, itself] as const)
]

describe("doc 2, RFQ request body", () => {
  it("everything that was sent; LONG is BUY and SHORT is SELL", () => {
    for (const [side, taken] of [
      ["BUY", "BUY"],
      ["LONG", "BUY"],
      ["SELL", "SELL"],
      ["SHORT", "SELL"]
    ]) {
      assert.deepStrictEqual(decodeRfq({ ...valid, side }), { ok: true, body: { ...stored, side: taken as "BUY" } })
    }
  })

  it("the defaults: no budget, open-end, knock-out alone, a minute of quotes, accepted by the router", () => {
    const { symbol, side, qty } = valid
    const least = { symbol, side, qty, barrier: { level: " 58000 " } }
    const body = {
      ...stored,
      premium: null,
      takeProfit: null,
      expiryTs: null,
      strict: false,
      expiresInMs: 60_000,
      autoAccept: true
    }
    for (const rest of [{}, { premium: null, expiresInMs: null, autoAccept: null, unknown: 1 }]) {
      assert.deepStrictEqual(decodeRfq({ ...least, ...rest }), { ok: true, body })
    }
    const nulls = { level: "58000", takeProfit: null, expiryTs: null, strictTakeProfit: null }
    assert.deepStrictEqual(decodeRfq({ ...least, barrier: nulls }), { ok: true, body })
  })

  it.each(rows)("%s: %j", (path, value, sentence) => {
    const decided = decodeRfq(changed(path, value))
    assert.deepStrictEqual(errorsOf(decided), sentence === undefined ? {} : { [path]: sentence })
    assert.strictEqual(decided.ok, sentence === undefined)
  })

  it("doc 2: a strict take profit needs a price to touch and an end, each alone and both", () => {
    for (const [lacks, what] of [
      [["takeProfit"], "takeProfit"],
      [["expiryTs"], "expiryTs"],
      [["takeProfit", "expiryTs"], "takeProfit and expiryTs"]
    ] as const) {
      const barrier = { ...valid.barrier, ...Object.fromEntries(lacks.map((name) => [name, null])) }
      const sentence = `The strict take profit needs ${what}.`
      assert.deepStrictEqual(decodeRfq({ ...valid, barrier }), {
        ok: false,
        sentence,
        errors: { "barrier.strictTakeProfit": sentence }
      })
    }
  })

  it("doc 2: all failures together, in the documented order; without a barrier its level is what is missing", () => {
    const decided = decodeRfq({
      autoAccept: 1,
      expiresInMs: 1,
      barrier: { strictTakeProfit: 1, expiryTs: 0, takeProfit: "x", level: "x" },
      premium: "x",
      qty: "x",
      side: "x",
      symbol: ""
    })
    assert.deepStrictEqual(Object.keys(errorsOf(decided)), [
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
    assert.deepStrictEqual(Object.keys(errorsOf(decodeRfq({}))), ["symbol", "side", "qty", "barrier.level"])
  })

  it("whatever is sent is judged, and what is refused has a sentence", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (body, barrier) => {
        for (const sent of [body, { ...valid, barrier }]) {
          const decided = decodeRfq(sent)
          if (!decided.ok) assert.isNotEmpty(decided.sentence)
        }
      })
    )
  })
})

describe("doc 2, POST .../barriers/{contractId}/close", () => {
  it("doc 2: a minute, accepted by the router; the fields are those of a request to open", () => {
    assert.deepStrictEqual(decodeClose({}), { ok: true, body: { expiresInMs: 60_000, autoAccept: true } })
    assert.deepStrictEqual(decodeClose({ expiresInMs: 1_000, autoAccept: false }), {
      ok: true,
      body: { expiresInMs: 1_000, autoAccept: false }
    })
    assert.deepStrictEqual(errorsOf(decodeClose({ expiresInMs: 999, autoAccept: "no" })), {
      expiresInMs: window,
      autoAccept: itself
    })
  })
})

describe("doc 2, POST .../rfq/{rfqId}/accept", () => {
  const wrong = "The quote id must be a positive whole number."

  it.each([
    [1, undefined],
    [2 ** 53 - 1, undefined],
    [2 ** 53, undefined],
    [2 ** 63, undefined],
    [2 ** 63 + 2 ** 11, wrong],
    [0, wrong],
    [-1, wrong],
    [1.5, wrong],
    ["7", wrong],
    [true, wrong],
    [undefined, "The quote id is required."],
    [null, "The quote id is required."]
  ])("quoteId %s", (quoteId, sentence) => {
    const decided = decodeAccept(quoteId === undefined ? {} : { quoteId })
    assert.deepStrictEqual(errorsOf(decided), sentence === undefined ? {} : { quoteId: sentence })
    if (sentence === undefined) assert.deepStrictEqual(decided, { ok: true, quoteId: quoteId as number })
  })
})
