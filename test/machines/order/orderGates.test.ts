/**
 * A2-91: the gates of placing, explaining and previewing an order in their one order, each on both sides; A2-90:
 * closing orders skip the gates against new risk; A2-36, A2-39, A2-40, A2-49, A2-51, A2-94.
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"
import { restrictionNames, restrictionSentences } from "../../../src/machines/client/Restriction.ts"
import type { OrderBody } from "../../../src/machines/order/OrderBody.ts"
import { closes, type OrderFacts, orderGates, previewGates } from "../../../src/machines/order/orderGates.ts"
import { marginPreviewOf, noFigures, previewRefusal } from "../../../src/machines/order/orderPreview.ts"
import { MarginPreviewWire } from "../../../src/machines/order/OrderWire.ts"
import { firstRefusal, walkGates } from "../../../src/machines/shared/Gates.ts"
import { notOffered, type Refusal, unverified } from "../../../src/machines/shared/Refusal.ts"
import { preTradeSentences, unbounded } from "../../../src/machines/order/preTrade.ts"
import { invalidWhole } from "../../../src/machines/shared/RequestBody.ts"
import { blockCodes } from "../../../src/machines/verification/Blocks.ts"
import {
  liveMark,
  liveSpotMark,
  orderFacts,
  ordersNow as now,
  perpetual,
  plainOrder,
  spotOrder,
  stopLoss
} from "../../fixtures/orders.ts"

const { client } = orderFacts()
const sentenceOf = (refusal: Refusal | null): string | null =>
  refusal !== null && "sentence" in refusal ? refusal.sentence : null
const refusalOf = (body: Partial<OrderBody>, over: Partial<OrderFacts> = {}) =>
  firstRefusal(orderGates, orderFacts(body, over))
const says = (body: Partial<OrderBody>, over: Partial<OrderFacts> = {}) => sentenceOf(refusalOf(body, over))

const stale = "The market has no live price at the moment: try again shortly."
const usedStale = "A market that the account holds a position in has no live price at the moment: try again shortly."
const offGrid = invalidWhole("INVALID_FIELDS", "The price must be a multiple of 0.1.")
const noMoney = {
  refPrice: "60000",
  sentence: preTradeSentences.short,
  compared: { figure: "2", limit: "1" },
  bound: unbounded
}
const worth = (refPrice: string) => ({ preTrade: { refPrice, sentence: null, compared: null, bound: unbounded } })
/** A reduce-only order may trade up to 4.94 % from the mark. */
const reducing = (worst: string) => ({
  preTrade: {
    refPrice: "60000.0",
    sentence: null,
    compared: null,
    bound: { limit: worst, bps: null, worst, reducingBps: 494 }
  }
})
const attach = { takeProfit: { price: "59999", limitPrice: null }, stopLoss: { price: "60001", limitPrice: null } }

type Row = readonly [gate: string, over: Partial<OrderFacts>, tag: Refusal["_tag"], sentence: string | null]

