/**
 * The tables of a statement's PDF (STS-31): which columns each section has, how wide, and what a row says in them. A cell has one
 * line or two, every row of a table as many, so that all rows are of one height and the number of pages is known beforehand. What a
 * PDF leaves out stands in model and CSV. Points; the page is A4, lying, with 36 at each side.
 */
import type { Json } from "../Effects.ts"
import type { ModelRow } from "./StatementModel.ts"

export interface PdfColumn {
  readonly title: string
  readonly width: number
  readonly align: "left" | "right"
  /** What a row says, a text for each line. */
  readonly lines: ReadonlyArray<(row: ModelRow) => string>
}

export interface PdfTable {
  readonly columns: ReadonlyArray<PdfColumn>
  readonly lines: 1 | 2
}

/** Of the page between its margins. */
export const tableWidth = 770

const plain = (value: Json | undefined): string =>
  value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value)
const word = (name: string) => (row: ModelRow) => plain(row[name])
const time = (name: string) => (row: ModelRow) => momentText(row[name])

/** A moment in UTC, to the millisecond. */
export const momentText = (value: Json | undefined): string =>
  typeof value === "number" ? new Date(value).toISOString().replace("T", " ").replace("Z", "") : ""

const left = (title: string, width: number, ...lines: ReadonlyArray<PdfColumn["lines"][number]>): PdfColumn => ({
  title,
  width,
  align: "left",
  lines
})
const right = (title: string, width: number, ...lines: ReadonlyArray<PdfColumn["lines"][number]>): PdfColumn => ({
  ...left(title, width, ...lines),
  align: "right"
})

const account: PdfTable = {
  lines: 1,
  columns: [
    left("Booked (UTC)", 124, time("ts")),
    left("Venue time (UTC)", 124, time("venueTs")),
    left("Type", 148, word("type")),
    left("Kind", 50, word("kind")),
    right("Amount", 112, word("amount")),
    right("Balance", 112, word("balance")),
    right("Posting", 50, word("postingId")),
    right("Transaction", 50, word("txId"))
  ]
}

const executions: PdfTable = {
  lines: 2,
  columns: [
    left(
      "Booked / traded (UTC)",
      128,
      time("bookedAt"),
      (row) => `${plain(row["tradingDay"])} ${plain(row["tradingTime"]).replace("Z", "")}`
    ),
    left("Instrument / order type", 128, word("instrument"), word("orderType")),
    left("Side / nature", 118, word("side"), word("nature")),
    right("Quantity / unit price", 112, word("quantity"), word("unitPrice")),
    right("Consideration / commission", 130, word("consideration"), word("commission")),
    left("Currency / venue", 74, word("currency"), word("venue")),
    right("Order / object", 80, word("orderId"), word("object"))
  ]
}

const costs: PdfTable = {
  lines: 1,
  columns: [
    left("Category", 92, word("category")),
    left("Family", 62, word("family")),
    left("Description", 316, word("description")),
    right("Amount", 110, word("amount")),
    right("% of turnover", 90, word("pctOfTurnover")),
    right("% of average equity", 100, word("pctOfAverageEquity"))
  ]
}

const tax: PdfTable = {
  lines: 1,
  columns: [
    left("Asset", 110, word("asset")),
    left("Acquired (UTC)", 120, time("acquired")),
    left("Disposed (UTC)", 120, time("disposed")),
    right("Quantity", 88, word("quantity")),
    right("Proceeds", 88, word("proceeds")),
    right("Cost", 88, word("cost")),
    right("Result", 88, word("result")),
    left("Method", 68, word("method"))
  ]
}

const assets: PdfTable = {
  lines: 2,
  columns: [
    left("Currency / asset", 120, word("currency"), word("asset")),
    right("Quantity / reserved", 110, word("quantity"), word("reserved")),
    right("In swaps", 96, word("inSwaps")),
    right("Mark / value", 110, word("mark"), word("value")),
    left("Held by / note", 334, word("custody"), word("note"))
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
  TOTALS: tax,
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

/** A section's facts in words, one line each: what its rows add up to. */
export const factLines = (facts: { readonly [name: string]: Json }): ReadonlyArray<string> =>
  Object.entries(facts).flatMap(([name, value]) => {
    if (name === "name" || name === "rows" || value === null) return []
    if (Array.isArray(value)) {
      const parts = value.map((each) => Object.values(each as object).join(" "))
      return parts.length === 0 ? [] : parts.map((part) => `${inWords(name)}: ${part}`)
    }
    if (typeof value === "object")
      return [
        `${inWords(name)}: ${Object.entries(value)
          .map(([part, text]) => `${part} ${plain(text as Json)}`)
          .join(", ")}`
      ]
    return [`${inWords(name)}: ${plain(value)}`]
  })

/** A name of the model as words: returnBeforeCostsPct is "Return before costs pct". */
export const inWords = (name: string): string => {
  const spaced = name.replaceAll(
    /([a-z0-9])([A-Z])/g,
    (_, before: string, next: string) => `${before} ${next.toLowerCase()}`
  )
  return `${spaced.charAt(0).toUpperCase()}${spaced.slice(1)}`
}
