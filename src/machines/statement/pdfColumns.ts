/**
 * The tables of a statement's PDF: the columns of each section, their widths, and their text in a row. All rows of a table
 * have the same number of lines, one or two, so the number of pages is known before drawing. Sizes are in points; the page is
 * A4, landscape, with margins of 36 at each side (STS-31).
 */
import type { Json } from "../shared/Json.ts"
import { figureText, momentText, plainText } from "./pdfTexts.ts"
import type { ModelRow } from "./StatementModel.ts"

type CellText = (row: ModelRow) => string

export interface PdfColumn {
  /** The column's titles: a text for each line of the table's head. */
  readonly titles: ReadonlyArray<string>
  readonly width: number
  readonly align: "left" | "right"
  /**
   * The treatment of a text that is wider than its column. `narrow` squeezes figures, ids, times and sentences, and never
   * cuts them. `cut` ends the text in an ellipsis. `flow` continues in the second line; if that is full too, renderers 1 and
   * 2 cut the text, and later ones break it between its `parts` and squeeze it.
   */
  readonly wide: "narrow" | "cut" | "flow"
  /** For `flow`: the parts of the text, inside which no line may break. */
  readonly parts?: (row: ModelRow) => ReadonlyArray<string>
  /** The texts of a row, one for each line. */
  readonly lines: ReadonlyArray<CellText>
}

export interface PdfTable {
  readonly columns: ReadonlyArray<PdfColumn>
  readonly lines: 1 | 2
}

/** Width of the page between its margins. */
export const tableWidth = 770

const word =
  (name: string): CellText =>
  (row) =>
    plainText(row[name])
const amount =
  (name: string): CellText =>
  (row) =>
    figureText(row[name])
const time =
  (name: string): CellText =>
  (row) =>
    momentText(row[name])

type Line = readonly [title: string, text: CellText]

const column = (
  align: PdfColumn["align"],
  wide: PdfColumn["wide"],
  width: number,
  lines: ReadonlyArray<Line>
): PdfColumn => ({
  titles: lines.map(([title]) => title),
  width,
  align,
  wide,
  lines: lines.map(([, text]) => text)
})
const texts = (width: number, ...lines: ReadonlyArray<Line>) => column("left", "cut", width, lines)
const times = (width: number, ...lines: ReadonlyArray<Line>) => column("left", "narrow", width, lines)
const figures = (width: number, ...lines: ReadonlyArray<Line>) => column("right", "narrow", width, lines)

/** The causes that a posting names: the partner's reference first, the others sorted by name. */
const references = ({ refs }: ModelRow): ReadonlyArray<string> => {
  if (typeof refs !== "object" || refs === null || Array.isArray(refs)) return [plainText(refs)]
  const { partnerRef, ...others } = refs as { readonly [name: string]: Json }
  const named = Object.entries(others).flatMap(([name, value]) =>
    value === null ? [] : [`${name} ${plainText(value)}`]
  )
  return partnerRef === undefined || partnerRef === null ? named : [plainText(partnerRef), ...named]
}

const named = (width: number): PdfColumn => ({
  ...column("left", "flow", width, [["Reference", (row) => references(row).join(", ")]]),
  parts: references
})

const account: PdfTable = {
  lines: 2,
  columns: [
    times(110, ["Booked (UTC)", time("ts")], ["At the venue", time("venueTs")]),
    texts(134, ["Type", word("type")], ["Kind", word("kind")]),
    named(212),
    figures(90, ["Posting", word("postingId")], ["Transaction", word("txId")]),
    figures(112, ["Amount", amount("amount")]),
    figures(112, ["Balance of its kind", amount("balance")])
  ]
}

const executions: PdfTable = {
  lines: 2,
  columns: [
    times(
      110,
      ["Booked (UTC)", time("bookedAt")],
      ["Traded", (row) => `${plainText(row["tradingDay"])} ${plainText(row["tradingTime"]).replace("Z", "")}`]
    ),
    texts(112, ["Instrument", word("instrument")], ["Order type", word("orderType")]),
    texts(126, ["Side", word("side")], ["Nature", word("nature")]),
    figures(112, ["Quantity", amount("quantity")], ["Unit price", amount("unitPrice")]),
    figures(112, ["Consideration", amount("consideration")], ["Commission", amount("commission")]),
    texts(94, ["Currency", word("currency")], ["Venue", word("venue")]),
    figures(104, ["Order", word("orderId")], ["Object", word("object")])
  ]
}

const costs: PdfTable = {
  lines: 1,
  columns: [
    texts(92, ["Category", word("category")]),
    texts(62, ["Family", word("family")]),
    texts(306, ["Description", word("description")]),
    figures(112, ["Amount", amount("amount")]),
    figures(92, ["% of turnover", amount("pctOfTurnover")]),
    figures(106, ["% of average equity", amount("pctOfAverageEquity")])
  ]
}

const remarks: CellText = ({ assumed, provisional }) =>
  [...(assumed === true ? ["assumed"] : []), ...(provisional === true ? ["provisional"] : [])].join(", ")

const tax: PdfTable = {
  lines: 2,
  columns: [
    texts(112, ["Asset", word("asset")]),
    times(110, ["Acquired (UTC)", time("acquired")], ["Disposed", time("disposed")]),
    figures(112, ["Quantity", amount("quantity")]),
    figures(112, ["Proceeds", amount("proceeds")]),
    figures(112, ["Cost", amount("cost")]),
    figures(112, ["Result", amount("result")]),
    texts(100, ["Method", word("method")], ["Remarks", remarks])
  ]
}

const taxTotals: PdfTable = {
  lines: 1,
  columns: [
    texts(222, ["Of", word("asset")]),
    figures(100, ["Entries", amount("quantity")]),
    figures(149, ["Proceeds", amount("proceeds")]),
    figures(149, ["Cost", amount("cost")]),
    figures(150, ["Result", amount("result")])
  ]
}

const holder: CellText = ({ custody, titleTransfer, unsecured }) =>
  [
    plainText(custody),
    ...(titleTransfer === true ? ["title passed"] : []),
    ...(unsecured === true ? ["unsecured claim"] : [])
  ].join("; ")

const remark: CellText = ({ note, maturityTs }) =>
  [
    ...(typeof maturityTs === "number" ? [`Due ${momentText(maturityTs)}.`] : []),
    ...(plainText(note) === "" ? [] : [plainText(note)])
  ].join(" ")

const assets: PdfTable = {
  lines: 2,
  columns: [
    texts(118, ["Asset", word("asset")], ["Currency", word("currency")]),
    figures(112, ["Quantity", amount("quantity")], ["Of which reserved", amount("reserved")]),
    figures(112, ["In swaps", amount("inSwaps")]),
    figures(112, ["Mark", amount("mark")], ["Value (USDC)", amount("value")]),
    column("left", "narrow", 316, [
      ["Held by", holder],
      ["Remark", remark]
    ])
  ]
}

const tables: Readonly<Record<string, PdfTable>> = {
  ACCOUNT: account,
  EXECUTIONS: executions,
  COSTS: costs,
  DISPOSALS: tax,
  PERPETUALS: tax,
  BARRIERS: tax,
  STAKING: tax,
  FUNDING: tax,
  TOTALS: taxTotals,
  CASH: assets,
  ASSETS: assets,
  SWAPS: assets,
  POSITIONS: assets,
  CONTRACTS: assets
}

/** The table of a section, by its name. */
export const pdfTable = (section: string): PdfTable => {
  const found = tables[section]
  if (found === undefined) throw new Error(`the section ${section} has no table`)
  return found
}
