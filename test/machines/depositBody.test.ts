/**
 * The body of POST .../deposits: field rules in the documented order, every currency at its scale, and the decoder
 * against the grammar of money (doc 3, Endpoints and Limits; A3-01, A3-03; F2); the counted value of a deposit (F25).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { decodeDeposit } from "../../src/machines/deposit/DepositBody.ts"
import { type Currency, currencyCodes, scaleOf } from "../../src/machines/shared/Currency.ts"
import type { FieldErrors } from "../../src/machines/shared/Fields.ts"
import { formatAmount, maxMinor } from "../../src/machines/shared/Money.ts"
import { noFacts } from "../../src/machines/market/Facts.ts"
import { depositValue } from "../../src/machines/verification/depositValue.ts"

const valid = { partnerRef: "d-1", currency: "EUR", amount: "12.5" }
const oneCurrency = `The currency must be one of: ${currencyCodes.join(", ")}.`

const errorsOf = (body: unknown): FieldErrors => {
  const decision = decodeDeposit(body)
  return decision.ok ? {} : decision.errors
}

describe("doc 3, deposit notices", () => {
  it("Endpoints: FIAT without evidence is the default; null and empty count as not sent", () => {
    const body = { partnerRef: "d-1", currency: "EUR", amount: 1_250n, method: "FIAT", evidenceRef: null }
    for (const rest of [
      {},
      { method: null, evidenceRef: null },
      { evidenceRef: " " },
      { method: "", evidenceRef: "" },
      { method: " \u200b" },
      { unknown: 1 }
    ]) {
      assert.deepStrictEqual(decodeDeposit({ ...valid, ...rest }), { ok: true, body } as never)
    }
  })

  it("A1-14: everything sent, cleaned", () => {
    const body = {
      partnerRef: " re\u0301f ",
      currency: "SOL",
      amount: " 0.000000001 ",
      method: "CRYPTO",
      evidenceRef: " e-1 "
    }
    assert.deepStrictEqual(decodeDeposit(body), {
      ok: true,
      body: { partnerRef: "r\u00e9f", currency: "SOL", amount: 1n, method: "CRYPTO", evidenceRef: "e-1" }
    })
  })

  const rows: ReadonlyArray<readonly [field: string, value: unknown, sentence: string | undefined]> = [
    ["partnerRef", undefined, "The partner reference is required."],
    ["partnerRef", null, "The partner reference is required."],
    ["partnerRef", " ", "The partner reference is required."],
    ["partnerRef", 5, "The partner reference must be text."],
    ["partnerRef", "😀".repeat(64), undefined],
    ["partnerRef", "x".repeat(65), "The partner reference must be at most 64 characters."],
    ["partnerRef", "a\nb", "The partner reference must not contain control characters or line breaks."],
    ["currency", undefined, "The currency is required."],
    ["currency", null, "The currency is required."],
    ["currency", "eur", oneCurrency],
    ["currency", "USDT", oneCurrency],
    ["currency", 1, oneCurrency],
    ["amount", undefined, "The amount is required."],
    ["amount", null, "The amount is required."],
    ["amount", 12.5, "The amount must be a decimal string such as 12.50."],
    ["amount", "-1", "The amount must be a plain decimal number such as 12.50, without sign, exponent or grouping."],
    ["amount", "1e3", "The amount must be a plain decimal number such as 12.50, without sign, exponent or grouping."],
    ["amount", "0.00", "The amount must be greater than zero."],
    ["amount", "1.000", "The amount must have at most 2 decimal places for EUR."],
    ["amount", "92233720368547758.07", undefined],
    ["amount", "92233720368547758.08", "The amount is too large."],
    ["method", "CRYPTO", undefined],
    ["method", "fiat", "The method must be one of: FIAT, CRYPTO."],
    ["method", "", undefined],
    ["method", "fiat", "The method must be one of: FIAT, CRYPTO."],
    ["evidenceRef", "x".repeat(200), undefined],
    ["evidenceRef", "x".repeat(201), "The evidence reference must be at most 200 characters."],
    ["evidenceRef", [], "The evidence reference must be text."]
  ]
  it.each(rows)("Endpoints: %s %j: %s", (field, value, sentence) => {
    const { [field]: _, ...rest }: Readonly<Record<string, unknown>> = valid
    const body = value === undefined ? rest : { ...rest, [field]: value }
    assert.deepStrictEqual(errorsOf(body), sentence === undefined ? {} : { [field]: sentence })
  })

  it("Endpoints: the sentence is the first field's in the documented order, errors name all", () => {
    const decision = decodeDeposit({ evidenceRef: 1, method: 1, amount: 1, currency: 1, partnerRef: 1 })
    assert.isFalse(decision.ok)
    if (decision.ok) return
    assert.strictEqual(decision.sentence, "The partner reference must be text.")
    assert.deepStrictEqual(Object.keys(decision.errors), ["partnerRef", "currency", "amount", "method", "evidenceRef"])
  })

  it.each([undefined, null, "x", 1, [], [valid]])("A1-14: %j is no object", (body) => {
    assert.deepStrictEqual(decodeDeposit(body), {
      ok: false,
      sentence: "The request body must be a JSON object.",
      errors: {}
    })
  })

  it("F2: an unknown currency is the only named fault if the places can't be judged without it", () => {
    assert.deepStrictEqual(errorsOf({ ...valid, currency: "DOGE", amount: "1.0123456789" }), { currency: oneCurrency })
    assert.hasAllKeys(errorsOf({ ...valid, currency: "DOGE", amount: "x" }), ["currency", "amount"])
  })

  it.each(currencyCodes)("F2: %s has exactly its places", (currency) => {
    const scale = scaleOf(currency)
    const least = `0.${"0".repeat(scale - 1)}1`
    const decision = decodeDeposit({ ...valid, currency, amount: least })
    assert.deepInclude(decision.ok ? decision.body : {}, { currency, amount: 1n })
    assert.deepStrictEqual(errorsOf({ ...valid, currency, amount: `${least}0` }), {
      amount: `The amount must have at most ${scale} decimal places for ${currency}.`
    })
  })

  it("A1-27: any JSON gets a verdict, and every refusal has a sentence", () => {
    const member = fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>("1.5", "EUR", "FIAT", null))
    const body = fc.record(
      { partnerRef: member, currency: member, amount: member, method: member, evidenceRef: member },
      { requiredKeys: [] }
    )
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), body), (sent) => {
        const decision = decodeDeposit(sent)
        if (decision.ok) assert.isTrue(decision.body.amount > 0n)
        else assert.isNotEmpty(decision.sentence)
      })
    )
  })

  it("F2: whatever the service writes is read back as the same amount", () => {
    fc.assert(
      fc.property(fc.constantFrom(...currencyCodes), fc.bigInt({ min: 1n, max: maxMinor }), (currency, minor) => {
        const decision = decodeDeposit({ ...valid, currency, amount: formatAmount(minor, currency) })
        assert.isTrue(decision.ok && decision.body.amount === minor)
      })
    )
  })
})

describe("F25, value of a deposit", () => {
  const rows: ReadonlyArray<readonly [Currency, bigint, bigint]> = [
    ["USDC", 15_000_000_000n, 15_000_000_000n],
    ["USD1", 1n, 1n],
    ["EUR", 1_500_000n, 15_000_000_000n],
    ["EUR", 1n, 10_000n],
    ["BTC", 100_000_000n, 15_000_000_000n],
    ["ETH", 1n, 15_000_000_000n],
    ["SOL", maxMinor, 15_000_000_000n],
    ["BNB", 1n, 15_000_000_000n],
    ["XRP", 1n, 15_000_000_000n]
  ]
  it.each(rows)("F25: %s %d minor units count %d micro-USDC while there is no mark", (currency, amount, value) => {
    assert.strictEqual(depositValue(currency, amount, noFacts), value)
  })
})
