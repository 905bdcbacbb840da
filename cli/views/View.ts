/** The view of a command as plain data: commands build it, and only the renderer loads the terminal library. */
import { plainOf } from "../../src/machines/shared/exactJson.ts"

/**
 * The format of a time on a terminal. `whole`: complete. `brief`: without seconds; today, only the time of day. `clock`: the
 * time of day to the ms.
 */
export type MomentStyle = "whole" | "brief" | "clock"

/** A time, Unix ms. The renderer shows it in the local zone, and in a short form on a terminal. */
export class Moment {
  readonly at: number
  readonly style: MomentStyle

  constructor(at: number, style: MomentStyle = "whole") {
    this.at = at
    this.style = style
  }

  /** The time in UTC, for sentences that are built before the output is known. */
  toString(): string {
    const date = new Date(this.at)
    // A number outside the calendar's range is no valid time, so it is shown as it is.
    if (Number.isNaN(date.getTime())) return String(this.at)
    return date.toISOString().replace("T", " ").replace(".000Z", "Z")
  }
}

/** A partner or an operator key by id. It is shown by its code or label, if the service returns that. */
export class Named {
  readonly kind: "partner" | "operator"
  readonly id: number
  /** True to show the id before the name, for a member that is called an id. */
  readonly withId: boolean
  /** The noun before the name, such as "partner", for columns that mix several kinds. */
  readonly word: string

  constructor(kind: Named["kind"], id: number, withId = false, word = "") {
    this.kind = kind
    this.id = id
    this.withId = withId
    this.word = word
  }

  toString(): string {
    return String(this.id)
  }
}

/** A sentence with times and names, which are formatted when it is rendered. */
export class RichText {
  readonly parts: ReadonlyArray<string | Moment | Named>

  constructor(parts: ReadonlyArray<string | Moment | Named>) {
    this.parts = parts
  }

  toString(): string {
    return this.parts.map(String).join("")
  }
}

/** Makes a sentence: richText`open since ${time(at)}`. */
export const richText = (strings: TemplateStringsArray, ...values: ReadonlyArray<Cell>): RichText =>
  new RichText(strings.flatMap((string, index) => [string, ...partsOf(index < values.length ? values[index] : "")]))

const partsOf = (value: Cell): RichText["parts"] =>
  value instanceof RichText
    ? value.parts
    : [value instanceof Moment || value instanceof Named ? value : String(value ?? "")]

/** Joins the non-empty cells with a separator. */
export const joined = (cells: ReadonlyArray<Cell>, between: string): RichText =>
  new RichText(
    cells
      .filter((cell) => cell !== null && cell !== undefined && cell !== "")
      .flatMap((cell, index) => [...(index === 0 ? [] : [between]), ...partsOf(cell)])
  )

export type Cell = string | number | boolean | null | undefined | Moment | Named | RichText

/** A column of a table: its content, and its rank on a narrow terminal. */
export interface Column<A> {
  readonly cell: (row: A) => Cell
  /**
   * On a narrow terminal, columns with the highest rank are dropped first. When unset, the heading and then the position
   * decide.
   */
  readonly rank?: number
}

export type View =
  | {
      readonly kind: "table"
      readonly columns: ReadonlyArray<string>
      readonly ranks: ReadonlyArray<number | undefined>
      readonly rows: ReadonlyArray<ReadonlyArray<Cell>>
      readonly empty: string
    }
  | { readonly kind: "fields"; readonly fields: ReadonlyArray<readonly [name: string, value: Cell]> }
  | { readonly kind: "text"; readonly text: string | RichText }
  | { readonly kind: "stack"; readonly views: ReadonlyArray<View> }

/** Rows of objects as a table; `columns` maps a heading to a cell, or to a column with its rank. */
export const table = <A>(
  rows: ReadonlyArray<A>,
  columns: Readonly<Record<string, ((row: A) => Cell) | Column<A>>>,
  empty: string
): View => {
  const all = Object.values(columns).map((column) => (typeof column === "function" ? { cell: column } : column))
  return {
    kind: "table",
    columns: Object.keys(columns),
    ranks: all.map(({ rank }) => rank),
    rows: rows.map((row) => all.map(({ cell }) => cell(row))),
    empty
  }
}

/** The members of an object, one per line: lists are joined, flat objects inlined, deeper ones shown under dotted names. */
export const fields = (object: object): View => ({ kind: "fields", fields: lines("", object) })

export const text = (line: string | RichText): View => ({ kind: "text", text: line })
export const stack = (...views: ReadonlyArray<View>): View => ({ kind: "stack", views })

