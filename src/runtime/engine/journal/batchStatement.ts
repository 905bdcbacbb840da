/**
 * One batch of commits as one statement: a chain of data-modifying CTEs, so that a batch costs a single round trip and is a
 * transaction by itself. Guards compare row counts and raise an error, which undoes the whole statement; the writer then searches
 * the culprit (Writer). The text depends only on the parts of the batch, so that the server keeps it prepared.
 */
import { catalogue, type TableName, tableNames } from "../../tables/Catalogue.ts"
import type { TableSpec } from "../../tables/Table.ts"
import type { ColumnKind } from "./ColumnArray.ts"
import { columnKind } from "./columnValues.ts"

/** A part of the statement: rows given as parallel arrays, and the write that uses them. */
export interface Part {
  readonly name: string
  readonly columns: ReadonlyArray<ColumnKind>
  /** The part's statement when its columns are the parameters from `first` on. */
  readonly sql: (first: number) => string
  /** The error if the part writes fewer rows than it was given; null if any number is right. */
  readonly guard: "fence" | "partner" | "claim" | null
}

const part = (
  name: string,
  guard: Part["guard"],
  columns: ReadonlyArray<ColumnKind>,
  sql: (rows: string) => string
): Part => ({
  name,
  columns,
  guard,
  sql: (first) => sql(`unnest(${columns.map((kind, index) => `$${first + index}::${kind}[]`).join(", ")})`)
})

const insertInto =
  (spec: TableSpec) =>
  (rows: string): string => {
    const names = spec.columns.map((column) => `"${column.sqlName}"`)
    const aliases = spec.columns.map((_, index) => `c${index}`)
    const values = spec.columns.map((column, index) => (column.type === "json" ? `c${index}::json` : `c${index}`))
    const insert = `INSERT INTO ${spec.sqlName} (${names.join(", ")}) SELECT ${values.join(", ")} FROM ${rows} AS v(${aliases.join(
      ", "
    )})`
    if (spec.mode === "insert") return insert
    if (spec.mode === "claim") return `${insert} ON CONFLICT DO NOTHING RETURNING 1`
    const keys = spec.key.map((name) => `"${spec.columns.find((column) => column.name === name)?.sqlName}"`)
    const rest = names.filter((name) => !keys.includes(name)).map((name) => `${name} = EXCLUDED.${name}`)
    return `${insert} ON CONFLICT (${keys.join(", ")}) DO ${rest.length === 0 ? "NOTHING" : `UPDATE SET ${rest.join(", ")}`}`
  }

const engineParts = {
  born: part(
    "born",
    "fence",
    ["text"],
    (rows) =>
      `INSERT INTO subjects (subject, token) SELECT s, 1 FROM ${rows} AS v(s) ON CONFLICT DO NOTHING RETURNING 1`
  ),
  held: part(
    "held",
    "fence",
    ["text", "int8"],
    (rows) =>
      `UPDATE subjects SET token = v.t + 1 FROM ${rows} AS v(s, t) WHERE subject = v.s AND token = v.t RETURNING 1`
  ),
  stamps: part(
    "stamps",
    "partner",
    ["int8", "int8"],
    (rows) => `SELECT 1 FROM partners p JOIN ${rows} AS v(i, e) ON p.id = v.i AND p.epoch = v.e`
  ),
  claimed: part(
    "claimed",
    "claim",
    ["text", "int8"],
    (rows) => `INSERT INTO claims (name, owner) SELECT n, o FROM ${rows} AS v(n, o) ON CONFLICT DO NOTHING RETURNING 1`
  ),
  // A subquery for each key, because a batch has few keys and the table very many rows.
  fresh: part(
    "fresh",
    "claim",
    ["text", "text"],
    (rows) =>
      `SELECT 1 FROM ${rows} AS v(p, k) WHERE NOT EXISTS (SELECT 1 FROM answers WHERE principal = v.p AND key = v.k)`
  ),
  released: part("released", null, ["text"], (rows) => `DELETE FROM claims USING ${rows} AS v(n) WHERE name = v.n`),
  cleared: part(
    "cleared",
    null,
    ["text", "text", "int8"],
    (rows) =>
      `DELETE FROM timers USING ${rows} AS v(s, n, d) WHERE subject = v.s AND name = v.n AND (v.d IS NULL OR due_at = v.d)`
  ),
  ended: part("ended", null, ["text"], (rows) => `DELETE FROM venue_calls USING ${rows} AS v(r) WHERE ref = v.r`),
  // The sums are sent as text, because the sum of one batch may exceed 64 bits.
  totals: part(
    "totals",
    null,
    ["int8", "text", "text", "int8", "text"],
    (rows) =>
      `INSERT INTO posting_totals AS t (partner_id, currency, type, day, amount) SELECT p, c, y, d, a::numeric FROM ${rows} AS v(p, c, y, d, a)
       ON CONFLICT (partner_id, currency, type, day) DO UPDATE SET amount = t.amount + EXCLUDED.amount`
  )
} as const