/** In the order of the list: the case that each gate refuses, and its refusal. */
const rows: ReadonlyArray<Row> = [
  ["account", { client: { ...client, lifecycle: "CLOSED" } }, "Conflict", "The account is closed."],
  ["verification", { client: { ...client, level: "MICA" } }, "Unverified", null],
  ["leverage", { leverage: { sent: 5, inForce: 10, cap: 10 } }, "LeverageMismatch", null],
  [
    "restriction",
    { client: { ...client, lifecycle: "RESTRICTED" } },
    "Invalid",
    "The account is under review, so new positions may not be opened."
  ],
  ["partner", { partnerState: "SUSPENDED" }, "Invalid", "The partner is SUSPENDED: new positions may not be opened."],
  ["venue", { venueConnected: false }, "VenueAway", "The venue can not be reached: nothing was done."],
  ["halt", { halt: "Maintenance." }, "Invalid", "Trading in this market is halted: Maintenance."],
  [
    "delisted",
    { market: { ...perpetual, delisted: true } },
    "Invalid",
    "The market is delisted: no new positions may be opened in it."
  ],
  ["mark", { marks: { market: null, allUsedFresh: true } }, "Invalid", stale],
  ["usedMarks", { marks: { market: liveMark, allUsedFresh: false } }, "Invalid", usedStale],
  ["grid", { grid: offGrid }, "Invalid", "The price must be a multiple of 0.1."],
  ["minimumNotional", worth("1"), "Invalid", "The order is worth less than the market's minimum of 10 USDC."],
  ["largestNotional", worth("9223372036855"), "Invalid", "The order is too large."],
  [
    "trigger",
    { prices: { last: "1", mark: "58000.0", index: "1" } },
    "Invalid",
    "The order would trigger at once: the mark price is 58000.0."
  ],
  ["takeProfit", {}, "Invalid", "The take profit of a BUY order must be above its price of 60000.0."],
  ["stopLoss", {}, "Invalid", "The stop loss of a BUY order must be below its price of 60000.0."],
  [
    "ocoGroup",
    { group: { members: 20, fired: false } },
    "Invalid",
    "The OCO group has 20 members, which is the most there may be."
  ],
  ["reduceOnly", { netQty: "0" }, "Invalid", "There is no position that the order could reduce."],
  [
    "bound",
    reducing("57036.0"),
    "Invalid",
    "The limit of an order that only reduces may lie at most 4.94 % beyond the mark, at 57036.0: it is 57035.9."
  ],
  [
    "band",
    {},
    "Invalid",
    "The price must lie between 57000.0 and 63000.0, within 5.00 % of the mark of 60000.0: it is 63000.1."
  ],
  [
    "workingOrders",
    { workingOrders: 500 },
    "Invalid",
    "The client has 500 working orders, which is the most there may be."
  ],
  ["preTrade", { preTrade: noMoney }, "Invalid", preTradeSentences.short]
]

/** A reduce-only sale, one tick too low. */
const beyond = { side: "SELL", price: "57035.9", reduceOnly: true } as const

/** The order of a row, in a form that its gate checks: with a trigger, levels or a group, or reduce-only. */
const bodyFor = (gate: string): Partial<OrderBody> => {
  if (gate === "trigger") return { ...stopLoss, reduceOnly: false }
  if (gate === "takeProfit") return { attach: { ...attach, stopLoss: null } }
  if (gate === "stopLoss") return { attach: { ...attach, takeProfit: null } }
  if (gate === "ocoGroup") return { ...stopLoss, ocoGroup: "a" }
  if (gate === "bound") return beyond
  if (gate === "band") return { price: "63000.1" }
  return gate === "reduceOnly" ? { ...stopLoss } : {}
}

describe("A2-91: the order of the gates", () => {
  it("is the contract's, and a preview's except for its own leverage", () => {
    const names = rows.map(([gate]) => gate)
    assert.deepStrictEqual(
      orderGates.map(({ gate }) => gate),
      names
    )
    assert.deepStrictEqual(
      previewGates.map(({ gate }) => gate),
      names
    )
    assert.isNull(refusalOf({}))
  })

  it.each(rows)("%s refuses, and explain says so", (gate, over, tag, sentence) => {
    const facts = orderFacts(bodyFor(gate), over)
    const refusal = firstRefusal(orderGates, facts)
    assert.strictEqual(refusal?._tag, tag)
    assert.strictEqual(sentenceOf(refusal), sentence)
    const walked = walkGates(orderGates, facts)
    const failed = walked.findIndex(({ result }) => result === "failed")
    assert.strictEqual(walked[failed]?.gate, gate)
    assert.deepStrictEqual(walked[failed]?.refusal, refusal)
  })

  it("the first of several answers, whichever they are", () => {
    const all = { ...plainOrder, attach }
    // The gates after the take profit concern other kinds of order, or money.
    const judged = rows.filter(
      ([gate]) => !["trigger", "ocoGroup", "reduceOnly", "bound", "band", "minimumNotional"].includes(gate)
    )
    fc.assert(
      fc.property(fc.subarray([...judged], { minLength: 1 }), (some) => {
        const over = some.toReversed().reduce<Partial<OrderFacts>>((found, [, facts]) => ({ ...found, ...facts }), {})
        const body = some.some(([gate]) => gate === "takeProfit" || gate === "stopLoss") ? all : {}
        const names = new Set(some.map(([gate]) => gate))
        if (names.has("stopLoss")) names.add("takeProfit")
        const first = judged.find(([gate]) => names.has(gate))?.[0]
        const failed = walkGates(orderGates, orderFacts(body, over)).find(({ result }) => result === "failed")
        assert.strictEqual(failed?.gate, first)
      })
    )
  })
})

