/**
 * A batch in the form in which it is sent: its commits are encoded row by row into the columns of one statement, its events
 * numbered, and its append-only rows sealed. Event numbers and the seal continue from the given counters.
 */
import { PgTypes } from "@effect/sql-pg"
import { catalogue, type TableName } from "../../tables/Catalogue.ts"
import type { TableSpec } from "../../tables/Table.ts"
import type { EventRow } from "../../tables/webhook.ts"
import { batchText, type EnginePart, type Part, parts } from "./batchStatement.ts"
import { ColumnArray } from "./ColumnArray.ts"
import { appendValue, placeOf } from "./columnValues.ts"
import type { Commit, PartnerStamp } from "./Commit.ts"
import { PostingTotals } from "./PostingTotals.ts"
import {
  idIn,
  inIdOrder,
  sealColumns,
  type SealedColumns,
  type SealedTable,
  sealedTableNames,
  sealedTables
} from "../sealing/seal.ts"
import type { Sealing } from "../sealing/Sealing.ts"
import { type Counters, EventNumbers } from "./stamp.ts"

export interface Statement {
  readonly sql: string
  readonly params: ReadonlyArray<unknown>
}

/** An encoded batch, and the counters that are valid after its COMMIT. */
export interface Prepared {
  readonly statement: Statement
  readonly counters: Counters
}

const isSealed = (table: TableName): table is SealedTable => table in sealedTables

/** The rows of one part, as encoded so far. */
export interface Group {
  readonly name: EnginePart | TableName
  readonly part: Part
  readonly columns: ReadonlyArray<ColumnArray>
  rows: number
}

/** For each column of a table, in order, the place that the column's sealed values are bound to. */
type Places = ReadonlyArray<string>
const places = new Map<string, Places>()
const placesOf = (spec: TableSpec): Places => {
  let found = places.get(spec.table)
  if (found === undefined) {
    places.set(spec.table, (found = spec.columns.map((column) => placeOf(spec.sqlName, column.sqlName))))
  }
  return found
}

/** Buffers of a written batch, reused by a later one. */
export type BatchBuffers = Map<EnginePart | TableName, Group>

export class BatchDraft {
  private readonly before: Counters
  private readonly sealing: Sealing
  private readonly numbers: EventNumbers
  /** The id of the last row of each sealed table. */
  private readonly ends = new Map<SealedTable, number>()
  private readonly totals = new PostingTotals()
  private readonly buffers: BatchBuffers
  /**
   * One entry per partner and epoch: a commit decided under a stale epoch must not hide behind a commit of the
   * current epoch.
   */
  private readonly stamps = new Set<string>()
  private sealed: Counters["seal"]
  /** The last stamp looked up: most commits of a batch share one. */
  private stamped: PartnerStamp | null = null

  constructor(before: Counters, sealing: Sealing, buffers: BatchBuffers = new Map()) {
    this.before = before
    this.sealed = before.seal
    this.sealing = sealing
    this.numbers = new EventNumbers(before.seqs)
    this.buffers = buffers
    for (const group of buffers.values()) {
      group.rows = 0
      for (const column of group.columns) column.clear()
    }
  }

  /** Adds one commit of the batch that `takeBatch` cut. Throws on a value that no column can hold; the draft is then unusable. */
  add(commit: Commit): void {
    this.addFence(commit)
    this.addPartner(commit)
    for (const { name, owner } of commit.claims) {
      const { columns } = this.row("claimed")
      columns[0]?.text(name)
      columns[1]?.int8(owner)
    }
    for (const name of commit.releases) this.row("released").columns[0]?.text(name)
    for (const { subject, name, dueAt } of commit.clearedTimers) {
      const [subjects, names, dues] = this.row("cleared").columns
      subjects?.text(subject)
      names?.text(name)
      if (dueAt === undefined) dues?.null()
      else dues?.int8(dueAt)
    }
    for (const ref of commit.endedCalls) this.row("ended").columns[0]?.text(ref)
    for (const { principal, key } of commit.freshKeys ?? []) {
      const [principals, keys] = this.row("fresh").columns
      principals?.text(principal)
      keys?.text(key)
    }
    if (commit.rows.postings !== undefined) this.totals.add(commit.rows)
    for (const name in commit.rows) {
      const table = name as TableName
      const rows: ReadonlyArray<object> = commit.rows[table] ?? []
      this.addRows(table, isSealed(table) ? inIdOrder(table, rows) : rows)
    }
  }

