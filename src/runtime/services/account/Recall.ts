/**
 * Loads finished rows of a client that have left memory, for a turn that needs them. The turn keeps its place while
 * the row is read, so no other turn of the client can change the row meanwhile.
 */
import { Effect } from "effect"
import { JournalUnavailable } from "../../engine/journal/Journal.ts"
import type { Turn, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import { TurnHeld } from "../../engine/mailbox/TurnHeld.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import type { TableName, Tables } from "../../tables/Catalogue.ts"
import type { Condition } from "../../store/paging.ts"
import { clientSubject } from "./clientState.ts"

/** Names of the tables whose rows have an id and belong to a client. */
type ClientTable = {
  readonly [T in TableName]: Tables[T] extends { readonly id: number; readonly clientId: number } ? T : never
}[TableName]

/** The page size of `since`, and the number of rows above which it gives up. */
const sinceRows = { page: 1_000, most: 100_000 } as const

interface Found {
  /**
   * The client's commit token when the rows were read. Once the client has another token, the rows may have changed and are
   * read again.
   */
  readonly token: number | null
  /**
   * Loaded rows by table and id, or by query. null: the client has no such row. "away": the read failed. "many": the query
   * finds more rows than the limit.
   */
  readonly rows: Map<string, object | null | "away" | "many">
}

export class Recall {
  private readonly stored: RowReads["Service"]
  private readonly found = new WeakMap<SubjectState, Found>()

  constructor(stored: RowReads["Service"]) {
    this.stored = stored
  }

  /**
   * The row as the turn sees it, from memory or the database; null when the client has none with this id. Throws
   * TurnHeld, after which the turn is decided again with the row, and JournalUnavailable.
   */
  row<T extends ClientTable>(turn: Turn, table: T, id: number): Tables[T] | null {
    const key = String(id)
    const near = turn.draft.peek(table, key) ?? turn.state.get(table, key)
    if (near !== undefined) return near
    const rows = this.rowsOf(turn.state)
    const name = `${table} ${key}`
    const row = rows.get(name)
    if (row === undefined) throw new TurnHeld(this.read(rows, turn.state, table, id), true)
    if (row === "away") {
      rows.delete(name)
      throw new JournalUnavailable({ reason: "a row could not be read" })
    }
    return row as Tables[T] | null
  }

  /**
   * The one stored row of the turn's client with these column values, or null. Ignores rows that the turn itself has
   * written. Throws as `row` does.
   */
  matching<T extends ClientTable | "ledgerTransactions">(
    turn: Turn,
    table: T,
    columns: Readonly<Record<string, string | number>>
  ): Tables[T] | null {
    const rows = this.rowsOf(turn.state)
    const name = `${table} ${JSON.stringify(columns)}`
    const row = rows.get(name)
    if (row === undefined) throw new TurnHeld(this.find(rows, turn.state, table, columns, name), true)
    if (row === "away") {
      rows.delete(name)
      throw new JournalUnavailable({ reason: "a row could not be read" })
    }
    return row as Tables[T] | null
  }

  /**
   * Applies `keep` to each stored row of the turn's client that equals `equal` and is at least `least` in the named
   * columns, newest id first. Memory holds one page of rows and the results. Throws as `matching` does, and an Error
   * above the limit of rows: the event is then quarantined.
   */
  since<T extends ClientTable, K>(
    turn: Turn,
    table: T,
    equal: Readonly<Record<string, string>>,
    least: Readonly<Record<string, number>>,
    keep: (row: Tables[T]) => K
  ): ReadonlyArray<K> {
    const rows = this.rowsOf(turn.state)
    const name = `${table} ${JSON.stringify([equal, least])}`
    const found = rows.get(name)
    const conditions = [
      ...Object.entries(equal).map(([column, value]) => ({ column, value })),
      ...Object.entries(least).map(([column, value]) => ({ column, value, comparison: ">=" as const }))
    ]
    if (found === undefined) throw new TurnHeld(this.list(rows, turn, table, conditions, name, keep), true)
    if (found === "many") throw new Error(`a turn needs more than ${sinceRows.most} rows of ${table}`)
    if (found === "away") {
      rows.delete(name)
      throw new JournalUnavailable({ reason: "rows could not be read" })
    }
    return found as ReadonlyArray<K>
  }

  private list<T extends ClientTable, K>(
    rows: Found["rows"],
    { state }: Turn,
    table: T,
    conditions: ReadonlyArray<Condition>,
    name: string,
    keep: (row: Tables[T]) => K
  ): Effect.Effect<void> {
    const client = state.one("clients")
    if (client === undefined) return Effect.sync(() => void rows.set(name, []))
    const own = [{ column: "client_id", value: client.id }, ...conditions]
    const kept: Array<K> = []
    const limit = sinceRows.page
    const read = (before: { readonly before?: number }): Effect.Effect<"many" | Array<K>, Unavailable> =>
      Effect.flatMap(this.stored.page(table, own, { limit, ...before }), (page) => {
        if (kept.length + page.length > sinceRows.most) return Effect.succeed("many" as const)
        for (const row of page) kept.push(keep(row))
        const last: { readonly id: number } | undefined = page.at(-1)
        return last === undefined || page.length < limit ? Effect.succeed(kept) : read({ before: last.id })
      })
    return read({}).pipe(
      Effect.map((found) => void rows.set(name, found)),
      Effect.catchCause(() => Effect.sync(() => void rows.set(name, "away")))
    )
  }

  private rowsOf(state: SubjectState): Found["rows"] {
    const known = this.found.get(state)
    if (known !== undefined && known.token === state.token) return known.rows
    const rows: Found["rows"] = new Map()
    this.found.set(state, { token: state.token, rows })
    return rows
  }

  private find<T extends ClientTable | "ledgerTransactions">(
    rows: Found["rows"],
    { subject }: SubjectState,
    table: T,
    columns: Readonly<Record<string, string | number>>,
    name: string
  ): Effect.Effect<void> {
    const conditions = Object.entries(columns).map(([column, value]) => ({ column, value }))
    return this.stored.page(table, conditions, { limit: 1 }).pipe(
      Effect.map(([row]) => {
        const own = row !== undefined && clientSubject((row as { readonly clientId: number }).clientId) === subject
        rows.set(name, own ? row : null)
      }),
      Effect.catchCause(() => Effect.sync(() => void rows.set(name, "away")))
    )
  }

  private read<T extends ClientTable>(
    rows: Found["rows"],
    { subject }: SubjectState,
    table: T,
    id: number
  ): Effect.Effect<void> {
    return this.stored.among(table, [id]).pipe(
      Effect.map(([row]) => {
        const own = row !== undefined && clientSubject((row as { readonly clientId: number }).clientId) === subject
        rows.set(`${table} ${id}`, own ? row : null)
      }),
      Effect.catchCause(() => Effect.sync(() => void rows.set(`${table} ${id}`, "away")))
    )
  }
}
