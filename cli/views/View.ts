/** What a command shows a person, as plain data: commands build it, only the renderer loads the terminal library. */
export type Cell = string | number | boolean | null | undefined

export type View =
  | {
      readonly kind: "table"
      readonly columns: ReadonlyArray<string>
      readonly rows: ReadonlyArray<ReadonlyArray<Cell>>
      readonly empty: string
    }
  | { readonly kind: "fields"; readonly fields: ReadonlyArray<readonly [name: string, value: Cell]> }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "stack"; readonly views: ReadonlyArray<View> }

/** Rows of objects as a table; `columns` maps a heading to a cell. */
export const table = <A>(
  rows: ReadonlyArray<A>,
  columns: Readonly<Record<string, (row: A) => Cell>>,
  empty: string
): View => ({
  kind: "table",
  columns: Object.keys(columns),
  rows: rows.map((row) => Object.values(columns).map((cell) => cell(row))),
  empty
})

/** The members of a flat object, one a line; lists joined, nested objects spelled out. */
export const fields = (object: object): View => ({
  kind: "fields",
  fields: Object.entries(object).map(([name, value]) => [name, cellOf(name, value)] as const)
})

export const text = (line: string): View => ({ kind: "text", text: line })
export const stack = (...views: ReadonlyArray<View>): View => ({ kind: "stack", views })

/** One page of a list, and how to see the next. */
export const page = (
  shown: View,
  { hasMore, nextBefore }: { readonly hasMore: boolean; readonly nextBefore: number | null }
): View => stack(shown, ...(hasMore ? [text(`More with --before ${nextBefore}.`)] : []))

/** Unix ms as a person reads it, in UTC. */
export const time = (millis: number | null): string =>
  millis === null ? "" : new Date(millis).toISOString().replace("T", " ").replace(".000Z", "Z")

const isTime = (name: string, value: unknown): value is number =>
  typeof value === "number" && (name.endsWith("At") || ["ts", "expiryTs", "now", "wallNow", "venueNow"].includes(name))

const cellOf = (name: string, value: unknown): Cell => {
  if (isTime(name, value)) return time(value)
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) return value.join(", ")
  if (typeof value !== "object" || value === null) return value as Cell
  const members = Object.entries(value)
  // A flat object such as a balance reads as a sentence does.
  return Array.isArray(value) || members.some(([, member]) => typeof member === "object")
    ? JSON.stringify(value)
    : members.map(([member, cell]) => `${member} ${String(cell)}`).join(", ")
}
