/** Text, e-mail and id rules (A1-01, A1-14, A1-15, F31). */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { execFileSync } from "node:child_process"
import { clientUidOf, clOrdIdOf, parseId } from "../../src/machines/shared/Ids.ts"
import {
  cleanText,
  codePointLength,
  isEmail,
  nameSentence,
  normaliseEmail,
  plural,
  quoted,
  textSentence,
  trimText
} from "../../src/machines/shared/Text.ts"

describe("A1-14 text", () => {
  const spaces = "\t\n\u000b\f\r \u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
  it("A1-14: every Unicode white space is trimmed at both ends, none inside", () => {
    for (const space of spaces) assert.strictEqual(trimText(`${space}a${space}b${space}`), `a${space}b`)
    assert.strictEqual(trimText(spaces), "")
  })

  it("A1-14: trimming agrees with the White_Space property", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...spaces, "a", "\u200b", "\u180e") }), (text) => {
        assert.strictEqual(trimText(text), text.replace(/^[\p{White_Space}\ufeff]+|[\p{White_Space}\ufeff]+$/gu, ""))
      })
    )
  })

  it("A1-14: a long run of spaces inside costs linear time", () => {
    const text = `a${" ".repeat(200_000)}b`
    assert.strictEqual(trimText(text), text)
  })

  const rows = [
    ["Anna", undefined],
    ["  Anna  ", undefined],
    ["e\u0301".repeat(5), undefined],
    ["\u{1f600}".repeat(5), undefined],
    ["", "The name is required."],
    [" \u3000 ", "The name is required."],
    ["\u200b", "The name is required."],
    ["\u00ad\u2060 \u{e0041}\ufe0f\u3164", "The name is required."],
    ["\u2800", "The name is required."],
    ["\u202e\u202c", "The name is required."],
    ["a\u200b", undefined],
    ["\u0627\u200c\u0628", undefined],
    ["abcdef", "The name must be at most 5 characters."],
    ["\u{1f600}".repeat(6), "The name must be at most 5 characters."],
    ["a\u0000b", "The name must not contain control characters or line breaks."],
    ["a\nb", "The name must not contain control characters or line breaks."],
    ["a\u0085b", "The name must not contain control characters or line breaks."],
    ["a\u2028b", "The name must not contain control characters or line breaks."],
    ["a\u007f", "The name must not contain control characters or line breaks."],
    ["a\ud800b", "The name must be valid Unicode text."],
    ["\udc00", "The name must be valid Unicode text."]
  ] as const
  it.each(rows)("A1-14: %j of at most five characters", (text, sentence) => {
    assert.strictEqual(textSentence(text, "The name", 5, true), sentence)
  })

  it("A1-14: an empty text is fine where the field is optional", () => {
    assert.isUndefined(textSentence("  ", "The name", 5, false))
  })

  it("A1-14: a text that shows nothing is an empty one", () => {
    for (const text of ["\u200b", " \u00ad\u2060 ", "\u2800", "\u{e0041}", "\u3164\u115f", "\u202e", "\ufe0f"]) {
      assert.strictEqual(cleanText(text), "")
      assert.isUndefined(textSentence(text, "The note", 5, false))
      assert.strictEqual(cleanText(`${text}a`).at(-1), "a")
    }
    // A text that can't be stored is refused with the reason of its own kind.
    for (const text of ["\u0000", "\ud800", "\u0007\u200b"]) assert.notStrictEqual(cleanText(text), "")
  })

  it("A1-14: a name is a text with a visible character that leaves the direction of writing unchanged", () => {
    const direction = "The name must not contain characters that change the direction of writing."
    for (const mark of "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") {
      assert.strictEqual(nameSentence(`a${mark}b`, "The name", 5, true), direction)
      assert.strictEqual(nameSentence(`a${mark}b`, "The name", 5, false), direction)
      assert.strictEqual(nameSentence(mark, "The name", 5, true), "The name is required.")
      assert.isUndefined(nameSentence(mark, "The name", 5, false))
    }
    assert.isUndefined(nameSentence("\u0645\u062d\u0645\u062f", "The name", 5, true))
    assert.strictEqual(nameSentence("a\u202e".repeat(9), "The name", 5, true), "The name must be at most 5 characters.")
  })

  it("A1-14: cleaning is idempotent and gives NFC", () => {
    assert.strictEqual(cleanText(" e\u0301 "), "\u00e9")
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const clean = cleanText(text)
        assert.strictEqual(cleanText(clean), clean)
        assert.strictEqual(clean, clean.normalize("NFC"))
        assert.strictEqual(codePointLength(clean), Array.from(clean).length)
      })
    )
  })
})