/** One page of a list; if further rows exist, the option that shows the next page follows it. */
export const page = (
  shown: View,
  { hasMore, nextBefore }: { readonly hasMore: boolean; readonly nextBefore: number | null }
): View => stack(shown, ...(hasMore ? [text(`More with --before ${nextBefore}.`)] : []))

/** Unix ms as a time; empty for null. */
export const time = (millis: number | null): Moment | "" => (millis === null ? "" : new Moment(millis))

/** A partner by its code; empty for null. */
export const partnerNamed = (id: number | null): Cell => (id === null ? null : new Named("partner", id))

/** An operator key by its label; empty for null. */
export const operatorNamed = (id: number | null): Cell => (id === null ? null : new Named("operator", id))

/** A small object or list inside a cell: `bic X, iban Y`. Never JSON; times are formatted. */
export const inlineText = (value: unknown): RichText => new RichText(phrase("", value))

const phrase = (name: string, shown: unknown): RichText["parts"] => {
  const value = plainOf(shown)
  if (value === null || value === undefined) return ["-"]
  if (isTime(name, value)) return [new Moment(value)]
  if (name === "partnerId" && typeof value === "number") return [new Named("partner", value, true)]
  if (typeof value !== "object" || value instanceof Moment || value instanceof Named || value instanceof RichText)
    return partsOf(value as Cell)
  const members: ReadonlyArray<RichText["parts"]> = Array.isArray(value)
    ? value.map((item) => inner(name, item))
    : Object.entries(value).map(([member, each]) => [`${member} `, ...inner(member, each)])
  return members.flatMap((parts, index) => (index === 0 ? parts : [", ", ...parts]))
}

const inner = (name: string, value: unknown): RichText["parts"] =>
  isPlain(value) ? phrase(name, value) : ["(", ...phrase(name, value), ")"]

const isPlain = (value: unknown): boolean => {
  const plain = plainOf(value)
  return typeof plain !== "object" || plain === null
}

/**
 * An object in a partner's own shape, such as a destination. Each value is shown as the partner sent it, never formatted as a
 * time or an id.
 */
export const asSent = (value: unknown): string => {
  if (isPlain(value)) return String(plainOf(value) ?? "-")
  const inner = (each: unknown): string => (isPlain(each) ? asSent(each) : `(${asSent(each)})`)
  const members = Array.isArray(value)
    ? value.map(inner)
    : Object.entries(value as object).map(([name, each]) => `${name} ${inner(each)}`)
  return members.join(", ")
}

const timeNames = new Set(["ts", "expiryTs", "now", "wallNow", "venueNow", "periodFrom", "periodTo"])
/** Member names that are not always times: their values are shown as times only within a plausible range. */
const oftenTimes = new Set(["since", "until", "from", "to", "validUntil"])
const firstMoment = 1_000_000_000_000

const isTime = (name: string, value: unknown): value is number =>
  typeof value === "number" &&
  (name.endsWith("At") || timeNames.has(name) || (oftenTimes.has(name) && value >= firstMoment))

/** Lines under the name of the enclosing object; deeper objects get one line per member. */
const lines = (around: string, object: object): ReadonlyArray<readonly [string, Cell]> =>
  Object.entries(object).flatMap(([member, value]): ReadonlyArray<readonly [string, Cell]> => {
    const name = around === "" ? member : `${around}.${member}`
    if (isTime(member, value)) return [[name, time(value)]]
    if (value instanceof Moment || value instanceof Named || value instanceof RichText) return [[name, value]]
    if (isPlain(value)) return [[name, (member === "partnerId" ? namedPartner(value) : plainOf(value)) as Cell]]
    if (member === "destination") return [[name, asSent(value)]]
    const members = Object.values(value as object)
    if (members.every((each) => isPlain(each) || isEmpty(each))) return [[name, inlineText(value)]]
    if (!Array.isArray(value)) return lines(name, value as object)
    return value.flatMap((item: unknown, index) =>
      isPlain(item) ? [[`${name}.${index + 1}`, item as Cell] as const] : linesOfItem(`${name}.${index + 1}`, item)
    )
  })

const linesOfItem = (name: string, item: unknown): ReadonlyArray<readonly [string, Cell]> =>
  Object.values(item as object).every(isPlain) ? [[name, inlineText(item)]] : lines(name, item as object)

const isEmpty = (value: unknown): boolean => typeof value === "object" && Object.keys(value as object).length === 0

const namedPartner = (value: unknown): unknown =>
  typeof value === "number" ? new Named("partner", value, true) : value