describe("A2-91: the compared figures of a refusal", () => {
  const shown = (body: Partial<OrderBody>, over: Partial<OrderFacts> = {}) =>
    Object.fromEntries(
      walkGates(orderGates, orderFacts(body, over)).flatMap(({ gate, compared }) =>
        compared === null ? [] : [[gate, `${compared.figure} / ${compared.limit}`]]
      )
    )
  const always = { account: "ACTIVE / not CLOSED", venue: "connected / connected", workingOrders: "0 / fewer than 500" }
  const opening = {
    restriction: "ACTIVE, NORMAL / ACTIVE, not CLOSE_OUT",
    partner: "ACTIVE / ACTIVE",
    halt: "trading / trading",
    delisted: "listed / listed",
    mark: "live / live",
    usedMarks: "live / live"
  }

  it("of an order that opens, with levels and a leverage", () => {
    const levels = { takeProfit: { price: "63000", limitPrice: null }, stopLoss: { price: "58000", limitPrice: null } }
    const bound = { ...unbounded, limit: "60300.0", reducingBps: 494 }
    const compared = { figure: "3015.000000", limit: "5000.000000" }
    const preTrade = { refPrice: "60000.0", sentence: null, compared, bound }
    assert.deepStrictEqual(shown({ leverage: 10, attach: levels }, { preTrade }), {
      ...always,
      ...opening,
      verification: "MICA_MIFID / MICA_MIFID",
      leverage: "10 / 10",
      minimumNotional: "30000 / 10",
      takeProfit: "63000.0 / above 60000.0",
      stopLoss: "58000.0 / below 60000.0",
      bound: "60000.0 / at most 60300.0",
      band: "60000.0 / 57000.0 to 63000.0",
      preTrade: "3015.000000 / 5000.000000"
    })
  })

  it("of a stop in a group that may only reduce", () => {
    assert.deepStrictEqual(shown({ ...stopLoss, ocoGroup: "a" }, { group: { members: 1, fired: false } }), {
      ...always,
      trigger: "60000.0 / above 58000.0",
      ocoGroup: "1 / fewer than 20",
      reduceOnly: "0.5000 / 1.0000"
    })
  })

  it("of a stop that buys on SPOT", () => {
    const trigger = { source: "LAST", price: "61000", direction: "AT_OR_ABOVE", limitPrice: "61100" } as const
    assert.deepStrictEqual(shown({ ...spotOrder, type: "STOP_LIMIT", price: null, trigger }), {
      ...always,
      ...opening,
      verification: "MICA_MIFID / MICA",
      minimumNotional: "30550 / 10",
      trigger: "60000.2 / below 61000.00",
      band: "61100.00 / 57950.00 to 64050.00"
    })
  })
})

/** A market sale of the held quantity. */
const atOnce = { side: "SELL", type: "MARKET", qty: "0.1", price: null, reduceOnly: true } as const
const full = "The client has 500 working orders, which is the most there may be."

