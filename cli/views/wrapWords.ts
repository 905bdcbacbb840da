/** Lines of prose for a terminal, broken at spaces alone: whoever copies an identifier copies it whole. */
import { widthOf } from "./fit.ts"

/** A sentence in lines of at most so many columns; a word that is longer stands alone. */
export const wrapWords = (sentence: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let used = 0
  for (const word of sentence.split(" ")) {
    const width = widthOf(word)
    if (lines.length > 0 && used + 1 + width <= columns) {
      lines[lines.length - 1] += ` ${word}`
      used += 1 + width
    } else {
      lines.push(word)
      used = width
    }
  }
  return lines
}

/** What follows a broken line stands so much further in than its begin. */
const hang = 2

/** Each line of a text as `wrapWords` breaks it, its indentation kept. `columns` null: there is no terminal. */
export const wrapText = (text: string, columns: number | null): string =>
  columns === null
    ? text
    : text
        .split("\n")
        .flatMap((line) => {
          if (widthOf(line) <= columns) return [line]
          const indent = /^ */.exec(line)?.[0].length ?? 0
          const deeper = indent === 0 ? 0 : indent + hang
          const [first = "", ...rest] = wrapWords(line.slice(indent), Math.max(1, columns - Math.max(indent, deeper)))
          return [" ".repeat(indent) + first, ...rest.map((each) => " ".repeat(deeper) + each)]
        })
        .join("\n")
