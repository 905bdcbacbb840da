/** A2-10, A2-50, A2-88: the leverage that determines the margin of a client's perpetuals. */
import { assert, describe, it } from "@effect/vitest"
import { leverageCap, leverageInForce } from "../../../src/machines/margin/accountRisk.ts"
import { defaultMarketTerms, leverageProfiles } from "../../../src/machines/market/marketTerms.ts"

const contract = defaultMarketTerms
const esma = { ...defaultMarketTerms, leverage: leverageProfiles.esma }

describe("the cap", () => {
  it.each([
    ["crypto", contract, 10, 50],
    ["index", contract, 20, 50],
    ["metal", contract, 20, 50],
    ["energy", contract, 20, 50],
    ["fx", contract, 30, 50],
    ["crypto", esma, 2, 50],
    ["index", esma, 20, 50],
    ["metal", esma, 20, 50],
    ["energy", esma, 10, 50],
    ["fx", esma, 30, 50]
  ] as const)("of %s", (assetClass, terms, retail, professional) => {
    assert.strictEqual(leverageCap({ categorization: "RETAIL", assetClass, terms }), retail)
    assert.strictEqual(leverageCap({ categorization: "PROFESSIONAL", assetClass, terms }), professional)
  })
})

describe("the leverage in force", () => {
  it.each([
    ["nothing chosen: the cap", null, "RETAIL", 10],
    ["the choice", 3, "RETAIL", 3],
    ["the cap itself", 10, "RETAIL", 10],
    ["a choice that a lower cap overtook", 25, "RETAIL", 10],
    ["which another categorization still allows", 25, "PROFESSIONAL", 25]
  ] as const)("%s", (_, chosen, categorization, expected) => {
    const of = { chosen, categorization, assetClass: "crypto", terms: contract } as const
    assert.strictEqual(leverageInForce(of), expected)
  })
})
