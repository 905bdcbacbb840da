/**
 * F18, F19: the conditions for an accept of a quote, each at its border, and their order (A2-14, A2-24, A2-25, A2-110).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { ContractTerms } from "../../src/machines/contract/ContractTerms.ts"
import {
  autoCloseRefusal,
  closeQuoteRefusal,
  type JudgedQuote,
  openQuoteRefusal,
  openQuoteRules
} from "../../src/machines/contract/quoteAcceptance.ts"
import type { RfqBody } from "../../src/machines/rfq/RfqBody.ts"
import { MoneyDecimal } from "../../src/machines/shared/Money.ts"
import { contractOf, contractsNow as now } from "../fixtures/contracts.ts"
import { contractFloorCases } from "../fixtures/golden.ts"
import { askedBody, askedRfq, liveQuote, openQuote, requiredAt } from "../fixtures/rfqs.ts"

const judge = (
  body: Partial<RfqBody>,
  quote: JudgedQuote,
  of: { readonly maxLeverage?: number; readonly freeMargin?: bigint } = {}
): string | null => openQuoteRefusal(openQuote(askedRfq({ ...askedBody, ...body }), quote, of))

const live = liveQuote("60000")
const short = { side: "SELL", level: "61000" } as const
const sides = {
  longBarrier: "The barrier of a long contract must be below the price.",
  shortBarrier: "The barrier of a short contract must be above the price.",
  longProfit: "The take profit of a long contract must be above the price.",
  shortProfit: "The take profit of a short contract must be below the price."
}
const near = "The barrier must be at least 0.1 percent away from the price."
const over = "The premium at this quote exceeds the request's budget."

describe("F18: a quote to open", () => {
  const rows: ReadonlyArray<readonly [string, Partial<RfqBody>, JudgedQuote, string | null]> = [
    ["live", {}, live, null],
    ["expired", {}, { ...live, state: "EXPIRED" }, "The quote has expired."],
    ["withdrawn", {}, { ...live, state: "WITHDRAWN" }, "The dealer has withdrawn the quote."],
    ["superseded", {}, { ...live, state: "SUPERSEDED" }, "A later quote has taken the place of this one."],
    ["accepted", {}, { ...live, state: "ACCEPTED" }, "The quote has been accepted already."],
    ["refused before", {}, { ...live, refusedWith: "The dealer declined." }, "The dealer declined."],
    ["valid for a millisecond", {}, { ...live, validUntil: now + 1 }, null],
    ["valid until now", {}, { ...live, validUntil: now }, "The quote has expired."],
    ["A2-24: exactly the budget", { premium: 950_000_000n }, live, null],
    ["A2-24: a micro-USDC over it", { premium: 949_999_999n }, live, over],
    ["A2-24: far over it", { premium: 1n }, live, over],
    ["for more than was asked", { qty: "0.9999" }, live, null],
    ["for less", { qty: "1.0001" }, live, "The quote is for less than the quantity asked for."],
    ["at the barrier", {}, liveQuote("59000"), sides.longBarrier],
    ["beyond it", {}, liveQuote("58000"), sides.longBarrier],
    ["at the barrier of a short", short, liveQuote("61000"), sides.shortBarrier],
    ["beyond the barrier of a short", short, liveQuote("62000"), sides.shortBarrier],
    ["a tick from a barrier", {}, liveQuote("59000.1"), near],
    ["at the take profit", { takeProfit: "60000" }, live, sides.longProfit],
    ["a tick below it", { takeProfit: "60000.1" }, live, null],
    ["F2: the largest profit there may be", { takeProfit: "9223372096854.7" }, live, null],
    [
      "F2: a tick more",
      { takeProfit: "9223372096854.8" },
      live,
      "The take profit is too far away: its profit is too large."
    ],
    ["at the take profit of a short", { ...short, takeProfit: "60000" }, live, sides.shortProfit],
    ["a tick above it", { ...short, takeProfit: "59999.9" }, live, null]
  ]
  it.each(rows)("%s", (_, body, quote, refusal) => {
    assert.strictEqual(judge(body, quote), refusal)
  })

  it("the contract's expiry lies ahead", () => {
    const rfq = askedRfq({ ...askedBody, expiryTs: now + 1 })
    const facts = openQuote(rfq, { ...live, validUntil: now + 5 })
    assert.isNull(openQuoteRefusal(facts))
    assert.strictEqual(openQuoteRefusal({ ...facts, now: now + 1 }), "The contract's expiry has passed.")
  })

  it.each(contractFloorCases.levels)("BAR-015: $side at $level, taken: $accepted", ({ side, level, accepted }) => {
    const refusal = judge({ side, level }, liveQuote(contractFloorCases.mark))
    assert.strictEqual(refusal, accepted ? null : near)
  })

  it("BAR-015: at the floor the leverage is the highest there is, of a market that grants less the distance is larger", () => {
    const full = { ...askedRfq({ ...askedBody, level: "99900" }), premiumBps: 10_000 }
    const facts = openQuote(full, liveQuote(contractFloorCases.mark))
    assert.strictEqual(facts.priced.figures.leverage, contractFloorCases.maxLeverageAtFloor)
    const lower = (level: string) => judge({ level }, live, { maxLeverage: 100 })
    assert.isNull(lower("59400"))
    assert.strictEqual(lower("59400.1"), "The barrier is too near to the price: the leverage may be at most 100.")
  })

  it("premium and commission fit the free margin, to the micro-USDC", () => {
    const required = requiredAt(askedRfq(askedBody), "60000")
    assert.strictEqual(required, 962_000_000n)
    assert.isNull(judge({}, live, { freeMargin: required }))
    const sentence = "The premium and the commission exceed the client's free margin."
    assert.strictEqual(judge({}, live, { freeMargin: required - 1n }), sentence)
  })

  it("A2-110: the order of the rules", () => {
    assert.deepStrictEqual(
      openQuoteRules.map(({ gate }) => gate),
      [
        "quoteLive",
        "quoteValidity",
        "premiumBudget",
        "expiry",
        "quoteQuantity",
        "barrierSide",
        "barrierDistance",
        "takeProfitSide",
        "leverage",
        "freeMargin"
      ]
    )
  })
})

describe("F19: a quote to close", () => {
  const long = contractOf({ takeProfit: "61000" })
  const shorted = contractOf({ side: "SELL", barrier: "61000", takeProfit: "59000" })
  const endless = contractOf()
  const barrier = "The quote's price is at or beyond the barrier."
  const profit = "The quote's price is at or beyond the take profit."
  const rows: ReadonlyArray<readonly [string, ContractTerms, JudgedQuote, string | null]> = [
    ["inside", long, live, null],
    ["a tick above the barrier", long, liveQuote("59000.1"), null],
    ["at the barrier", long, liveQuote("59000"), barrier],
    ["a tick below the take profit", long, liveQuote("60999.9"), null],
    ["at the take profit", long, liveQuote("61000"), profit],
    ["a short a tick below the barrier", shorted, liveQuote("60999.9"), null],
    ["a short at the barrier", shorted, liveQuote("61000"), barrier],
    ["a short a tick above the take profit", shorted, liveQuote("59000.1"), null],
    ["a short at the take profit", shorted, liveQuote("59000"), profit],
    ["without a take profit as high as you like", endless, liveQuote("900000"), null],
    ["for the whole contract", contractOf({ qty: "1.0000" }), live, null],
    [
      "for less than the contract",
      contractOf({ qty: "1.0001" }),
      live,
      "The quote is for less than the quantity asked for."
    ],
    ["not live", long, { ...live, state: "WITHDRAWN" }, "The dealer has withdrawn the quote."],
    ["valid until now", long, { ...live, validUntil: now }, "The quote has expired."]
  ]
  it.each(rows)("%s", (_, contract, quote, refusal) => {
    assert.strictEqual(closeQuoteRefusal({ now, quote, contract }), refusal)
  })

  const far = "The quote lies more than 1 percent away from the mark."
  it.each([
    ["100 basis points below the mark", "59400", null],
    ["a tick more", "59399.9", far],
    ["100 basis points above", "60600", null],
    ["a tick more above", "60600.1", far],
    ["not acceptable by hand either", "58000", barrier]
  ])("unasked: %s", (_, price, refusal) => {
    const facts = { now, quote: liveQuote(price), contract: endless, mark: new MoneyDecimal("60000") }
    assert.strictEqual(autoCloseRefusal(facts), refusal)
    if (refusal === far) assert.isNull(closeQuoteRefusal(facts))
  })

  it("unasked: never without a mark", () => {
    const facts = { now, quote: live, contract: endless, mark: null }
    assert.strictEqual(autoCloseRefusal(facts), "The market has no mark to measure the quote against.")
  })

  it("automatic: a quote that is left because of a stale mark is marked so, and may be accepted manually", () => {
    const facts = { now, quote: live, contract: endless, mark: "stale" as const }
    const left = "The market's mark is stale: the quote waits for a fresh one to be measured against."
    assert.deepStrictEqual([autoCloseRefusal(facts), closeQuoteRefusal(facts)], [left, null])
  })

  it("what may be accepted unasked may be accepted by hand", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 580_000, max: 620_000 }),
        fc.integer({ min: 580_000, max: 620_000 }),
        (price, at) => {
          const quote = liveQuote(new MoneyDecimal(price).div(10).toFixed(1))
          const facts = { now, quote, contract: long, mark: new MoneyDecimal(at).div(10) }
          if (autoCloseRefusal(facts) === null) assert.isNull(closeQuoteRefusal(facts))
        }
      )
    )
  })
})
