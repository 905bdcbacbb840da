/**
 * The descriptor of a table: the service derives everything else about a table from it. `table()` takes the row's type and
 * refuses a column that is missing, unknown or wrongly nullable; `Catalogue.ts` collects the tables.
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
 * Every column of a table with its type, followed by a question mark if the row may hold null. A column of any JSON value holds
 * null as a value and is never empty.
 */
export type Columns<Row> = {
  readonly [C in keyof Row]-?: null extends Row[C] ? (Json extends Row[C] ? ColumnType : `${ColumnType}?`) : ColumnType
}

/** The machine's columns of a row: its state, the version it was written under, and its context. */
export interface MachineRow<K extends Kind = Kind> {
  readonly state: StateOf<K>
  readonly version: string
  readonly context: ContextFrom<MachineOf<K>>
}

/** The columns that every table with a machine has, as `MachineRow` names them. */
export const machineColumns = { state: "text", version: "text", context: "json" } as const

/** Where the rows of a table are held in memory: the kind of mailbox, and the column that names its subject. */
export interface Residence<Row = never> {
  readonly subject: "client" | "partner" | "system"
  readonly column: string | null
  /**
   * Only rows in this condition are held (SQL over the table, and the same test over a row). `states`: the states in which a row
   * is held, if the condition depends on the state alone. Queries by these states also use the member sql, the predicate of their
   * index.
   */
  readonly only?: {
    readonly sql: string
    readonly test: (row: Row) => boolean
    readonly states?: ReadonlyArray<string>
  }
}

/**
 * The number of ids that a process reserves at once: more for kinds that are taken often, so that a block outlasts round trips.
 */
export type IdBlock = "rare" | "usual" | "hot"

/** Converts a stored row of one machine version to the next version. */
export type Upcaster = (row: { readonly state: string; readonly context: unknown }) => {
  readonly state: string
  readonly context: unknown
}

/**
 * Open work: while a row is in one of these states, neither its client's account nor the partner's books can be closed. The
 * sentences name the open objects and the action that clears them (D1, D15).
 */
export interface OpenWork<S extends string = string> {
  /** The states of open work, in the order in which sentences count them. */
  readonly states: ReadonlyArray<S>
  /** A further condition of such a row, if the state alone does not suffice (SQL over the table). */
  readonly only?: string
  /** The open work of one client, such as "Deposit notices are not decided". */
  readonly ofClient: string
  /** The sentence on the open work of all clients of a partner. */
  readonly ofPartner: string
  /** One row, as the sentences name it, such as "notice". */
  readonly one: string
  /** The command or call that clears a row in this state. */
  readonly clear: (state: S) => string
  /** True: such a row ties up money of its client, so that it blocks payouts. */
  readonly exposes?: true
  /** The rows in words if only the venue ends them: with any of them the service does not start without a venue. */
  readonly atVenue?: string
}

type ColumnsOf<Row> = ReadonlyArray<keyof Row & string>

/** The columns of a row that a count of open work needs, its amount among them. */
interface Counted {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly currency: string
  readonly amount: bigint
}

/**
 * The part of a row that may still return to the client's cash, in minor units of `currency`; the balance keeps room for it (F2).
 */
type Returns<Row> = (row: Row) => { readonly currency: string; readonly amount: bigint } | null

/**
 * A table whose rows are a client's objects with a state machine declares two things: the states that are open work, and the
 * amounts that may still return to cash. Null: there are none. Both are mandatory, so that an account can't be closed while
 * forgotten work is open.
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

/** The members that the definition of a table has to give. */
type Descriptor<Row, K extends Kind | null, I extends string | null, Mirrored> = Closing<Row, K> &
  Description<Row, K, I, Mirrored>

interface Description<Row, K extends Kind | null, I extends string | null, Mirrored> {
  /** The name of one row, such as "deposit notice"; used in reports and refusals. */
  readonly title: string
  /** The machine of the rows; null for plain facts. */
  readonly machine: K
  /** Upcasts of stored rows to the machine's current version; the first one leaves version 1. */
  readonly upcasters?: ReadonlyArray<Upcaster>
  /** Columns that repeat members of the context for queries; written with every step. */
  readonly mirrors?: K extends Kind ? (context: ContextFrom<MachineOf<K>>) => Mirrored : undefined
  /** The object kind in audit rows, if it is not the machine's kind. */
  readonly object?: "operatorKey"
  readonly key: ColumnsOf<Row>
  /** `upsert` replaces the row of the same key; `insert` is for rows that never change; `claim` loses to an existing key. */
  readonly mode: "upsert" | "insert" | "claim"
  readonly columns: Columns<Row>
  /** Unique keys of the table, besides the primary key. */
  readonly unique?: ReadonlyArray<ColumnsOf<Row>>
  /** True when the row keeps the table's CHECK constraints. */
  readonly check?: (row: Row) => boolean
  readonly residence?: Residence<Row>
  /**
   * The namespace of the partner's references: each reference is claimed once for ever, and the claim holds the row's id (A3-01).
   */
  readonly reference?: string
  /** The kind of the ids that the rows have, and how many of them a process reserves at once. */
  readonly id?: readonly [kind: I, block: IdBlock]
  /** True: the event log records each transition of the machine, without deliveries (EVT-2). */
  readonly logged?: true
}

/** A typed descriptor: the row, its machine, its kind of id, and the columns that mirror the context. */
export interface Table<
  Row = object,
  K extends Kind | null = Kind | null,
  I extends string | null = string | null,
  Mirrored = object
> {
  /** Carries the types of the rows for the compiler; no value is ever set. */
  readonly types?: { readonly row: Row; readonly mirrored: Mirrored }
  readonly machine: K
  readonly id?: readonly [kind: I, block: IdBlock]
  readonly describe: (name: string) => Omit<TableSpec, "table">
}

/** A table without the types of its rows, for code that iterates all tables. */
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
  readonly logged: boolean
}

export interface Column {
  readonly name: string
  readonly sqlName: string
  readonly type: ColumnType
  readonly nullable: boolean
}

/** Converts a name to snake case, the form of database names. */
export const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const columnOf = (name: string, declared: string): Column => {
  const nullable = declared.endsWith("?")
  return { name, sqlName: snake(name), type: (nullable ? declared.slice(0, -1) : declared) as ColumnType, nullable }
}

/** Describes the table of rows like `Row`. A column is named in camel case here and in snake case in the database. */
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
      returns: (descriptor.returns as TableSpec["returns"] | undefined) ?? null,
      logged: descriptor.logged ?? false
    })
  })

/** The residence of rows that are in the mailbox of their client, which `clientId` names. */
export const ofClient = { subject: "client", column: "clientId" } as const
/** The residence of rows that are in the mailbox of their partner, which `partnerId` names. */
export const ofPartner = { subject: "partner", column: "partnerId" } as const
/** The residence of rows that are in the system's mailbox. */
export const ofSystem = { subject: "system", column: null } as const

/** The condition of a residence whose mailbox holds only rows in these states. */
export const onlyIn = <S extends string>(...states: ReadonlyArray<S>) => ({
  sql: `state IN (${states.map((state) => `'${state}'`).join(", ")})`,
  test: (row: { readonly state: string }): boolean => (states as ReadonlyArray<string>).includes(row.state),
  states
})

/** SQL that selects the rows in these states, if all of them are resident; null if some may not be. */
export const heldIn = ({ residence }: Pick<TableSpec, "residence">, states: ReadonlyArray<string>): string | null => {
  const { only } = residence ?? {}
  return only?.states !== undefined && states.every((state) => only.states?.includes(state)) ? only.sql : null
}