describe("each gate from its other side", () => {
  it.each<readonly [string, Partial<OrderBody>, Partial<OrderFacts>, string | null]>([
    ["A2-51: the hint that is in force", { leverage: 10 }, {}, null],
    ["F3: a mark of 10 s", {}, { marks: { market: { ...liveMark, at: now - 10_000 }, allUsedFresh: true } }, null],
    ["F3: a mark of more", {}, { marks: { market: { ...liveMark, at: now - 10_001 }, allUsedFresh: true } }, stale],
    ["F3: a spot BUY in USDC", spotOrder, { marks: { market: liveMark, allUsedFresh: false } }, usedStale],
    ["A2-91: a margin call", {}, { risk: { riskState: "MARGIN_CALL", recorded: "MARGIN_CALL" } }, null],
    [
      "A2-52: a close-out that live marks imply",
      {},
      { risk: { riskState: "CLOSE_OUT", recorded: "NORMAL" } },
      restrictionSentences.CLOSE_OUT
    ],
    [
      "A2-52: a close-out that is recorded",
      {},
      { risk: { riskState: "NORMAL", recorded: "CLOSE_OUT" } },
      restrictionSentences.CLOSE_OUT
    ],
    [
      "exactly the minimum notional",
      { qty: "0.0001", price: "60000" },
      { market: { ...perpetual, minNotional: "6" } },
      null
    ],
    [
      "a tick less",
      { qty: "0.0001", price: "59999.9" },
      { market: { ...perpetual, minNotional: "6" } },
      "The order is worth less than the market's minimum of 6 USDC."
    ],
    ["A2-91: a small rest that reduces", { ...stopLoss, qty: "0.0001" }, {}, null],
    ["without any price", {}, { preTrade: { refPrice: null, sentence: null, compared: null, bound: unbounded } }, null],
    ["A2-94: the largest notional", { qty: "1" }, worth("4611686018427.387903"), null],
    ["A2-94: a little more", { qty: "1" }, worth("4611686018427.387904"), "The order is too large."],
    [
      "A2-94: what a better fill could reach",
      { qty: "1", price: "0.1" },
      { ...worth("100"), prices: { last: null, mark: "4611686018428", index: null } },
      "The order is too large."
    ],
    ["A2-94: 499 working orders", {}, { workingOrders: 499 }, null],
    ["F9: what closes at once, however many work", atOnce, { workingOrders: 500 }, null],
    [
      "A2-94: what would rest closing",
      { ...atOnce, type: "LIMIT", tif: "GTC", price: "61000" },
      { workingOrders: 500 },
      full
    ],
    ["A2-94: what closes at its price", stopLoss, { workingOrders: 500 }, full],
    ["A2-94: 19 members", { ...stopLoss, ocoGroup: "a" }, { group: { members: 19, fired: false } }, null],
    [
      "A2-93: a group that has fired",
      { ...stopLoss, ocoGroup: "a" },
      { group: { members: 1, fired: true } },
      "A member of the OCO group has been filled: nothing can join it."
    ]
  ])("%s", (_, body, over, sentence) => assert.strictEqual(says(body, over), sentence))

  it("F3: a spot BUY in another currency needs no mark but its own", () => {
    const facts = orderFacts(spotOrder, { marks: { market: liveSpotMark, allUsedFresh: false } })
    assert.isNull(firstRefusal(orderGates, { ...facts, order: { ...facts.order, quote: "EUR" } }))
  })

  it("A2-94: a quantity of an asset that leaves 64 bits", () => {
    const facts = orderFacts(spotOrder)
    const order = { ...facts.order, qty: "92233720368.54775808" }
    const tiny = { ...worth("0.01"), prices: { last: null, mark: null, index: null } }
    const gate = (qty: string) => sentenceOf(firstRefusal(orderGates, { ...facts, ...tiny, order: { ...order, qty } }))
    assert.isNull(gate("92233720368.54775807"))
    assert.strictEqual(gate("92233720368.54775808"), "The order is too large.")
  })

  it.each(restrictionNames)("A2-52: %s refuses with its sentence", (name) => {
    const restricted = { ...client, lifecycle: "RESTRICTED" as const, restrictions: [name] }
    assert.strictEqual(says({}, { client: restricted }), restrictionSentences[name])
  })

  it("A2-51: a hint that is not in force is refused with the leverage in force", () => {
    assert.deepStrictEqual(refusalOf({ leverage: 3 }), { _tag: "LeverageMismatch", sent: 3, stored: 10 })
  })
})

