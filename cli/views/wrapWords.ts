/** Wraps prose for a terminal at spaces only, so that identifiers can be copied. */
import { widthOf } from "./fit.ts"

/** Wraps a sentence to the columns; a word that is too long gets its own line. */
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

/** Additional indentation of continuation lines. */
const hang = 2

/** Wraps each line of a text and keeps its indentation. `columns` is null without a terminal. */
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
