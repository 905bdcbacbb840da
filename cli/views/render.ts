/**
 * Draws a view as text with ink: aligned columns, and emphasis on a terminal only (NO_COLOR honoured). Loaded for human
 * output alone. Components take data and never fetch.
 */
import { Box, renderToString, Text } from "ink"
import { createElement, Fragment, type ReactElement } from "react"
import type { Cell, View } from "./View.ts"

/** Wider than any line: the terminal wraps, the layout does not. */
const columns = 4_000

/** The view as text without a trailing line break. `styled`: a terminal that wants colours. */
export const render = (view: View, styled: boolean): string =>
  renderToString(createElement(ViewBox, { view, styled }), { columns })
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")

interface Props {
  readonly view: View
  readonly styled: boolean
}

const ViewBox = ({ view, styled }: Props): ReactElement => {
  switch (view.kind) {
    case "text":
      return createElement(Text, null, shown(view.text))
    case "stack":
      return createElement(
        Box,
        { flexDirection: "column" },
        ...view.views.map((each, index) => createElement(ViewBox, { key: index, view: each, styled }))
      )
    case "fields":
      return createElement(Columns, {
        styled,
        heads: null,
        cells: [view.fields.map(([name]) => name), view.fields.map(([, value]) => value)]
      })
    case "table":
      return view.rows.length === 0
        ? createElement(Text, { dimColor: styled }, view.empty)
        : createElement(Columns, {
            styled,
            heads: view.columns.map((name) => name.toUpperCase()),
            cells: view.columns.map((_, column) => view.rows.map((row) => row[column]))
          })
  }
}

interface ColumnsProps {
  readonly styled: boolean
  readonly heads: ReadonlyArray<string> | null
  readonly cells: ReadonlyArray<ReadonlyArray<Cell>>
}

/** Side by side: the layout gives each column the width of its widest cell, however wide its characters are. */
const Columns = ({ styled, heads, cells }: ColumnsProps): ReactElement =>
  createElement(
    Box,
    { columnGap: 2 },
    ...cells.map((column, index) =>
      createElement(
        Box,
        { key: index, flexDirection: "column", flexShrink: 0 },
        heads === null ? createElement(Fragment) : createElement(Text, { bold: styled }, heads[index]),
        ...column.map((cell, row) =>
          createElement(Text, { key: row, dimColor: styled && heads === null && index === 0 }, shown(cell))
        )
      )
    )
  )

/** An empty cell still takes its line; control characters could command the terminal. */
const shown = (cell: Cell): string => {
  const text = cell === null || cell === undefined ? "" : String(cell)
  const safe = text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "?")
  return safe === "" ? " " : safe
}
