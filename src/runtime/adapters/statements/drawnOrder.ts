/**
 * The order in which the characters of a line are drawn, from left to right. It follows the Unicode bidirectional algorithm (UAX
 * 9) for a left-to-right page (STS-31).
 */
import { createRequire } from "node:module"

// The package's types declare a module. The package itself is a script that exports a factory.
const bidi = (createRequire(import.meta.url)("bidi-js") as typeof import("bidi-js").default)()

/** Unicode blocks of right-to-left scripts. */
const fromTheRight = /[\u0590-\u08FF\u200F\uFB1D-\uFDFF\uFE70-\uFEFF\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u

/** True if a text contains right-to-left characters. */
export const isTurned = (text: string): boolean => fromTheRight.test(text)

/**
 * A line of text in drawn order. Brackets are mirrored, and marks follow their letters. The line must contain no direction
 * characters.
 */
export const drawnOrder = (text: string): string => {
  const levels = bidi.getEmbeddingLevels(text, "ltr")
  const mirrored = bidi.getMirroredCharactersMap(text, levels.levels)
  // A letter and its marks move together. A reversal of single characters would put the marks before the letter (UAX 9, L3).
  const letters = text.match(/\P{M}\p{M}*|\p{M}+/gu) ?? []
  const letterAt: Array<number> = []
  const drawn = letters.map((letter, index) => {
    const mirror = mirrored.get(letterAt.length)
    for (let unit = 0; unit < letter.length; unit++) letterAt.push(index)
    return mirror === undefined ? letter : mirror + letter.slice(1)
  })
  for (const [start = 0, end = 0] of bidi.getReorderSegments(text, levels)) {
    const from = letterAt[start] ?? 0
    const to = (letterAt[end] ?? from) + 1
    drawn.splice(from, to - from, ...drawn.slice(from, to).toReversed())
  }
  return drawn.join("")
}