export type EnginePart = keyof typeof engineParts

const tablePart = (table: TableName): Part => {
  const spec = catalogue[table] as TableSpec
  const guard = spec.mode === "claim" ? "claim" : null
  const kinds = spec.columns.map((column) => columnKind(column.type))
  return part(`t_${spec.sqlName}`, guard, kinds, insertInto(spec))
}

/** Every part by its name: the engine's own parts, then the tables in the catalogue's order. */
export const parts: ReadonlyMap<EnginePart | TableName, Part> = new Map<EnginePart | TableName, Part>([
  ...(Object.entries(engineParts) as ReadonlyArray<[EnginePart, Part]>),
  ...tableNames.map((table) => [table, tablePart(table)] as const)
])

/**
 * The most texts kept, and so the most statements that the writer's connection keeps prepared: one text for each set of parts
 * that occurred together, least recently used evicted (decision 12).
 */
export const textsKept = 128

const texts = new Map<string, string>()
let made = 0
/** The parts and the text of the last statement. Under load consecutive batches have the same parts. */
let last: { readonly present: ReadonlyArray<Part>; readonly text: string } = { present: [], text: "" }

/** The number of texts kept, and of texts built since the start. */
export const statementTexts = (): { readonly kept: number; readonly made: number } => ({ kept: texts.size, made })

/**
 * The text of the statement for these parts, in the order of `parts`. Parameters: writer epoch, number of the batch, then for
 * each part its columns and, if it is guarded, its number of rows.
 */
export const batchText = (present: ReadonlyArray<Part>): string => {
  if (present.length !== last.present.length || present.some((each, at) => each !== last.present[at]))
    last = { present, text: keptText(present) }
  return last.text
}

const keptText = (present: ReadonlyArray<Part>): string => {
  const key = present.map((each) => each.name).join(" ")
  const known = texts.get(key)
  const text = known ?? textOf(present)
  // The map's order is the order of last use.
  texts.delete(key)
  texts.set(key, text)
  if (known !== undefined) return text
  made++
  const [oldest] = texts.keys()
  if (texts.size > textsKept && oldest !== undefined) texts.delete(oldest)
  return text
}

const textOf = (present: ReadonlyArray<Part>): string => {
  const clauses = ["w AS (UPDATE writer SET batch = $2 WHERE id = 1 AND epoch = $1 RETURNING 1)"]
  const guards = ["journal_guard((SELECT count(*) FROM w), 1, 'epoch')"]
  let next = 3
  for (const { name, columns, sql, guard } of present) {
    clauses.push(`${name} AS (${sql(next)})`)
    next += columns.length
    if (guard !== null) guards.push(`journal_guard((SELECT count(*) FROM ${name}), $${next++}, '${guard}')`)
  }
  return `WITH ${clauses.join(",\n")}\nSELECT ${guards.join(", ")}`
}
