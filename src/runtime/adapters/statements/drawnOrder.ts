/**
 * The order in which the characters of a line are drawn, from left to right: the Unicode bidirectional algorithm (UAX 9) in a
 * page that is read from the left (STS-31).
 */
import { createRequire } from "node:module"

// Its types say that it is a module; it is a script whose export is the factory.
const bidi = (createRequire(import.meta.url)("bidi-js") as typeof import("bidi-js").default)()

/** Blocks of scripts that are written from the right. */
const fromTheRight = /[\u0590-\u08FF\u200F\uFB1D-\uFDFF\uFE70-\uFEFF\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u

/** Whether anything of a text is written from the right. */
export const isTurned = (text: string): boolean => fromTheRight.test(text)

/** A text of one line, without characters that direct the algorithm, as it is drawn: brackets mirrored, marks behind their letters. */
export const drawnOrder = (text: string): string => {
  const levels = bidi.getEmbeddingLevels(text, "ltr")
  const mirrored = bidi.getMirroredCharactersMap(text, levels.levels)
  // A letter and its marks move together: reversed one by one the marks would stand before it (UAX 9, L3).
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
