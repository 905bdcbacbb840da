/**
 * Chooses the columns of a table that fit a terminal, and their widths: long text wraps first, then columns are dropped by
 * rank, with a note. Pure arithmetic; widths are columns of the terminal.
 */
import { createRequire } from "node:module"
import type stringWidth from "string-width"

/** Blank columns between two columns of a table. */
export const gap = 2
/** Limit on the lines of a cell; a longer cell is cut and marked. */
const linesOfCell = 6
/** Words up to this length are never broken; no uid, id or name of a gate is longer. */
const longestWord = 24

/** The widest useful and the least possible width of a column. */
export interface Wish {
  readonly widest: number
  readonly least: number
  /** The column with the highest rank is dropped first. */
  readonly rank: number
}

export interface Layout {
  /** Indices of the shown columns, in order, with their widths. */
  readonly shown: ReadonlyArray<{ readonly column: number; readonly width: number }>
  readonly leftOut: ReadonlyArray<number>
}

/** The number of terminal columns that a line of printable text takes. */
export const widthOf = (line: string): number => (/^[\x20-\x7e]*$/.test(line) ? line.length : measured(line))

/** A cache of results that is cleared when full: the same names and tokens occur in many rows. */
const memo = <A>(make: (text: string) => A): ((text: string) => A) => {
  const known = new Map<string, A>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    if (known.size >= 4_096) known.clear()
    const made = make(text)
    known.set(text, made)
    return made
  }
}

const require = createRequire(import.meta.url)
/** The package's tables cost every command much, and only a text beyond ASCII needs them (decision 0038). */
const loadedWidth = memo((name: string) => (require(name) as { readonly default: typeof stringWidth }).default)
const measured = memo((line: string): number => loadedWidth("string-width")(line))

export const wishOf = (head: string, lines: ReadonlyArray<string>, rank: number): Wish => {
  let [widest, least] = [widthOf(head), widestWord(head)]
  for (const line of lines) {
    widest = Math.max(widest, widthOf(line))
    if (least < longestWord) least = Math.max(least, widestWord(line))
  }
  return { widest, least: Math.min(widest, least, longestWord), rank }
}

const widestWord = memo((line: string): number => {
  let widest = 0
  for (const piece of piecesOf(line, longestWord)) widest = Math.max(widest, widthOf(piece.trimEnd()))
  return widest
})

const sum = (values: Iterable<number>): number => {
  let total = 0
  for (const value of values) total += value
  return total
}

/** The shown columns and their widths. With `width` null, every column has its full width. The first column is always shown. */
export const fitColumns = (wishes: ReadonlyArray<Wish>, width: number | null): Layout => {
  const all = wishes.map((_, column) => column)
  if (width === null)
    return { shown: all.map((column) => ({ column, width: wishes[column]?.widest ?? 0 })), leftOut: [] }
  const wish = (column: number): Wish => wishes[column] as Wish
  const room = (shown: ReadonlyArray<number>): number => width - gap * (shown.length - 1)
  const shown = [...all]
  while (shown.length > 1 && sum(shown.map((column) => wish(column).least)) > room(shown)) {
    const last = shown.reduce((worst, column) => (wish(column).rank >= wish(worst).rank ? column : worst))
    shown.splice(shown.indexOf(last), 1)
  }
  const widths = shared(shown.map(wish), Math.max(1, room(shown)))
  return {
    shown: shown.map((column, index) => ({ column, width: widths[index] ?? 1 })),
    leftOut: all.filter((column) => !shown.includes(column))
  }
}

/** Distributes the room beyond the least widths, one terminal column at a time, to the column that lacks most. */
const shared = (wishes: ReadonlyArray<Wish>, room: number): ReadonlyArray<number> => {
  const widths = wishes.map(({ least }) => Math.min(least, room))
  for (let left = room - sum(widths); left > 0; left--) {
    let most = -1
    let missing = 0
    wishes.forEach(({ widest }, index) => {
      const misses = widest - (widths[index] ?? 0)
      if (misses > missing) [most, missing] = [index, misses]
    })
    if (most === -1) break
    widths[most] = (widths[most] ?? 0) + 1
  }
  return widths
}

/**
 * Splits a line at the places where it may break: after a space, and after a separator in a name wider than `whole`. Figures
 * are not split.
 */
const piecesOf = (line: string, whole: number): ReadonlyArray<string> =>
  line
    .split(/(?<= )(?=[^ ])/u)
    .flatMap((word) => (widthOf(word.trimEnd()) <= whole ? [word] : word.split(/(?<=[.:_/@-])(?=\p{L})/u)))

const graphemes = new Intl.Segmenter("en")

/**
 * Wraps a line to the width. A piece is broken only when it is wider than the width. With `keepsWord`, a line of a single word,
 * such as a link, stays unbroken, so that it can be copied.
 */
export const folded = (line: string, width: number, keepsWord = false): ReadonlyArray<string> => {
  if (widthOf(line) <= width || (keepsWord && !line.includes(" "))) return [line]
  const lines: Array<string> = []
  let [last, used] = ["", 0]
  const add = (part: string, its: number): void => {
    if (used > 0 && used + its > width) {
      lines.push(last.trimEnd())
      ;[last, used] = ["", 0]
    }
    last += part
    used += its
  }
  for (const piece of piecesOf(line, width)) {
    const word = piece.trimEnd()
    if (widthOf(word) <= width) add(word, widthOf(word))
    else for (const { segment } of graphemes.segment(word)) add(segment, widthOf(segment))
    // A trailing space takes no room at the end of a line.
    const space = Math.min(piece.length - word.length, width - used)
    if (used > 0) add(" ".repeat(space), space)
  }
  return [...lines, last.trimEnd()]
}

/** Like `folded`, with a mark where text was cut. */
export const foldedCell = (
  line: string,
  width: number
): { readonly lines: ReadonlyArray<string>; readonly cut: boolean } => {
  const lines = folded(line, width)
  if (lines.length <= linesOfCell) return { lines, cut: false }
  const last = folded(lines[linesOfCell - 1] ?? "", Math.max(1, width - 1))[0] ?? ""
  return { lines: [...lines.slice(0, linesOfCell - 1), `${last}…`], cut: true }
}