  /** Finishes the draft as the batch of this number, written by the owner of this epoch. */
  finish(epoch: number, batch: number): Prepared {
    const present = this.groups()
    const params: Array<unknown> = [PgTypes.int8(BigInt(epoch)), PgTypes.int8(BigInt(batch))]
    for (const { part, columns, rows } of present) {
      for (const column of columns) params.push(column.parameter())
      if (part.guard !== null) params.push(PgTypes.int8(BigInt(rows)))
    }
    const counters = { seqs: this.numbers.after(), seal: this.sealed }
    return { statement: { sql: batchText(present.map(({ part }) => part)), params }, counters }
  }

  /** One group for each part of the batch, in the order of `parts`. Called once, after the last commit. */
  groups(): ReadonlyArray<Group> {
    this.addTotals()
    this.sealed = this.seal()
    return [...parts.keys()].flatMap((name) => {
      const group = this.buffers.get(name)
      return group === undefined || group.rows === 0 ? [] : [group]
    })
  }

  /** Seals the append-only rows of the batch, and adds the row of the seal. */
  private seal(): Counters["seal"] {
    const sealed = sealedTableNames.flatMap((table): ReadonlyArray<SealedColumns> => {
      const group = this.buffers.get(table)
      if (group === undefined || group.rows === 0) return []
      return [{ table, rows: group.rows, columns: group.columns, end: this.ends.get(table) as number }]
    })
    if (sealed.length === 0) return this.before.seal
    const seal = sealColumns(this.before.seal, sealed)
    this.addRows("seals", [seal])
    return seal
  }

  /** Releases the buffers. Only for a batch that is committed and will not be sent again. */
  release(): BatchBuffers {
    return this.buffers
  }

  private addFence({ fence }: Commit): void {
    if (fence === null) return
    if (fence.expected === null) return this.row("born").columns[0]?.text(fence.subject)
    const { columns } = this.row("held")
    columns[0]?.text(fence.subject)
    columns[1]?.int8(fence.expected)
  }

  private addPartner({ partner }: Commit): void {
    if (partner === null) return
    const { partnerId, epoch } = partner
    if (this.stamped?.partnerId === partnerId && this.stamped.epoch === epoch) return
    this.stamped = partner
    const key = `${partnerId} ${epoch}`
    if (this.stamps.has(key)) return
    this.stamps.add(key)
    const { columns } = this.row("stamps")
    columns[0]?.int8(partnerId)
    columns[1]?.int8(epoch)
  }

  private addTotals(): void {
    for (const { partnerId, currency, type, day, amount } of this.totals.values()) {
      const { columns } = this.row("totals")
      columns[0]?.int8(partnerId)
      columns[1]?.text(currency)
      columns[2]?.text(type)
      columns[3]?.int8(day)
      columns[4]?.text(String(amount))
    }
  }

  private addRows(table: TableName, rows: ReadonlyArray<object>): void {
    const { columns: specs } = catalogue[table] as TableSpec
    const placesOfTable = placesOf(catalogue[table] as TableSpec)
    for (const given of rows) {
      const row = (table === "events" ? this.numbers.number(given as EventRow) : given) as Readonly<
        Record<string, unknown>
      >
      const { columns } = this.row(table)
      for (let index = 0; index < columns.length; index++) {
        const spec = specs[index] as TableSpec["columns"][number]
        appendValue(
          columns[index] as ColumnArray,
          row[spec.name],
          spec.type,
          placesOfTable[index] as string,
          this.sealing
        )
      }
    }
    const last = rows.at(-1)
    if (last !== undefined && isSealed(table)) this.ends.set(table, idIn(table, last))
  }

  /** Starts a new row in the group of a part. */
  private row(name: EnginePart | TableName): Group {
    let group = this.buffers.get(name)
    if (group === undefined) {
      const part = parts.get(name) as Part
      group = { name, part, columns: part.columns.map((kind) => new ColumnArray(kind)), rows: 0 }
      this.buffers.set(name, group)
    }
    group.rows++
    return group
  }
}
