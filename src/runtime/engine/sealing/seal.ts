/**
 * The hash chain over append-only rows: decisions, the audit, ledger transactions and postings, payments between the firms and
 * changes of custody models. Each batch that writes such rows seals them: SHA-256 over the previous seal and the rows as they are
 * sent to the server, columns in the binary form of a batch. A row changed, added or removed later breaks the seal of its batch
 * and every later one (architecture, Ledger). Rows belong to a seal by their ids, which are given in commit order (A3-45).
 */
import { hash } from "node:crypto"
import { catalogue, type Tables } from "../../tables/Catalogue.ts"
import type { TableSpec } from "../../tables/Table.ts"
import type { SealRow } from "../../tables/engine.ts"
import { ColumnArray } from "../journal/ColumnArray.ts"
import { appendValue, columnKind } from "../journal/columnValues.ts"
import type { Sealing } from "./Sealing.ts"

/**
 * The sealed tables in the order of the hash, with the column that orders their rows. A table without rows adds nothing to a
 * hash, so a new table goes to the end and older seals stay valid.
 */
export const sealedTables = {
  audit: "id",
  decisions: "id",
  ledgerTransactions: "txId",
  postings: "postingId",
  interfirmRecords: "id",
  custodyChanges: "id"
} as const
export type SealedTable = keyof typeof sealedTables
export const sealedTableNames = Object.keys(sealedTables) as ReadonlyArray<SealedTable>

/** The seal that stands before the first batch, so that the first real seal has a predecessor. */
export const sealGenesis: SealRow = {
  number: 0,
  hash: "0".repeat(64),
  auditTo: 0,
  decisionTo: 0,
  transactionTo: 0,
  postingTo: 0,
  interfirmTo: 0,
  custodyTo: 0
}

/** For each sealed table, the column of a seal that has the id of the table's last sealed row. */
export const sealEnds = {
  audit: "auditTo",
  decisions: "decisionTo",
  ledgerTransactions: "transactionTo",
  postings: "postingTo",
  interfirmRecords: "interfirmTo",
  custodyChanges: "custodyTo"
} as const satisfies Record<SealedTable, keyof SealRow>

/** The rows of one table in a batch, as columns. */
export interface SealedColumns {
  readonly table: SealedTable
  readonly rows: number
  readonly columns: ReadonlyArray<ColumnArray>
  /** The id of the table's last row in the batch. */
  readonly end: number
}

/** The input of a seal, collected for one call of the hash: one call for each column costs more than the hashing. */
class SealedBytes {
  private bytes = Buffer.allocUnsafeSlow(65_536)
  private at = 0

  /** Empties the buffer. Releases a buffer that a rare big batch has enlarged. */
  clear(): void {
    if (this.bytes.length > keptBytes) this.bytes = Buffer.allocUnsafeSlow(65_536)
    this.at = 0
  }

  /** Adds a text of ASCII characters. */
  text(value: string): void {
    this.reserve(value.length)
    this.at += this.bytes.write(value, this.at, "latin1")
  }

  column(column: ColumnArray): void {
    const content = column.content()
    this.reserve(content.length)
    this.bytes.set(content, this.at)
    this.at += content.length
  }

  /** The hash of all bytes added so far: SHA-256, lower-case hex. */
  hash(): string {
    return hash("sha256", this.bytes.subarray(0, this.at), "hex")
  }

  private reserve(size: number): void {
    const needed = this.at + size
    if (needed <= this.bytes.length) return
    const wider = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2))
    wider.set(this.bytes.subarray(0, this.at))
    this.bytes = wider
  }
}

const keptBytes = 4_194_304
/** One buffer for all seals: it is filled and read within one call, so two calls never share it. */
const sealedBytes = new SealedBytes()

/** The next seal: `parts` in the order of `sealedTables`, without those that have no rows. */
export const sealColumns = (before: SealRow, parts: ReadonlyArray<SealedColumns>): SealRow => {
  sealedBytes.clear()
  sealedBytes.text(before.hash)
  const ends: Record<string, number> = {}
  for (const { table, rows, columns, end } of parts) {
    sealedBytes.text(`\n${table} ${rows}\n`)
    for (const column of columns) sealedBytes.column(column)
    ends[sealEnds[table]] = end
  }
  return { ...before, ...ends, number: before.number + 1, hash: sealedBytes.hash() }
}

/** The rows of one batch by table, in the order of their ids. */
export type SealedRows = { readonly [T in SealedTable]?: ReadonlyArray<Tables[T]> }

/** Refuses to seal or open a value. It is never called, because no sealed table has an encrypted column. */
const secret = (): never => {
  throw new Error("a chained table has an encrypted column")
}
export const nothingSecret: Pick<Sealing, "seal" | "open"> = { seal: secret, open: secret }

/** The seal that follows `before` over these rows; `before` itself if there are none. */
export const sealRows = (before: SealRow, rows: SealedRows): SealRow => {
  const parts = sealedTableNames.flatMap((table) => {
    const list: ReadonlyArray<object> = rows[table] ?? []
    return list.length === 0 ? [] : [columnsOf(table, list)]
  })
  return parts.length === 0 ? before : sealColumns(before, parts)
}

const columnsOf = (table: SealedTable, rows: ReadonlyArray<object>): SealedColumns => {
  const spec = catalogue[table] as TableSpec
  const columns = spec.columns.map(({ name, type }) => {
    const column = new ColumnArray(columnKind(type))
    for (const row of rows) appendValue(column, (row as Record<string, unknown>)[name], type, name, nothingSecret)
    return column
  })
  return { table, rows: rows.length, columns, end: idIn(table, rows.at(-1) as object) }
}

/** The rows of one commit in the order of their ids: a turn may write rows in another order than it took their ids. */
export const inIdOrder = <Row extends object>(table: SealedTable, rows: ReadonlyArray<Row>): ReadonlyArray<Row> => {
  for (let at = 1; at < rows.length; at++) {
    if (idIn(table, rows[at - 1] as Row) > idIn(table, rows[at] as Row)) {
      return rows.toSorted((a, b) => idIn(table, a) - idIn(table, b))
    }
  }
  return rows
}

/** The id of a row in the column that orders its table. */
export const idIn = (table: SealedTable, row: object): number =>
  (row as Readonly<Record<string, number>>)[sealedTables[table]] as number
