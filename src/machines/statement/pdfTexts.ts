/**
 * The texts of a statement's PDF besides its rows: titles, client and proof, notes, and each section's facts. The head
 * determines the number of lines, so that the pages can be counted before they are drawn (STS-31).
 */
import type { Json } from "../shared/Json.ts"
import { londonTimeOf } from "./londonDay.ts"
import type { StatementVersion } from "./Statement.ts"
import type { StatementKind } from "./statementTokens.ts"
import type { ModelHead, SectionFacts } from "./StatementModel.ts"

export interface PdfEntry {
  readonly label: string
  readonly text: string
}

/** One line of the title block: two entries side by side, or one over the whole width. */
export type PdfHeadLine = readonly [PdfEntry] | readonly [PdfEntry, PdfEntry]

const titles: { readonly [K in StatementKind]: string } = {
  ACCOUNT: "Account statement",
  COSTS: "Statement of costs and charges",
  TRANSACTIONS: "Statement of transactions",
  TAX: "Tax statement",
  CLIENT_ASSETS: "Statement of client assets"
}

export const titleOf = (kind: string): string => titles[kind as StatementKind] ?? inWords(kind)

/** The custody text by renderer. Renderer 1 stated it for all of the client's money, but it is true for USDC only. */
const custodyOfPartner = [
  "PARTNER: held by the partner, as collateral",
  "PARTNER: USDC held by the partner, as collateral"
]

const custodyText = (model: string, renderer: number): string => {
  if (model === "PARTNER") return custodyOfPartner[renderer === 1 ? 0 : 1] ?? model
  return model === "BROKER" ? "BROKER: held by the service, for the client" : model
}

/** A moment in UTC to the millisecond; empty for a value that is no number. */
export const momentText = (value: Json | undefined): string =>
  typeof value === "number" ? new Date(value).toISOString().replace("T", " ").replace("Z", "") : ""

/**
 * The period of a statement in its time zone. Renderer 1 printed UTC times labelled London; it stays, because old statements keep
 * their bytes.
 */
export const periodText = (
  { periodFrom, periodTo, timeZone }: Pick<ModelHead, "periodFrom" | "periodTo" | "timeZone">,
  renderer: number
): string => {
  const isLondon = renderer > 1 && timeZone === "Europe/London"
  const shown = (at: number): string => momentText(isLondon ? londonTimeOf(at) : at)
  return `${shown(periodFrom)} up to ${shown(periodTo)} ${timeZone}`
}

/** The lines of the title block: client, period, and the hash and seal that prove the statement. */
export const headLines = (
  head: ModelHead,
  renderer: number,
  { statementId, version, supersedes }: StatementVersion,
  sha256: string
): ReadonlyArray<PdfHeadLine> => {
  const { ledgerSeal, cut } = head
  return [
    [entry("Client", head.clientUid), entry("Statement", `${statementId}, version ${version}`)],
    [
      entry("Partner", head.partner),
      entry(
        "In place of",
        supersedes === null
          ? "none: the first of its period"
          : `${supersedes.statementId}, version ${supersedes.version}`
      )
    ],
    [entry("Period", periodText(head, renderer)), entry("Currency", head.currency)],
    [
      entry("Custody", custodyText(head.custodyModel, renderer)),
      entry("Ledger", ledgerSeal === null ? "no posting" : `posting ${cut.postingId}, in seal ${ledgerSeal.number}`)
    ],
    [entry("Model SHA-256", sha256)],
    ...(ledgerSeal === null ? [] : [[entry("Seal SHA-256", ledgerSeal.hash)] as const]),
    ...(supersedes === null ? [] : [[entry("Replaced SHA-256", supersedes.sha256)] as const])
  ]
}

const entry = (label: string, text: string): PdfEntry => ({ label, text })

/** Longest line of a note, characters. */
const noteLength = 160

/** The notes of a statement, which concern all rows, wrapped into lines. */
export const noteLines = (notes: ReadonlyArray<string>): ReadonlyArray<string> => notes.flatMap(wrapped)

