/**
 * Renders a view as text: aligned columns that fit the terminal, and emphasis on terminals only (NO_COLOR is respected). It
 * is loaded only for output to people, and makes no calls.
 */
import { cellText, coloured, escaped, isStateName, type Screen, styled, unbroken } from "./cellText.ts"
import { fitColumns, folded, foldedCell, gap, widthOf, type Wish, wishOf } from "./fit.ts"
import type { Cell, View } from "./View.ts"

/** The view as text without a trailing line break. */
export const render = (view: View, screen: Screen): string => linesOf(view, screen).join("\n").replaceAll(unbroken, " ")

const linesOf = (view: View, screen: Screen): ReadonlyArray<string> => {
  switch (view.kind) {
    case "text":
      return linesOfText(cellText(view.text, screen), screen)
    case "stack":
      return view.views.flatMap((each) => linesOf(each, screen))
    case "fields":
      return linesOfFields(view.fields, screen)
    case "table":
      if (view.rows.length > 0) return linesOfTable(view, screen)
      return linesOfText(view.empty, screen).map((line) => (screen.styled ? styled("dim", line) : line))
  }
}

const linesOfText = (line: string, { columns }: Screen): ReadonlyArray<string> =>
  columns === null ? [line] : folded(line, columns, true)

/** Minimum width of values, even beside long names. */
const leastValue = 20

const linesOfFields = (
  fields: ReadonlyArray<readonly [name: string, value: Cell]>,
  screen: Screen
): ReadonlyArray<string> => {
  const { columns } = screen
  const rows = fields.map(([name, value]) => [escaped(name), cellText(value, screen)] as const)
  const widest = rows.reduce((most, [name]) => Math.max(most, widthOf(name)), 0)
  const names = columns === null ? widest : Math.min(widest, Math.max(leastValue, columns - gap - leastValue))
  const values = columns === null ? null : Math.max(1, columns - names - gap)
  return rows.flatMap(([name, value]) => {
    const pieces = values === null ? [value] : folded(value, values)
    const heads = folded(name, Math.max(1, names))
    return Array.from({ length: Math.max(pieces.length, heads.length) }, (_, index) => {
      const head = padded(heads[index] ?? "", names)
      const piece = pieces[index] ?? ""
      const shown = screen.styled && index === 0 && isStateName(name) ? coloured(piece) : piece
      return `${screen.styled ? styled("dim", head) : head}${" ".repeat(gap)}${shown}`.trimEnd()
    })
  })
}

type Table = Extract<View, { readonly kind: "table" }>

/** Ranks of columns that identify rows and their state: they are dropped last. */
const firstRanks: Readonly<Record<string, number>> = {
  id: -9,
  status: -8,
  state: -8,
  amount: -7,
  command: -6,
  client: -5,
  code: -5
}

/** The rank of an empty column, which is dropped first. */
const nothingThere = 1_000

const linesOfTable = ({ columns, ranks, rows }: Table, screen: Screen): ReadonlyArray<string> => {
  const heads = columns.map((name) => name.toUpperCase())
  const cells = rows.map((row) => row.map((cell) => cellText(cell, screen)))
  const wishes = heads.map((head, column): Wish => {
    const rank = ranks[column] ?? firstRanks[columns[column] ?? ""] ?? column
    if (cells.every((row) => row[column] === ""))
      return { widest: widthOf(head), least: widthOf(head), rank: nothingThere }
    return wishOf(
      head,
      cells.map((row) => row[column] ?? ""),
      rank
    )
  })
  const { shown, leftOut } = fitColumns(wishes, screen.columns)
  let cut = false
  const drawn = (
    row: ReadonlyArray<string>,
    style: (text: string, column: number) => string
  ): ReadonlyArray<string> => {
    const folds = shown.map(({ column, width }) => {
      const text = row[column] ?? ""
      const fold = screen.columns === null ? { lines: [text], cut: false } : foldedCell(text, width)
      cut ||= fold.cut
      return fold.lines
    })
    const height = folds.reduce((most, { length }) => Math.max(most, length), 1)
    return Array.from({ length: height }, (_, line) =>
      shown
        .map(({ column, width }, index) => {
          const piece = folds[index]?.[line] ?? ""
          const space = index === shown.length - 1 ? "" : " ".repeat(Math.max(0, width - widthOf(piece)) + gap)
          return `${piece === "" || !screen.styled ? piece : style(piece, column)}${space}`
        })
        .join("")
        .trimEnd()
    )
  }
  const states = columns.map(isStateName)
  const lines = [
    ...drawn(heads, (text) => styled("bold", text)),
    ...cells.flatMap((row) => drawn(row, (text, column) => (states[column] === true ? coloured(text) : text)))
  ]
  return [
    ...lines,
    ...footOf(
      leftOut.filter((column) => wishes[column]?.rank !== nothingThere).map((column) => heads[column] ?? ""),
      cut,
      screen
    )
  ]
}

const padded = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)))

/** The note on columns and text that a narrow terminal left out, and on the option that shows them. */
const footOf = (leftOut: ReadonlyArray<string>, cut: boolean, screen: Screen): ReadonlyArray<string> => {
  const missing = leftOut.length === 0 ? "" : `Not shown: ${leftOut.join(", ")}.`
  const shortened = cut ? "Cut at …" : ""
  const note = [missing, shortened].filter((part) => part !== "").join(" ")
  if (note === "") return []
  return linesOfText(`${note} --wide shows everything.`, screen).map((line) =>
    screen.styled ? styled("dim", line) : line
  )
}
