/** Stored rows in the memory store, for deterministic simulation: the guarantees of RowReads without SQL. */
import { Effect, Layer } from "effect"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import type { MemoryStore } from "../engine/journal/MemoryStore.ts"
import { catalogue, type TableName, type Tables } from "../tables/Catalogue.ts"
import type { TableSpec } from "../tables/Table.ts"
import type { Condition } from "../store/paging.ts"
import { RowReads } from "./RowReads.ts"

export interface RowReadsMemoryOptions {
  readonly store: MemoryStore
  /** True while the store is unreachable; called at each read. */
  readonly away?: () => boolean
}

type Column = string | number | bigint | null

/** A test of conditions on a row; conditions use the column names of the database. */
const tester = (table: TableName, conditions: ReadonlyArray<Condition>): ((row: object) => boolean) => {
  const { columns } = catalogue[table] as TableSpec
  const tests = conditions.map(({ column, value, comparison }) => {
    const name = columns.find(({ sqlName }) => sqlName === column)?.name
    if (name === undefined) throw new Error(`${table} has no column ${column}`)
    return (row: object): boolean => {
      const held = (row as Record<string, Column>)[name] ?? null
      if (held === null) return false
      if (comparison === "<>") return held !== value
      if (typeof value === "string") return held === value
      if (comparison === ">=") return BigInt(held) >= BigInt(value)
      return comparison === "<=" ? BigInt(held) <= BigInt(value) : BigInt(held) === BigInt(value)
    }
  })
  return (row) => tests.every((test) => test(row))
}

export const RowReadsMemory = {
  layer: ({ store, away }: RowReadsMemoryOptions): Layer.Layer<RowReads> => {
    const reach = <A>(read: () => A): Effect.Effect<A, Unavailable> =>
      Effect.suspend(() => (away?.() === true ? Effect.fail(new Unavailable({ unknown: false })) : Effect.sync(read)))
    return Layer.succeed(
      RowReads,
      RowReads.of({
        among: (table, ids) =>
          reach(() => {
            const key = catalogue[table].key[0] as string
            const wanted = new Set(ids)
            return store.rows(table).filter((row) => wanted.has((row as Record<string, number>)[key] as number))
          }),
        all: (table) => reach(() => store.rows(table)),
        clientIds: (accounts) =>
          reach(() => {
            const wanted = new Set(accounts)
            const found = store.rows("clients").filter(({ uid }) => wanted.has(uid))
            return new Map(found.map(({ uid, id }) => [uid, id]))
          }),
        persons: (personKey, { limit, before = Number.MAX_SAFE_INTEGER }) =>
          reach(() => {
            const keys = new Set(personKey.split(" "))
            return store
              .rows("clients")
              .filter(({ id, personKey: own }) => id < before && own.split(" ").some((key) => keys.has(key)))
              .toSorted((a, b) => b.id - a.id)
              .slice(0, limit)
          }),
        holders: (names) =>
          reach(() =>
            names.flatMap((name) => {
              const owner = store.ownerOf(name)
              return owner === undefined ? [] : [{ name, owner }]
            })
          ),
        together: <T extends TableName>(tables: ReadonlyArray<T>, clientId: number, limit: number) =>
          reach(() => {
            const found = {} as { [K in T]: ReadonlyArray<Tables[K]> }
            for (const table of tables) {
              const meets = tester(table, [{ column: "client_id", value: clientId }])
              const rows = store.rows(table).filter((row) => meets(row))
              found[table] = rows.slice(0, limit)
            }
            return found
          }),
        page: (table, conditions, { limit, before }) =>
          reach(() => {
            const key = catalogue[table].key[0] as string
            const idOf = (row: object): number => (row as Record<string, number>)[key] as number
            const meets = tester(table, conditions)
            return store
              .rows(table)
              .filter((row) => meets(row) && (before === undefined || idOf(row) < before))
              .toSorted((a, b) => idOf(b) - idOf(a))
              .slice(0, limit)
          })
      })
    )
  }
}