const wrapped = (note: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of note.split(" ")) {
    if (line !== "" && line.length + word.length >= noteLength) {
      lines.push(line)
      line = ""
    }
    line += line === "" ? word : ` ${word}`
  }
  return [...lines, line]
}

/** The title of a section, such as "Account, USDC". */
export const sectionTitle = ({ name, currency }: SectionFacts): string => {
  const words = inWords(name.replace("_", " ").toLowerCase())
  return typeof currency === "string" ? `${words}, ${currency}` : words
}

/** Facts printed in front of the rows, because the rows start from them. All other facts are results and follow the rows. */
const before: ReadonlyArray<string> = ["opening", "counterparty"]
/** Facts printed after the rows: in this order, two per line. */
const behind: ReadonlyArray<string> = [
  "closing",
  "totals",
  "total",
  "thirdPartyPayments",
  "pctOfTurnover",
  "pctOfAverageEquity",
  "turnover",
  "averageEquity",
  "holdingsValued",
  "startEquity",
  "endEquity",
  "returnBeforeCostsPct",
  "returnAfterCostsPct",
  "netDeposits",
  "proceeds",
  "costs",
  "gains",
  "losses",
  "disposals"
]

const labels: Readonly<Record<string, string>> = {
  total: "Total costs and charges",
  thirdPartyPayments: "Of which payments of third parties",
  pctOfTurnover: "Total, % of turnover",
  pctOfAverageEquity: "Total, % of average equity",
  returnBeforeCostsPct: "Return before costs, %",
  returnAfterCostsPct: "Return after costs, %",
  holdingsValued: "Wholly valued",
  startEquity: "Equity at the start",
  endEquity: "Equity at the end",
  disposals: "Number of disposals"
}

/** A section's facts, in front of its rows and after them; a missing figure is "n/a". */
export const sectionFacts = (
  facts: SectionFacts
): { readonly before: ReadonlyArray<PdfEntry>; readonly after: ReadonlyArray<PdfEntry> } => {
  const of = (names: ReadonlyArray<string>) =>
    names.flatMap((name) => {
      const value = facts[name]
      return value === undefined ? [] : entriesOf(name, value)
    })
  return { before: of(before), after: of(behind) }
}

const entriesOf = (name: string, value: Json): ReadonlyArray<PdfEntry> => {
  const label = labels[name] ?? inWords(name)
  if (Array.isArray(value))
    return value.map((each) => {
      const [what, figure] = partsOf(each as { readonly type?: Json; readonly amount?: Json })
      return entry(`Total ${what}`, figure)
    })
  if (typeof value === "boolean") return [entry(label, value ? "yes" : "no")]
  if (typeof value === "object" && value !== null)
    return Object.entries(value).map(([part, figure]) => entry(`${label} ${part}`, figureText(figure)))
  return [entry(label, value === null ? "n/a" : figureText(value))]
}

const partsOf = ({ type, amount }: { readonly type?: Json; readonly amount?: Json }): readonly [string, string] => [
  plainText(type),
  figureText(amount)
]

/** A value as plain text; an object as JSON. */
export const plainText = (value: Json | undefined): string =>
  value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value)

const decimal = /^(-?)([0-9]+)((?:\.[0-9]+)?)$/

/** A figure with separated thousands and all its places; any other text unchanged. */
export const figureText = (value: Json | undefined): string => {
  const plain = plainText(value)
  const [, sign, whole, places] = decimal.exec(plain) ?? []
  return whole === undefined ? plain : `${sign}${whole.replaceAll(/\B(?=(?:[0-9]{3})+$)/g, ",")}${places}`
}

/** A name of the model as words: returnBeforeCostsPct is "Return before costs pct". */
export const inWords = (name: string): string => {
  const spaced = name.replaceAll(
    /([a-z0-9])([A-Z])/g,
    (_, last: string, next: string) => `${last} ${next.toLowerCase()}`
  )
  return `${spaced.charAt(0).toUpperCase()}${spaced.slice(1)}`
}
