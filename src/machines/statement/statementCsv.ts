/**
 * A statement as CSV: RFC 4180 with CRLF, a first line with the column names, UTF-8 without byte order mark, ISO 8601 times.
 * A text that a spreadsheet would interpret as a formula gets an apostrophe. Numbers, times and ids never get one, so a
 * negative amount stays a number (A2-74, STS-30).
 */
import type { StatementKind } from "./statementTokens.ts"
import type { ModelHead, ModelRow, SectionFacts } from "./StatementModel.ts"

type CellKind = "text" | "number" | "time" | "id"

export interface CsvColumn {
  readonly name: string
  readonly kind: CellKind
}

const columns = (kind: CellKind, ...names: ReadonlyArray<string>): ReadonlyArray<CsvColumn> =>
  names.map((name) => ({ name, kind }))

export const csvColumns: { readonly [K in StatementKind]: ReadonlyArray<CsvColumn> } = {
  ACCOUNT: [
    ...columns("time", "ts", "venueTs"),
    ...columns("text", "currency", "type"),
    ...columns("number", "amount", "balance"),
    ...columns("text", "kind"),
    ...columns("id", "postingId", "txId"),
    ...columns("text", "refs")
  ],
  TRANSACTIONS: [
    ...columns("text", "firm", "clientUid"),
    ...columns("time", "bookedAt"),
    ...columns("text", "tradingDay", "tradingTime", "orderType", "venue", "instrument", "side", "nature"),
    ...columns("number", "quantity", "unitPrice", "consideration", "commission"),
    ...columns("text", "currency", "counterparty"),
    ...columns("id", "orderId")
  ],
  COSTS: [
    ...columns("text", "category", "family", "description"),
    ...columns("number", "amount", "pctOfTurnover", "pctOfAverageEquity")
  ],
  TAX: [
    ...columns("text", "section", "asset"),
    ...columns("time", "acquired", "disposed"),
    ...columns("number", "quantity", "proceeds", "cost", "result"),
    ...columns("text", "method")
  ],
  CLIENT_ASSETS: [
    ...columns("text", "currency", "asset"),
    ...columns("number", "quantity", "reserved", "inSwaps", "mark", "value")
  ]
}

const dayMillis = 86_400_000
const twoDigits = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, "0"))
/** The last written day, cached: the times of a statement are in order. */
let lastDay = { begins: 0, text: "1970-01-01T" }

/** A time (Unix ms) as `Date.toISOString` writes it, five times faster: a large statement has very many. */
const isoTime = (ts: number): string => {
  const of = ts - lastDay.begins
  if (!(of >= 0 && of < dayMillis)) {
    const begins = Math.floor(ts / dayMillis) * dayMillis
    lastDay = { begins, text: new Date(begins).toISOString().slice(0, -"00:00:00.000Z".length) }
    return isoTime(ts)
  }
  const seconds = Math.floor(of / 1_000)
  const minutes = Math.floor(seconds / 60)
  const clock = `${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}`
  return `${lastDay.text}${clock}.${String(of % 1_000).padStart(3, "0")}Z`
}

const formula = /^[=+\-@\t\r]/
const quoted = /[",\r\n]/

/** The text of a cell (RFC 4180, 2.5 to 2.7), with an apostrophe before a text that begins like a formula. */
export const csvCell = (value: unknown, kind: CellKind): string => {
  if (value === null || value === undefined) return ""
  if (kind === "time") return isoTime(value as number)
  if (typeof value === "number" && kind !== "text") return String(value)
  const plain = String(value)
  const text = kind === "text" && formula.test(plain) ? `'${plain}` : plain
  return quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A row as one line. A member that the row lacks has the value of its section (`csvCommon`). */
export const csvLine = (
  layout: ReadonlyArray<CsvColumn>,
  common: ModelRow,
  row: ModelRow,
  refs: string | null
): string => {
  let line = ""
  for (const { name, kind } of layout) {
    const own = name === "refs" ? refs : row[name]
    line += `,${csvCell(own === undefined ? common[name] : own, kind)}`
  }
  return `${line.slice(1)}\r\n`
}

export const csvHead = (layout: ReadonlyArray<CsvColumn>): string => `${layout.map(({ name }) => name).join(",")}\r\n`

/** The members that every row of a section has besides its own columns. */
export const csvCommon = (head: ModelHead, section: SectionFacts): ModelRow => ({
  section: section.name,
  firm: head.firm.name,
  clientUid: head.clientUid,
  counterparty: section["counterparty"] ?? null,
  ...(section["currency"] === undefined ? {} : { currency: section["currency"] })
})

type Held = { readonly cash: string; readonly reserved: string }

/** The opening and closing balances of an ACCOUNT section: one row each, without amount, venue time and ids. */
export const csvEdges = (
  head: ModelHead,
  section: SectionFacts,
  edge: "OPENING" | "CLOSING"
): ReadonlyArray<ModelRow> => {
  const held = section[edge === "OPENING" ? "opening" : "closing"] as Held | undefined
  if (held === undefined) return []
  const ts = edge === "OPENING" ? head.periodFrom : head.periodTo - 1
  return (["cash", "reserved"] as const).map((kind) => ({ ts, type: edge, kind, balance: held[kind] }))
}
