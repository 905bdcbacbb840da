/**
 * The locks that a commit needs in the database: rows by their keys, and whole tables. By these names the journal knows which
 * commits run into a lock of another session (HeldLocks), and searches for it (findHeld).
 */
import { catalogue, type TableName } from "../../../tables/Catalogue.ts"
import type { TableSpec } from "../../../tables/Table.ts"
import { sealedTableNames } from "../../sealing/seal.ts"
import type { ColumnKind } from "../ColumnArray.ts"
import { columnKind } from "../columnValues.ts"
import type { Commit } from "../Commit.ts"
import { totalsDayMillis } from "../PostingTotals.ts"

export interface KeyColumn {
  readonly sqlName: string
  readonly kind: ColumnKind
}

/** A row that the commit changes or may have to wait for; found by the columns of `keyColumnsOf` its table. */
export interface RowNeed {
  /** SQL name of the table. */
  readonly table: string
  readonly key: ReadonlyArray<string | number>
}

const text = (sqlName: string): KeyColumn => ({ sqlName, kind: "text" })
const int8 = (sqlName: string): KeyColumn => ({ sqlName, kind: "int8" })

const specs = Object.values(catalogue) as ReadonlyArray<TableSpec>

/**
 * The key columns of each table with rows that another session may hold, by SQL name. Rows of append-only tables are new, so that
 * no session holds them.
 */
const keyColumns: ReadonlyMap<string, ReadonlyArray<KeyColumn>> = new Map([
  ["writer", [int8("id")]],
  ["subjects", [text("subject")]],
  ["claims", [text("name")]],
  ["posting_totals", [int8("partner_id"), text("currency"), text("type"), int8("day")]],
  // The row of a call is written once, and removed by the commit that ends the call.
  ["venue_calls", [text("ref")]],
  // Written by a trigger. The row depends on the previous state of an item, so all rows of a partner count as one.
  ["settlement_totals", [int8("partner_id")]],
  ...specs
    .filter(({ mode }) => mode !== "insert")
    .map((spec): [string, ReadonlyArray<KeyColumn>] => [
      spec.sqlName,
      spec.key.map((name) => {
        const column = spec.columns.find((each) => each.name === name) as TableSpec["columns"][number]
        return { sqlName: column.sqlName, kind: columnKind(column.type) }
      })
    ])
])

/** The columns by which rows of a table are found, by its SQL name. Throws for a table whose rows are never waited for. */
export const keyColumnsOf = (table: string): ReadonlyArray<KeyColumn> => {
  const columns = keyColumns.get(table)
  if (columns === undefined) throw new Error(`rows of ${table} are never waited for`)
  return columns
}

/** The one row that every batch changes. */
export const writerRow: RowNeed = { table: "writer", key: [1] }

/** The rows that a commit changes or may have to wait for. */
export const rowNeeds = (commit: Commit): ReadonlyArray<RowNeed> => {
  const { fence, claims, releases, rows, clearedTimers, endedCalls } = commit
  const needs: Array<RowNeed> = [writerRow]
  const need = (table: string, ...key: RowNeed["key"]) => void needs.push({ table, key })
  if (fence !== null) need("subjects", fence.subject)
  for (const { name } of claims) need("claims", name)
  for (const name of releases) need("claims", name)
  for (const { subject, name } of clearedTimers) need("timers", subject, name)
  for (const ref of endedCalls) need("venue_calls", ref)
  for (const { partnerId } of rows.settlementItems ?? []) need("settlement_totals", partnerId)
  for (const { txId, clientId, partnerId, currency } of rows.postings ?? []) {
    const transaction = clientId === null ? undefined : rows.ledgerTransactions?.find((each) => each.txId === txId)
    if (transaction === undefined) continue
    need("posting_totals", partnerId, currency, transaction.type, Math.floor(transaction.ts / totalsDayMillis))
  }
  for (const name in rows) {
    const { key, mode, sqlName } = catalogue[name as TableName] as TableSpec
    if (mode === "insert") continue
    for (const row of rows[name as TableName] as ReadonlyArray<object>)
      need(sqlName, ...key.map((column) => (row as Readonly<Record<string, string | number>>)[column] ?? ""))
  }
  return needs
}

/** A lock on a whole table that conflicts with the commit. */
export interface TableNeed {
  /** SQL name of the table. */
  readonly table: string
  readonly mode: "read" | "write"
}

const write = (table: string): TableNeed => ({ table, mode: "write" })

/** The tables that a commit reads or writes. */
export const tableNeeds = (commit: Commit): ReadonlyArray<TableNeed> => {
  const { fence, partner, claims, releases, rows, clearedTimers, endedCalls, freshKeys } = commit
  const needs: Array<TableNeed> = [write("writer")]
  if (fence !== null) needs.push(write("subjects"))
  if (partner !== null) needs.push({ table: "partners", mode: "read" })
  if (claims.length > 0 || releases.length > 0) needs.push(write("claims"))
  if (freshKeys !== undefined) needs.push({ table: "answers", mode: "read" })
  if (clearedTimers.length > 0) needs.push(write("timers"))
  if (endedCalls.length > 0) needs.push(write("venue_calls"))
  if (rows.postings !== undefined) needs.push(write("posting_totals"))
  if (rows.settlementItems !== undefined) needs.push(write("settlement_totals"))
  if (sealedTableNames.some((table) => rows[table] !== undefined)) needs.push(write("seals"))
  for (const name in rows) needs.push(write(catalogue[name as TableName].sqlName))
  return needs
}

export const rowName = ({ table, key }: RowNeed): string => `${table}\u0000${key.join("\u0000")}`
export const tableName = ({ table, mode }: TableNeed): string => (mode === "write" ? table : `read ${table}`)

/** The SQL name of the table to which the name of a lock belongs. */
export const tableOf = (name: string): string => (name.split("\u0000", 1)[0] as string).replace(/^read /, "")

/** True for the name of a whole table, or of the row that every batch changes. */
export const isWide = (name: string): boolean => !name.includes("\u0000") || name === rowName(writerRow)

/** Every name of a lock that could block the commit. */
export const needNames = (commit: Commit): ReadonlyArray<string> => [
  ...tableNeeds(commit).map(tableName),
  ...rowNeeds(commit).map(rowName)
]
