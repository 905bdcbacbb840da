/**
 * The body of POST .../collateral: field rules, documented order, and the hand-written decoder against the schema
 * (doc 3, Collateral report rules; A3-15).
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"
import { CollateralBody, decodeCollateral } from "../../src/machines/collateral/CollateralBody.ts"
import { decoderOf, type FieldErrors, isRecord, withoutNulls } from "../../src/machines/shared/Fields.ts"

const now = 1_795_132_800_000
const valid = { partnerRef: "c-1", direction: "DEPOSIT", amount: "12.5" }
const future = "The time of occurrence must not be in the future."
const notMillis = "The time of occurrence must be a positive integer of Unix milliseconds."
const oneOf = "The direction must be one of: DEPOSIT, WITHDRAWAL."

const errorsOf = (body: unknown): FieldErrors => {
  const decision = decodeCollateral(body, { now })
  return decision.ok ? {} : decision.errors
}

describe("doc 3, Collateral report rules", () => {
  it("A3-15: defaults", () => {
    assert.deepStrictEqual(decodeCollateral(valid, { now }), {
      ok: true,
      body: {
        partnerRef: "c-1",
        direction: "DEPOSIT",
        currency: "USDC",
        amount: 12_500_000n,
        sourceAsset: null,
        txRef: null,
        occurredAt: now
      }
    })
  })

  it("A3-15: the full body, cleaned; a time up to five minutes ahead is stored as sent", () => {
    const body = {
      partnerRef: " re\u0301f ",
      direction: "WITHDRAWAL",
      currency: "USDC",
      amount: " 0.000001 ",
      sourceAsset: " USDX ",
      txRef: "0xab",
      occurredAt: now + 300_000,
      unknown: [1]
    }
    assert.deepStrictEqual(decodeCollateral(body, { now }), {
      ok: true,
      body: {
        partnerRef: "r\u00e9f",
        direction: "WITHDRAWAL",
        currency: "USDC",
        amount: 1n,
        sourceAsset: "USDX",
        txRef: "0xab",
        occurredAt: now + 300_000
      }
    })
  })

  const rows: ReadonlyArray<readonly [string, unknown, string | undefined]> = [
    ["partnerRef", undefined, "The partner reference is required."],
    ["partnerRef", null, "The partner reference is required."],
    ["partnerRef", " ", "The partner reference is required."],
    ["partnerRef", 5, "The partner reference must be text."],
    ["partnerRef", "x".repeat(64), undefined],
    ["partnerRef", "x".repeat(65), "The partner reference must be at most 64 characters."],
    ["partnerRef", "a\nb", "The partner reference must not contain control characters or line breaks."],
    ["direction", undefined, "The direction is required."],
    ["direction", "deposit", oneOf],
    ["direction", " DEPOSIT", oneOf],
    ["direction", 1, oneOf],
    ["currency", null, undefined],
    ["currency", "EUR", "The currency must be USDC."],
    ["currency", "usdc", "The currency must be USDC."],
    ["currency", 1, "The currency must be USDC."],
    ["amount", undefined, "The amount is required."],
    ["amount", 12.5, "The amount must be a decimal string such as 12.50."],
    ["amount", "-1", "The amount must be a plain decimal number such as 12.50, without sign, exponent or grouping."],
    ["amount", "0.000000", "The amount must be greater than zero."],
    ["amount", "1.0000000", "The amount must have at most 6 decimal places for USDC."],
    ["amount", "9223372036854.775807", undefined],
    ["amount", "9223372036854.775808", "The amount is too large."],
    ["sourceAsset", "", undefined],
    ["sourceAsset", null, undefined],
    ["sourceAsset", "x".repeat(32), undefined],
    ["sourceAsset", "x".repeat(33), "The source asset must be at most 32 characters."],
    ["sourceAsset", {}, "The source asset must be text."],
    ["txRef", "x".repeat(128), undefined],
    ["txRef", "x".repeat(129), "The transaction reference must be at most 128 characters."],
    ["txRef", 7, "The transaction reference must be text."],
    ["occurredAt", null, undefined],
    ["occurredAt", 1, undefined],
    ["occurredAt", now + 300_000, undefined],
    ["occurredAt", now + 300_001, future],
    ["occurredAt", 0, notMillis],
    ["occurredAt", 1.5, notMillis],
    ["occurredAt", "1", notMillis]
  ]
  it.each(rows)("A3-15: %s = %j", (field, value, sentence) => {
    assert.deepStrictEqual(errorsOf({ ...valid, [field]: value }), sentence === undefined ? {} : { [field]: sentence })
  })

  it("doc 3, refusal rules: the sentence is that of the first failing field in the documented order", () => {
    const broken: Record<string, unknown> = {
      occurredAt: -1,
      txRef: 1,
      sourceAsset: 1,
      amount: "x",
      currency: "EUR",
      direction: "UP",
      partnerRef: ""
    }
    for (const field of ["partnerRef", "direction", "currency", "amount", "sourceAsset", "txRef", "occurredAt"]) {
      const decision = decodeCollateral(broken, { now })
      if (decision.ok) assert.fail("accepted")
      assert.strictEqual(Object.keys(decision.errors)[0], field)
      assert.strictEqual(decision.sentence, decision.errors[field])
      broken[field] = { ...valid, currency: "USDC" }[field] ?? null
    }
    assert.isTrue(decodeCollateral(broken, { now }).ok)
  })

  it.each([null, [], "x", 5, undefined])("A1-01: %j is no object", (body) => {
    assert.deepStrictEqual(decodeCollateral(body, { now }), {
      ok: false,
      sentence: "The request body must be a JSON object.",
      errors: {}
    })
  })
})

describe("hand-written decoder and schema", () => {
  const decodeBySchema = decoderOf(CollateralBody)
  /** The verdict of the schema, and the one rule that a schema can't express: the clock. */
  const bySchema = (body: unknown): FieldErrors => {
    const errors: FieldErrors = {}
    const decoded = decodeBySchema(withoutNulls(body, 0), (path, sentence) => {
      errors[path] ??= sentence
    })
    if (isRecord(body) && errors["occurredAt"] === undefined && Number(body["occurredAt"] ?? 0) > now + 300_000) {
      errors["occurredAt"] = future
    }
    return decoded === undefined || Object.keys(errors).length > 0 ? errors : {}
  }

  const text = fc.oneof(
    fc.string({
      unit: fc.constantFrom("a", " ", "\u00e9", "e\u0301", "\u{1f600}", "\n", "\ud800", "\u3000"),
      maxLength: 140
    }),
    fc.string({ unit: "grapheme", maxLength: 40 }),
    fc.nat({ max: 140 }).map((length) => "x".repeat(length))
  )
  const odd = fc.constantFrom(null, undefined, "", 0, true, [], {}, "USDC", "DEPOSIT")
  const amount = fc.oneof(
    fc.string({ unit: fc.constantFrom(..."0123456789. "), maxLength: 22 }),
    fc.constantFrom("12.5", "0", "9223372036854.775808", "1.0000000", "1e5")
  )
  const body = fc.record(
    {
      partnerRef: fc.oneof(text, odd),
      direction: fc.oneof(fc.constantFrom("DEPOSIT", "WITHDRAWAL"), odd),
      currency: fc.oneof(fc.constant("USDC"), odd),
      amount: fc.oneof(amount, odd),
      sourceAsset: fc.oneof(text, odd),
      txRef: fc.oneof(text, odd),
      occurredAt: fc.oneof(fc.constantFrom(now, now + 300_000, now + 300_001), fc.double(), fc.integer(), odd)
    },
    { requiredKeys: [] }
  )
  const mostlyValid = body.map((drawn) => ({ ...valid, ...drawn }))
  const oneField = fc
    .tuple(body, fc.constantFrom("partnerRef", "amount", "sourceAsset", "txRef", "occurredAt", "direction", "currency"))
    .map(([drawn, field]) => ({ ...valid, [field]: (drawn as Record<string, unknown>)[field] }))

  it("A3-15: both give the same verdict and the same sentences", () => {
    let accepted = 0
    fc.assert(
      fc.property(fc.oneof(body, mostlyValid, oneField), (drawn) => {
        // As parsed from JSON: a member is never undefined.
        const sent = Object.fromEntries(Object.entries(drawn).filter(([, member]) => member !== undefined))
        const decision = decodeCollateral(sent, { now })
        assert.deepStrictEqual(decision.ok ? {} : decision.errors, bySchema(sent))
        if (decision.ok) accepted++
      }),
      { numRuns: 2000 }
    )
    assert.isAbove(accepted, 50)
  })

  it("A1-01: no JSON value makes it throw", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.strictEqual(decodeCollateral(value, { now }).ok, false)
      })
    )
  })

  it("doc 3: the schema names the fields of the body", () => {
    const { schema } = Schema.toJsonSchemaDocument(CollateralBody)
    assert.deepStrictEqual(schema["required"], ["partnerRef", "direction", "amount"])
  })
})
