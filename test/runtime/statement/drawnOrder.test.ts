/** Compares the drawn order of a line's characters with the Unicode algorithm (UAX 9). */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { drawnOrder, isTurned } from "../../../src/runtime/adapters/statements/drawnOrder.ts"

const hebrew = "\u05D0\u05D1\u05D2"
const turnedHebrew = "\u05D2\u05D1\u05D0"

describe("STS-31: text that is written from right to left", () => {
  it.each([
    ["a word", hebrew, turnedHebrew],
    ["words", `${hebrew} \u05D3\u05D4`, `\u05D4\u05D3 ${turnedHebrew}`],
    ["figures stay as they are read", `${hebrew} 123`, `123 ${turnedHebrew}`],
    ["among Latin", `ab ${hebrew} cd`, `ab ${turnedHebrew} cd`],
    ["brackets are mirrored", `${hebrew} (\u05D3)`, `(\u05D3) ${turnedHebrew}`],
    ["marks stay behind their letter", "\u05D0\u05B8\u05D1", "\u05D1\u05D0\u05B8"],
    ["Arabic with its own figures", "\u0627\u0628 \u0664\u0662", "\u0664\u0662 \u0628\u0627"],
    ["characters of two units", `${hebrew} \u{1F600}\u{10450}`, `${turnedHebrew} \u{1F600}\u{10450}`]
  ])("%s", (_, text, drawn) => assert.strictEqual(drawnOrder(text), drawn))

  it("every character is drawn once, and other text in its own order", () => {
    const brackets = new Set("()[]{}<>\u00AB\u00BB")
    const letters = (text: string) =>
      [...text]
        .filter((letter) => !brackets.has(letter))
        .toSorted()
        .join("")
    const written = fc.string({
      unit: fc.constantFrom(
        ...hebrew,
        "\u0627",
        "\u05B8",
        "\u{1F600}",
        "a",
        "Z",
        "7",
        " ",
        "(",
        ")",
        "-",
        ",",
        "\uFFFD"
      )
    })
    fc.assert(fc.property(written, (text) => assert.strictEqual(letters(drawnOrder(text)), letters(text))))
    const other = fc.string().filter((text) => !isTurned(text) && !/\p{C}/u.test(text))
    fc.assert(fc.property(other, (text) => assert.strictEqual(drawnOrder(text), text)))
  })
})
