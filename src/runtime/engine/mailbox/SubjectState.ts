/**
 * One subject in memory: its commit token and resident rows, exactly as committed. A row whose commit may still fail is
 * never here.
 */
import { catalogue, keyOf, type TableName, type Tables } from "../../tables/Catalogue.ts"
import type { Commit, SubjectKey } from "../journal/Commit.ts"
import type { SubjectImage } from "../journal/Journal.ts"

/** The rows of some tables, as a projection sees a subject. */
export interface RowsOf<T extends TableName> {
  all<K extends T>(table: K): ReadonlyArray<Tables[K]>
  one<K extends T>(table: K): Tables[K] | undefined
}

/** A pure projection of the rows of some tables. */
export interface Reading<A, T extends TableName = TableName> {
  readonly of: ReadonlySet<TableName>
  // Declared as a method, because a function member would make projections of different tables incompatible types.
  read(rows: RowsOf<T>): A
}

/** Makes a projection of these tables. Make it once: results are memoised by its identity. */
export const reading = <A, const T extends TableName>(
  tables: ReadonlyArray<T>,
  read: (rows: RowsOf<T>) => A
): Reading<A, T> => ({ of: new Set(tables), read })

const none: ReadonlyArray<never> = []

export class SubjectState {
  readonly subject: SubjectKey
  /** The number of the subject's last commit; null while the subject does not exist. */
  token: number | null
  private readonly tables = new Map<TableName, Map<string, object>>()
  private readonly lists = new Map<TableName, ReadonlyArray<object>>()
  /** Memoised results, each until a row of its tables changes. */
  private readonly views = new Map<Reading<unknown, never>, unknown>()
  /**
   * Sums of `returning` by currency, updated with each row, because an account may have too many rows to add up at each
   * read.
   */
  private readonly backs = new Map<string, bigint>()

  constructor(subject: SubjectKey, image: SubjectImage) {
    this.subject = subject
    this.token = image.token
    for (const { table, row } of image.rows) this.set(table, row)
  }

  /** The row with this key; keys of several columns are joined by U+0000 (see keyOf). */
  get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    return this.tables.get(table)?.get(key) as Tables[T] | undefined
  }

  /** The rows of a table. Returns the same list until one of them changes. */
  all<T extends TableName>(table: T): ReadonlyArray<Tables[T]> {
    const rows = this.tables.get(table)
    if (rows === undefined) return none
    let list = this.lists.get(table)
    if (list === undefined) this.lists.set(table, (list = [...rows.values()]))
    return list as ReadonlyArray<Tables[T]>
  }

  /** The only row of a table that holds one row per subject. */
  one<T extends TableName>(table: T): Tables[T] | undefined {
    return this.all(table)[0]
  }

  /** The result of a projection, memoised until a row of its tables changes. */
  derived<A, T extends TableName>(view: Reading<A, T>): A {
    if (this.views.has(view)) return this.views.get(view) as A
    const made = view.read(this)
    this.views.set(view, made)
    return made
  }

  /**
   * The sum of a currency that may be returned: over all rows that hold some of it (`returns` of their tables), in minor units.
   */
  returning(currency: string): bigint {
    return this.backs.get(currency) ?? 0n
  }

  /** Adds the rows of a commit that the database has committed, and drops the memoised results that read their tables. */
  adopt(commit: Commit): void {
    if (commit.fence !== null) this.token = (commit.fence.expected ?? 0) + 1
    for (const table in commit.rows) {
      const name = table as TableName
      if (catalogue[name].residence === null) continue
      for (const row of commit.rows[name] as ReadonlyArray<object>) this.set(name, row)
    }
    for (const ref of commit.endedCalls) this.drop("venueCalls", keyOf("venueCalls", { ref }))
  }

  /** Makes a copy that includes the commit. This state itself stays unchanged. */
  after(commit: Commit): SubjectState {
    const copy = new SubjectState(this.subject, { token: this.token, rows: [] })
    for (const [table, rows] of this.tables) copy.tables.set(table, new Map(rows))
    for (const [currency, amount] of this.backs) copy.backs.set(currency, amount)
    copy.adopt(commit)
    return copy
  }

  private changed(table: TableName): void {
    this.lists.delete(table)
    for (const view of this.views.keys()) if (view.of.has(table)) this.views.delete(view)
  }

  private drop(table: TableName, key: string): void {
    this.changed(table)
    this.replace(table, key, null)
  }

  private set(table: TableName, row: object): void {
    this.changed(table)
    const only = catalogue[table].residence?.only
    this.replace(table, keyOf(table, row), only !== undefined && !only.test(row as never) ? null : row)
  }

  /** Sets the row of a key in a table; a null row removes it. */
  private replace(table: TableName, key: string, row: object | null): void {
    let rows = this.tables.get(table)
    if (rows === undefined) this.tables.set(table, (rows = new Map()))
    const before = rows.get(key)
    if (row === null) rows.delete(key)
    else rows.set(key, row)
    const { returns } = catalogue[table]
    if (returns === null) return
    if (before !== undefined) this.count(returns(before as never), -1n)
    if (row !== null) this.count(returns(row as never), 1n)
  }

  private count(back: { readonly currency: string; readonly amount: bigint } | null, times: bigint): void {
    if (back === null) return
    this.backs.set(back.currency, (this.backs.get(back.currency) ?? 0n) + times * back.amount)
  }
}

/** The state of a subject that does not exist. */
export const noState = (subject: SubjectKey): SubjectState => new SubjectState(subject, { token: null, rows: [] })