describe("A2-36: a trigger that would fire at once", () => {
  const at = (direction: "AT_OR_ABOVE" | "AT_OR_BELOW", source: "LAST" | "MARK" | "INDEX", price: string) =>
    says({
      ...stopLoss,
      reduceOnly: false,
      side: direction === "AT_OR_BELOW" ? "SELL" : "BUY",
      trigger: { source, price, direction, limitPrice: null }
    })
  const atOnce = (source: string, price: string) => `The order would trigger at once: the ${source} price is ${price}.`

  it.each([
    ["AT_OR_ABOVE", "LAST", "60000.3", null],
    ["AT_OR_ABOVE", "LAST", "60000.2", atOnce("last", "60000.2")],
    ["AT_OR_ABOVE", "MARK", "60000.1", null],
    ["AT_OR_ABOVE", "MARK", "60000", atOnce("mark", "60000.0")],
    ["AT_OR_BELOW", "INDEX", "59999.8", null],
    ["AT_OR_BELOW", "INDEX", "59999.9", atOnce("index", "59999.9")],
    ["AT_OR_BELOW", "MARK", "60000.1", atOnce("mark", "60000.0")]
  ] as const)("MATCH-007: %s %s %s", (direction, source, price, sentence) => {
    assert.strictEqual(at(direction, source, price), sentence)
  })

  it("is the venue's to judge without a price", () => {
    assert.isNull(says(stopLoss, { prices: { last: "1", mark: null, index: "1" } }))
  })
})

describe("A2-40: attached levels", () => {
  const level = (name: "takeProfit" | "stopLoss", side: "BUY" | "SELL", price: string) =>
    says({ side, attach: { takeProfit: null, stopLoss: null, [name]: { price, limitPrice: null } } })
  const wrong = (words: string, side: string, where: string) =>
    `The ${words} of a ${side} order must be ${where} its price of 60000.0.`

  it.each([
    ["takeProfit", "BUY", "60000.1", null],
    ["takeProfit", "BUY", "60000", wrong("take profit", "BUY", "above")],
    ["stopLoss", "BUY", "59999.9", null],
    ["stopLoss", "BUY", "60000", wrong("stop loss", "BUY", "below")],
    ["takeProfit", "SELL", "59999.9", null],
    ["takeProfit", "SELL", "60000", wrong("take profit", "SELL", "below")],
    ["stopLoss", "SELL", "60000.1", null],
    ["stopLoss", "SELL", "60000", wrong("stop loss", "SELL", "above")]
  ] as const)("%s of a %s at %s", (name, side, price, sentence) => {
    assert.strictEqual(level(name, side, price), sentence)
  })

  it("of a MARKET order are compared with its possible price", () => {
    const takeProfit = { price: "60100", limitPrice: null }
    const body = { type: "MARKET", price: null, attach: { takeProfit, stopLoss: null } } as const
    assert.isNull(says(body, worth("60099.9")))
    assert.strictEqual(
      says(body, worth("60100.0")),
      "The take profit of a BUY order must be above its price of 60100.0."
    )
  })
})

describe("A2-39: what may only reduce", () => {
  const tooMuch = (netQty: string) => `A reduce-only order may be at most as large as the position, which is ${netQty}.`
  const none = "There is no position that the order could reduce."
  it.each([
    ["SELL", "0.5000", null],
    ["SELL", "0.4999", tooMuch("0.4999")],
    ["SELL", "-1.0000", none],
    ["SELL", "0", none],
    ["BUY", "-0.5000", null],
    ["BUY", "-0.4999", tooMuch("-0.4999")],
    ["BUY", "1.0000", none]
  ] as const)("MATCH-008: %s half of %s", (side, netQty, sentence) => {
    assert.strictEqual(says({ side, reduceOnly: true }, { netQty }), sentence)
  })
})