describe("A1-15 e-mail", () => {
  const label63 = "a".repeat(63)
  const domain = `${label63}.${label63}.${label63}.example`
  const accepted = [
    "a@b.co",
    "Anna.Example+tag@Mail.Example",
    "o'neil@x-y.example",
    " a@b.co ",
    `${"l".repeat(254 - domain.length - 1)}@${domain}`
  ]
  it.each(accepted)("A1-15: %j is an address", (email) => assert.isTrue(isEmail(email)))

  const refused = [
    "",
    "a",
    "a@b",
    "@b.co",
    "a@",
    "a@@b.co",
    "a b@c.co",
    "a@-b.co",
    "a@b-.co",
    "a@b..co",
    "a@b.co.",
    "a@b_c.co",
    `a@${"a".repeat(64)}.co`,
    "\u00e4@b.co",
    "a@b\u00e4r.co",
    '"a b"@c.co',
    "a@[127.0.0.1]",
    `${"l".repeat(255 - domain.length - 1)}@${domain}`
  ]
  it.each(refused)("A1-15: %j is no address", (email) => assert.isFalse(isEmail(email)))

  it("A1-15: stored in lower case, trimmed", () => {
    assert.strictEqual(normaliseEmail(" Anna.Example@Mail.Example "), "anna.example@mail.example")
  })
})

describe("A1-01 ids", () => {
  const rows = [
    ["1", 1],
    ["9007199254740991", Number.MAX_SAFE_INTEGER],
    ["9007199254740992", undefined],
    ["9223372036854775807", undefined],
    ["0", undefined],
    ["01", undefined],
    ["+1", undefined],
    ["-1", undefined],
    ["1.0", undefined],
    ["1e3", undefined],
    ["", undefined],
    [" 1", undefined],
    ["\u0661", undefined],
    ["99999999999999999999", undefined]
  ] as const
  it.each(rows)("A1-01: path id %j", (segment, id) => assert.strictEqual(parseId(segment), id))

  it("F31: client uid and client order id", () => {
    assert.strictEqual(clientUidOf("CL", 42), "CL-00000042")
    assert.strictEqual(clientUidOf("CL", 123_456_789), "CL-123456789")
    assert.strictEqual(clOrdIdOf("O", 7), "O-7")
  })
})

describe("quoted", () => {
  it.each([".brokerage/demo.curl", "a folder/it's", '$HOME `id` \\ "x"', "tab\there"])(
    "%j is one argument of a shell",
    (text) => {
      assert.strictEqual(execFileSync("sh", ["-c", `printf %s ${quoted(text)}`], { encoding: "utf8" }), text)
    }
  )
})

describe("plural", () => {
  it.each([
    [1, "delivery", "1 delivery"],
    [0, "delivery", "0 deliveries"],
    [2, "day", "2 days"],
    [1, "audit entry", "1 audit entry"],
    [3, "audit entry", "3 audit entries"],
    [2, "match", "2 matches"],
    [2, "address", "2 addresses"]
  ])("%i %s", (count, noun, text) => assert.strictEqual(plural(count, noun), text))
})
