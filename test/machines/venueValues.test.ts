/**
 * The service's reading of the venue's texts and signed figures. No direction or control character reaches partners, and no minus
 * precedes a zero.
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"
import { SignedText, VenueText } from "../../src/machines/venue/values.ts"

const words = Schema.decodeUnknownSync(VenueText)
const signed = Schema.decodeUnknownSync(SignedText)

describe("values that the venue writes", () => {
  it("reaches partners without control and direction characters, and is else as it was", () => {
    assert.strictEqual(words("no \u202eyenom\u0007\n"), "no \ufffdyenom\ufffd\ufffd")
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 256 }), (text) => {
        if (text.length > 256) return
        assert.notMatch(words(text), /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u)
        assert.strictEqual(words(text).length, text.length)
      })
    )
    assert.strictEqual(words("Größe über dem Limit"), "Größe über dem Limit")
  })

  it("has no minus before a zero", () => {
    assert.deepStrictEqual(
      ["-0", "-0.000", "-0.001", "0.1"].map((text) => signed(text)),
      ["0", "0.000", "-0.001", "0.1"]
    )
  })
})
