/**
 * The descriptor of a table: everything the rest of the service derives instead of listing it again. `table()` takes the
 * row's type and refuses a column that is missing, unknown or wrongly nullable; `Catalogue.ts` collects the tables.
 */
import type { ContextFrom } from "xstate"
import type { Json } from "../../machines/shared/Json.ts"
import type { Kind, MachineOf, StateOf } from "../../machines/registry.ts"

/**
 * `id`: bigint as a number (ids, Unix ms) · `money`: bigint minor units · `text` · `bool` · `json`: json ·
 * `sealed`: any JSON value, encrypted at rest (bytea) · `sealedText`: a string, encrypted at rest (bytea).
 */
export type ColumnType = "id" | "money" | "text" | "bool" | "json" | "sealed" | "sealedText"

/**
 * Every column of a table with its type; a question mark follows where the row may hold null. A column of any JSON value
 * holds null as a value and is never empty.
 */
export type Columns<Row> = {
  readonly [C in keyof Row]-?: null extends Row[C] ? (Json extends Row[C] ? ColumnType : `${ColumnType}?`) : ColumnType
}

/** What every row that a machine moves carries: its state, the version it was written under, and its context. */
export interface MachineRow<K extends Kind = Kind> {
  readonly state: StateOf<K>
  readonly version: string
  readonly context: ContextFrom<MachineOf<K>>
}

/** The columns of `MachineRow`. */
export const machineColumns = { state: "text", version: "text", context: "json" } as const

/** Which mailbox holds the table's rows in memory, and the column that names the subject. */
export interface Residence<Row = never> {
  readonly subject: "client" | "partner" | "system"
  readonly column: string | null
  /**
   * Only rows in this condition are held (SQL over the table, and the same test over a row). `states`: where it follows from
   * the state, those in which a row is held. Readers by these states also use the member sql, the predicate of their index.
   */
  readonly only?: {
    readonly sql: string
    readonly test: (row: Row) => boolean
    readonly states?: ReadonlyArray<string>
  }
}

/** How many ids a process reserves at once: many where many are taken a second, so that a block outlives round trips. */
export type IdBlock = "rare" | "usual" | "hot"

/** Brings a row of one machine version to the next. */
export type Upcaster = (row: { readonly state: string; readonly context: unknown }) => {
  readonly state: string
  readonly context: unknown
}

/**
 * Work on which somebody still has to act: while a row is in one of these states, neither its client's account nor the
 * partner's books can be closed (D1, D15). The sentences name what is open and what clears it.
 */
export interface OpenWork<S extends string = string> {
  /** In the order in which they are counted. */
  readonly states: ReadonlyArray<S>
  /** What else must hold of such a row, where the state alone does not say it (SQL over the table). */
  readonly only?: string
  /** What is open of one client, such as "Deposit notices are not decided". */
  readonly ofClient: string
  /** What is open of all clients of a partner. */
  readonly ofPartner: string
  /** One row in that sentence, such as "notice". */
  readonly one: string
  /** The command or call that clears a row in this state. */
  readonly clear: (state: S) => string
}

type ColumnsOf<Row> = ReadonlyArray<keyof Row & string>

/** What is counted of open work: rows with their amounts. */
interface Counted {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly currency: string
  readonly amount: bigint
}

/** What of a row may still come back to the client's cash, in minor units of `currency`; it keeps room for that (F2). */
type Returns<Row> = (row: Row) => { readonly currency: string; readonly amount: bigint } | null

/**
 * The table of a client's objects that a machine moves says what of them is open, and of amounts what may still come back
 * to cash; null: none of them. It is never left unsaid, so that no account closes over what somebody forgot.
 */
type Closing<Row, K extends Kind | null> = K extends Kind
  ? Row extends { readonly clientId: number }
    ? Row extends Counted
      ? { readonly open: OpenWork<StateOf<K>> | null; readonly returns: Returns<Row> | null }
      : { readonly open: null; readonly returns?: null }
    : Unsaid
  : Row extends Counted & { readonly state: infer S }
    ? Unsaid | { readonly open: OpenWork<S & string>; readonly returns?: null }
    : Unsaid

interface Unsaid {
  readonly open?: null
  readonly returns?: null
}

/** What the author of a table says of it. */
type Descriptor<Row, K extends Kind | null, I extends string | null, Mirrored> = Closing<Row, K> &
  Description<Row, K, I, Mirrored>

