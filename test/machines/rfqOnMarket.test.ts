/**
 * A2-110 step 3: the checks of a request that need its market: grids, limits, expiry, strict take profit; A2-13, A2-15,
 * A2-16.
 */
import { assert, describe, it } from "@effect/vitest"
import { defaultMarketTerms, type MarketTerms } from "../../src/machines/market/marketTerms.ts"
import { openEndExpiry, rfqOnMarket } from "../../src/machines/rfq/rfqOnMarket.ts"
import type { RfqBody } from "../../src/machines/rfq/RfqBody.ts"
import { contractsNow as now } from "../fixtures/contracts.ts"
import { openEndCases } from "../fixtures/golden.ts"
import { askedBody, knockOut } from "../fixtures/rfqs.ts"

const hour = 3_600_000
const judge = (over: Partial<RfqBody>, terms: MarketTerms = defaultMarketTerms) =>
  rfqOnMarket({ ...askedBody, ...over }, { market: knockOut, terms, now })

describe("a request on its market", () => {
  it("has everything that is stored and sent, on the grids", () => {
    const sent = { qty: "1.5", level: "59000.10", takeProfit: "61000", premium: 5n, expiryTs: now + hour, strict: true }
    assert.deepStrictEqual(judge({ ...sent, expiresInMs: 1_000, autoAccept: false }), {
      ok: true,
      rfq: {
        symbol: "BTC-USDC-KO",
        side: "BUY",
        qty: "1.5000",
        barrierLevel: "59000.1",
        takeProfit: "61000.0",
        strict: true,
        expiryTs: now + hour,
        expiryDefaulted: false,
        premiumBudget: 5n,
        premiumBps: 4_000,
        commissionBps: 2,
        windowEndsAt: now + 1_000,
        autoAccept: false,
        priceDecimals: 1,
        qtyDecimals: 4
      }
    })
  })

  it("without an expiry is open-end", () => {
    const judged = judge({})
    assert.isTrue(judged.ok)
    if (judged.ok) {
      assert.deepInclude(judged.rfq, { expiryTs: openEndExpiry(now, 12), expiryDefaulted: true, premiumBps: 9_500 })
    }
  })

  it("A2-13: quotes end with the contract's life", () => {
    const judged = judge({ expiryTs: now + 5_000, expiresInMs: 60_000 })
    assert.isTrue(judged.ok && judged.rfq.windowEndsAt === now + 5_000)
  })

  const strict = { strict: true, takeProfit: "61000" }
  const longest = (ms: number) => `The expiry must be at most ${ms} milliseconds ahead.`
  const rows: ReadonlyArray<readonly [string, Partial<RfqBody>, string | null, string | null]> = [
    ["the least quantity", { qty: "0.0001" }, null, null],
    ["half a lot", { qty: "0.00005" }, "qty", "The quantity must be at least 0.0001."],
    ["between two lots", { qty: "0.00011" }, "qty", "The quantity must be a multiple of 0.0001."],
    ["the largest quantity", { qty: "100" }, null, null],
    ["a lot more", { qty: "100.0001" }, "qty", "The quantity must be at most 100."],
    ["an absurd quantity", { qty: "9".repeat(18) }, "qty", "The quantity must be at most 100."],
    ["a barrier on the grid", { level: "59000.100" }, null, null],
    ["a barrier off it", { level: "59000.11" }, "barrier.level", "The barrier level must be a multiple of 0.1."],
    ["an absurd barrier", { level: "9".repeat(18) }, "barrier.level", "The barrier level must be a multiple of 0.1."],
    ["a take profit on the grid", { takeProfit: "61000.1" }, null, null],
    [
      "a take profit off it",
      { takeProfit: "61000.01" },
      "barrier.takeProfit",
      "The take profit must be a multiple of 0.1."
    ],
    ["A2-15: exactly 8 h", { expiryTs: now + 8 * hour }, null, null],
    ["8 h and a millisecond", { expiryTs: now + 8 * hour + 1 }, "barrier.expiryTs", longest(8 * hour)],
    ["a strict one of exactly 24 h", { ...strict, expiryTs: now + 24 * hour }, null, null],
    ["of a millisecond more", { ...strict, expiryTs: now + 24 * hour + 1 }, "barrier.expiryTs", longest(24 * hour)]
  ]
  it.each(rows)("%s", (_, over, path, sentence) => {
    const judged = judge(over)
    assert.deepStrictEqual(
      judged.ok ? null : judged,
      path === null ? null : { ok: false, sentence, errors: { [path]: sentence } }
    )
  })

  it("a strict take profit needs a market that offers it", () => {
    const terms = { ...defaultMarketTerms, strictTakeProfitOffered: false }
    const sentence = "The market does not offer a strict take profit."
    assert.deepStrictEqual(judge({ ...strict, expiryTs: now + hour }, terms), {
      ok: false,
      sentence,
      errors: { "barrier.strictTakeProfit": sentence }
    })
    assert.isTrue(judge({}, terms).ok)
  })

  it("all failures together, in the documented order", () => {
    const terms = { ...defaultMarketTerms, strictTakeProfitOffered: false }
    const judged = judge(
      { qty: "1000", level: "0.01", takeProfit: "0.01", strict: true, expiryTs: now + 25 * hour },
      terms
    )
    assert.deepStrictEqual(judged.ok ? [] : Object.keys(judged.errors), [
      "qty",
      "barrier.level",
      "barrier.takeProfit",
      "barrier.expiryTs",
      "barrier.strictTakeProfit"
    ])
    assert.strictEqual(judged.ok ? "" : judged.sentence, "The quantity must be at most 100.")
  })
})

describe("A2-16: an open end", () => {
  it.each(openEndCases)("BAR-017: from $receivedAt", ({ receivedAt, expiry }) => {
    assert.strictEqual(new Date(openEndExpiry(Date.parse(receivedAt), 12)).toISOString(), expiry)
  })

  it.each([
    ["2026-11-23T04:00:00.123Z", 12, "2027-11-23T04:00:00.123Z"],
    ["2027-02-28T23:59:59.999Z", 12, "2028-02-28T23:59:59.999Z"],
    ["2026-01-31T00:00:00.000Z", 1, "2026-02-28T00:00:00.000Z"],
    ["2028-01-31T00:00:00.000Z", 1, "2028-02-29T00:00:00.000Z"],
    ["2026-12-31T00:00:00.000Z", 2, "2027-02-28T00:00:00.000Z"]
  ])("from %s, %d months", (from, months, to) => {
    assert.strictEqual(new Date(openEndExpiry(Date.parse(from), months)).toISOString(), to)
  })
})
