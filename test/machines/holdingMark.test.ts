/**
 * F23, F25, STS-10: the value of a currency, by its mark, by the last known mark, at par, or unknown; F3: the freshness
 * of a mark.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Facts, noFacts } from "../../src/machines/market/Facts.ts"
import { holdingMark, valueAt } from "../../src/machines/market/holdingMark.ts"
import { defaultMarketTerms } from "../../src/machines/market/marketTerms.ts"
import { type Currency } from "../../src/machines/shared/Currency.ts"
import { MoneyDecimal } from "../../src/machines/shared/Money.ts"
import { postingValue } from "../../src/machines/market/postingValue.ts"
import { depositValue } from "../../src/machines/verification/depositValue.ts"

const now = 1_764_000_000_000
const factsOf = (symbol: string, price: string, at: number, current = true): Facts => ({
  ...noFacts,
  takenAt: now,
  marks: new Map([[symbol, { price: new MoneyDecimal(price), places: 1, at, current }]]),
  instruments: new Map([
    [
      symbol,
      {
        symbol,
        family: "SPOT",
        assetClass: "crypto",
        priceDecimals: 1,
        qtyDecimals: 4,
        priceTick: { decimals: 1, step: 1 },
        bandBps: 1_000
      }
    ]
  ]),
  terms: defaultMarketTerms
})

describe("the mark of a holding", () => {
  const rows: ReadonlyArray<readonly [string, Currency, Facts, Array<string | boolean> | null]> = [
    ["USDC itself", "USDC", noFacts, ["1", true]],
    ["EUR at par", "EUR", noFacts, ["1", false]],
    ["USD1 at par", "USD1", noFacts, ["1", false]],
    ["an asset without a mark", "BTC", noFacts, null],
    ["a fresh mark, on its grid", "BTC", factsOf("BTC-USDC", "60000", now), ["60000.0", true]],
    ["one of 10 s ago", "BTC", factsOf("BTC-USDC", "60000", now - 10_000), ["60000.0", true]],
    ["one of more than 10 s ago", "BTC", factsOf("BTC-USDC", "60000", now - 10_001), ["60000.0", false]],
    ["one whose channel waits for a snapshot", "BTC", factsOf("BTC-USDC", "60000", now, false), ["60000.0", false]],
    ["one of last year", "EUR", factsOf("EUR-USDC", "1.1", 0), ["1.1", false]],
    ["that of the perpetual is none", "BTC", factsOf("BTC-USDC-PERP", "60000", now), null]
  ]
  it.each(rows)("%s", (_title, currency, facts, expected) => {
    const mark = holdingMark(currency, facts)
    assert.deepStrictEqual(mark === null ? null : [mark.text, mark.fresh], expected)
  })

  it("values are rounded down to micro-USDC (F1)", () => {
    const mark = holdingMark("SOL", factsOf("SOL-USDC", "150.7", now))
    assert.isNotNull(mark)
    if (mark !== null) assert.strictEqual(valueAt("SOL", 1_000_009n, mark), 150_701n)
  })
})

describe("F25, STS-9: the value of a posting", () => {
  const facts = factsOf("BTC-USDC", "60000", 5)
  it("uses the last known mark, however old, and stores it with the posting", () => {
    assert.strictEqual(depositValue("BTC", 10_000_000n, facts), 6_000_000_000n)
    assert.deepStrictEqual(postingValue("BTC", 10_000_000n, facts), {
      mark: "60000.0",
      markTs: 5,
      valueUsdc: "6000.000000"
    })
  })

  it("has the sign of the amount, and is rounded against the client in both directions (F1)", () => {
    const sol = factsOf("SOL-USDC", "150.7", 7)
    assert.strictEqual(postingValue("SOL", 1_000_009n, sol)?.valueUsdc, "0.150701")
    assert.strictEqual(postingValue("SOL", -1_000_009n, sol)?.valueUsdc, "-0.150702")
  })

  it("is at par for EUR, nothing known for an asset without a mark, and not written of USDC", () => {
    assert.deepStrictEqual(postingValue("EUR", 150n, facts), { mark: "1", markTs: null, valueUsdc: "1.500000" })
    assert.deepStrictEqual(postingValue("ETH", 150n, facts), { mark: null, markTs: null, valueUsdc: null })
    assert.isNull(postingValue("USDC", 150n, facts))
  })
})