interface Description<Row, K extends Kind | null, I extends string | null, Mirrored> {
  /** One row in words, such as "deposit notice": reports and refusals use it. */
  readonly title: string
  /** The machine that moves the rows; null for plain facts. */
  readonly machine: K
  /** Steps of stored rows to the machine's present version, the first leaving version 1. */
  readonly upcasters?: ReadonlyArray<Upcaster>
  /** Columns that repeat something of the context for queries; written with every step. */
  readonly mirrors?: K extends Kind ? (context: ContextFrom<MachineOf<K>>) => Mirrored : undefined
  /** What audit rows call the object when it is not the machine's kind. */
  readonly object?: "operatorKey"
  readonly key: ColumnsOf<Row>
  /** `upsert` replaces the row of the same key; `insert` is for rows that never change; `claim` loses to an existing key. */
  readonly mode: "upsert" | "insert" | "claim"
  readonly columns: Columns<Row>
  /** Unique keys besides the primary one. */
  readonly unique?: ReadonlyArray<ColumnsOf<Row>>
  /** True when the row keeps the table's CHECK constraints. */
  readonly check?: (row: Row) => boolean
  readonly residence?: Residence<Row>
  /** The name space of the partner's references: each is filed once for ever, under a claim that holds the row's id (A3-01). */
  readonly reference?: string
  /** The kind of id that the rows are numbered with, and the size of its blocks. */
  readonly id?: readonly [kind: I, block: IdBlock]
}

/** A descriptor with its types: the row it describes, its machine, its kind of id, the columns that mirror the context. */
export interface Table<
  Row = object,
  K extends Kind | null = Kind | null,
  I extends string | null = string | null,
  Mirrored = object
> {
  /** Carries types; never read. */
  readonly types?: { readonly row: Row; readonly mirrored: Mirrored }
  readonly machine: K
  readonly id?: readonly [kind: I, block: IdBlock]
  readonly describe: (name: string) => Omit<TableSpec, "table">
}

/** A table as everything walks it, without the types of its rows. */
export interface TableSpec<T extends string = string> {
  readonly table: T
  readonly sqlName: string
  readonly title: string
  readonly machine: Kind | null
  readonly upcasters: ReadonlyArray<Upcaster>
  readonly mirrors: ((context: never) => object) | null
  readonly object: string | null
  readonly key: ReadonlyArray<string>
  readonly mode: "upsert" | "insert" | "claim"
  readonly columns: ReadonlyArray<Column>
  readonly unique: ReadonlyArray<ReadonlyArray<string>>
  readonly check: ((row: never) => boolean) | null
  readonly residence: Residence | null
  readonly open: OpenWork | null
  readonly reference: string | null
  readonly returns: Returns<never> | null
}

export interface Column {
  readonly name: string
  readonly sqlName: string
  readonly type: ColumnType
  readonly nullable: boolean
}

/** A name of the code as the database spells it. */
export const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const columnOf = (name: string, declared: string): Column => {
  const nullable = declared.endsWith("?")
  return { name, sqlName: snake(name), type: (nullable ? declared.slice(0, -1) : declared) as ColumnType, nullable }
}

/** The table of rows like `Row`. A column is named in camel case here and in snake case in the database. */
export const table =
  <Row extends object>() =>
  <const K extends Kind | null, const I extends string | null = null, Mirrored extends Partial<Row> = object>(
    descriptor: Descriptor<Row, K, I, Mirrored>
  ): Table<Row, K, I, Mirrored> => ({
    machine: descriptor.machine,
    ...(descriptor.id === undefined ? {} : { id: descriptor.id }),
    describe: (name) => ({
      sqlName: snake(name),
      title: descriptor.title,
      machine: descriptor.machine,
      upcasters: descriptor.upcasters ?? [],
      mirrors: (descriptor.mirrors as TableSpec["mirrors"] | undefined) ?? null,
      object: descriptor.object ?? descriptor.machine,
      key: descriptor.key,
      mode: descriptor.mode,
      columns: Object.entries<string>(descriptor.columns).map(([column, declared]) => columnOf(column, declared)),
      unique: descriptor.unique ?? [],
      check: descriptor.check ?? null,
      residence: descriptor.residence ?? null,
      open: (descriptor.open as OpenWork | undefined) ?? null,
      reference: descriptor.reference ?? null,
      returns: (descriptor.returns as TableSpec["returns"] | undefined) ?? null
    })
  })

/** Rows held by the mailbox of their client, by `clientId`. */
export const ofClient = { subject: "client", column: "clientId" } as const
/** Rows held by the mailbox of their partner, by `partnerId`. */
export const ofPartner = { subject: "partner", column: "partnerId" } as const
/** Rows held by the system's mailbox. */
export const ofSystem = { subject: "system", column: null } as const

/** Holds the rows in these states alone. */
export const onlyIn = <S extends string>(...states: ReadonlyArray<S>) => ({
  sql: `state IN (${states.map((state) => `'${state}'`).join(", ")})`,
  test: (row: { readonly state: string }): boolean => (states as ReadonlyArray<string>).includes(row.state),
  states
})

/** The condition of what is held, where all rows in these states are; null: they may be outside. */
export const heldIn = ({ residence }: Pick<TableSpec, "residence">, states: ReadonlyArray<string>): string | null => {
  const { only } = residence ?? {}
  return only?.states !== undefined && states.every((state) => only.states?.includes(state)) ? only.sql : null
}