describe("A2-90: what closes", () => {
  const sale: Partial<OrderBody> = { ...spotOrder, side: "SELL" }
  const reducing: Partial<OrderBody> = { side: "SELL", reduceOnly: true }
  const spared = ["restriction", "partner", "halt", "delisted", "mark", "usedMarks"]

  it("is what may only reduce, and the sale of an asset", () => {
    const of = (body: Partial<OrderBody>) => closes(orderFacts(body).order)
    assert.deepStrictEqual([of(reducing), of(sale), of(spotOrder), of({ side: "SELL" })], [true, true, false, false])
  })

  it.each(rows.filter(([gate]) => spared.includes(gate)))("does not apply to %s", (gate, over) => {
    for (const body of [reducing, { ...sale, type: "MARKET", price: null } as const]) {
      const facts = orderFacts(body, over)
      assert.isNull(firstRefusal(orderGates, facts))
      const walked = walkGates(orderGates, facts).find((result) => result.gate === gate)
      assert.deepInclude(walked, { result: "passed", compared: null })
    }
  })

  it.each(["account", "venue", "grid", "workingOrders", "preTrade"])("applies to %s as to any order", (gate) => {
    const over = rows.find(([name]) => name === gate)?.[1] ?? {}
    for (const body of [reducing, sale]) assert.isNotNull(refusalOf(body, over))
  })

  const expired = new Map(blockCodes.map((code) => [code, "EXPIRED" as const]))
  const rejected = new Map(blockCodes.map((code) => [code, "REJECTED" as const]))
  it("by reducing needs no verification", () => {
    assert.isNull(refusalOf(reducing, { client: { ...client, level: "NONE", blocks: rejected } }))
  })

  it("by a sale needs level MICA, and no block that is in date", () => {
    assert.isNull(refusalOf(sale, { client: { ...client, level: "MICA", blocks: expired } }))
    assert.strictEqual(
      refusalOf(spotOrder, { client: { ...client, level: "MICA", blocks: expired } })?._tag,
      "Unverified"
    )
    const refusal = refusalOf(sale, { client: { ...client, level: "NONE" } })
    assert.deepStrictEqual(refusal, {
      _tag: "Unverified",
      action: "TRADE:SPOT",
      level: "NONE",
      requiredLevel: "MICA",
      missingBlocks: ["COMPLIANCE_REVIEW"]
    })
  })

  it("what opens is judged by its family", () => {
    const mica = { client: { ...client, level: "MICA" as const } }
    assert.isNull(refusalOf(spotOrder, mica))
    const refusal = refusalOf({}, mica)
    assert.deepInclude(refusal, { _tag: "Unverified", action: "TRADE:PERP", requiredLevel: "MICA_MIFID" })
  })
})

describe("A2-49: preview", () => {
  const figures = { ...noFigures, orderValue: "30000.000000", leverage: 10 }

  it("has its figures and the answer that the order would get", () => {
    const answer = marginPreviewOf(orderFacts(), figures)
    assert.deepStrictEqual(answer, { ok: true, value: { accepted: true, reason: null, ...figures } })
    if (answer.ok) assert.deepStrictEqual(Schema.decodeUnknownSync(MarginPreviewWire)(answer.value), answer.value)
  })

  it.each(rows)("%s is its reason, or refuses it as the order", (gate, over, _, sentence) => {
    const answer = marginPreviewOf(orderFacts(bodyFor(gate), over), figures)
    if (gate === "leverage") {
      assert.isTrue(answer.ok)
      return
    }
    assert.isFalse(answer.ok)
    if (answer.ok) return
    const reason = gate === "verification" ? unverified : sentence
    const asOrder = firstRefusal(orderGates, orderFacts(bodyFor(gate), over))
    const token = asOrder?._tag === "Invalid" ? asOrder.reason : "VERIFICATION_MISSING"
    const beside = { accepted: false, reason, ...figures }
    assert.deepStrictEqual<unknown>(
      answer.refusal,
      gate === "account" || gate === "venue"
        ? asOrder
        : { _tag: "Invalid", reason: token, sentence: reason, errors: null, beside }
    )
  })

  it("is made at any leverage up to the cap, whichever is in force", () => {
    const at = (sent: number | null) =>
      sentenceOf(firstRefusal(previewGates, orderFacts({}, { leverage: { sent, inForce: 5, cap: 10 } })))
    assert.deepStrictEqual([at(null), at(1), at(10)], [null, null, null])
    assert.strictEqual(at(11), "The leverage must be at most 10 in this market.")
  })

  it("keeps the fields that a refusal names", () => {
    const errors = { qty: "The quantity is required." }
    const refusal = previewRefusal({ _tag: "Invalid", reason: "INVALID_FIELDS", sentence: errors.qty, errors })
    const beside = { accepted: false, reason: errors.qty, ...noFigures }
    assert.deepStrictEqual<unknown>(refusal, {
      _tag: "Invalid",
      reason: "INVALID_FIELDS",
      sentence: errors.qty,
      errors,
      beside
    })
    assert.strictEqual(sentenceOf(previewRefusal(notOffered)), "This market is not offered.")
  })
})
