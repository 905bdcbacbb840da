/**
 * Sealed values in the database, handled without opening a row: the key of each (its first byte), and their replacement in
 * batches (architecture, At rest). Iterates the catalogue, so that a new sealed column is included automatically. No table with a
 * sealed column is insert-only by trigger; a test holds that.
 */
import { type PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Result } from "effect"
import type { SqlError } from "effect/sql"
import { placeOf } from "../engine/journal/columnValues.ts"
import { catalogue, tableNames } from "../tables/Catalogue.ts"
import type { TableSpec } from "../tables/Table.ts"

export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** The table and column that the value is authenticated with (Sealing). */
  readonly place: string
  readonly keys: ReadonlyArray<{ readonly sqlName: string; readonly type: "id" | "text" }>
}

/** The values of a row's key columns. */
export type RowKey = ReadonlyArray<string | bigint>

/** A sealed value during the rotation: its location, its key number, its size in bytes. */
export interface SealedAt {
  readonly key: RowKey
  readonly number: number
  readonly size: number
}

export interface SealedValue {
  readonly key: RowKey
  readonly sealed: Uint8Array
}

export interface Replacement extends SealedValue {
  /** The replaced value, or null. */
  readonly was: Uint8Array
}

const sealedColumnsOf = (spec: TableSpec): ReadonlyArray<SealedColumn> => {
  const keys = spec.key.map((name) => spec.columns.find((column) => column.name === name))
  return spec.columns
    .filter(({ type }) => type === "sealed" || type === "sealedText")
    .map(({ sqlName }) => ({
      table: spec.sqlName,
      column: sqlName,
      place: placeOf(spec.sqlName, sqlName),
      keys: keys.map((key) => {
        if (key?.type !== "id" && key?.type !== "text") throw new Error(`${spec.sqlName} has a key of another type`)
        return { sqlName: key.sqlName, type: key.type }
      })
    }))
}

export const sealedColumns: ReadonlyArray<SealedColumn> = tableNames.flatMap((name) =>
  sealedColumnsOf(catalogue[name] as TableSpec)
)

/** Key number, nonce and tag. No two seals share them, so equal heads mean equal values of any size. */
const headBytes = 29
/** Postgres reads only the requested piece of a large value that is stored out of line. */
const numberOf = (column: string) => `get_byte(substr("${column}", 1, 1), 0)`

const keyList = ({ keys }: SealedColumn, from = ""): string =>
  keys.map(({ sqlName }) => `${from}"${sqlName}"`).join(", ")
const keyOfRow = ({ keys }: SealedColumn, row: Readonly<Record<string, unknown>>): RowKey =>
  keys.map(({ sqlName }) => row[sqlName] as string | bigint)

/** The number of values of a column for each key. Reads the whole table. */
export const countByKey = (
  sql: PgClient.PgClient,
  { table, column }: SealedColumn
): Effect.Effect<ReadonlyMap<number, number>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly number: number; readonly n: bigint }>(
      `SELECT ${numberOf(column)} AS number, count(*) AS n FROM ${table} WHERE octet_length("${column}") > 0 GROUP BY 1`
    ),
    (rows) => new Map(rows.map(({ number, n }) => [Number(number), Number(n)]))
  )

/** The next rows after `after`, in key order, without their values. */
export const windowAfter = (
  sql: PgClient.PgClient,
  sealed: SealedColumn,
  after: RowKey | null,
  limit: number
): Effect.Effect<ReadonlyArray<SealedAt>, SqlError.SqlError> => {
  const { table, column, keys } = sealed
  const places = keys.map((_, index) => `$${index + 2}`).join(", ")
  const where = after === null ? "" : ` WHERE (${keyList(sealed)}) > (${places})`
  return Effect.map(
    sql.unsafe<Record<string, unknown>>(
      `SELECT ${keyList(sealed)}, coalesce(octet_length("${column}"), 0) AS sealed_size,
         CASE WHEN octet_length("${column}") > 0 THEN ${numberOf(column)} ELSE 0 END AS sealed_number
         FROM ${table}${where} ORDER BY ${keyList(sealed)} LIMIT $1`,
      [BigInt(limit), ...(after ?? [])]
    ),
    (rows) =>
      rows.map((row) => ({
        key: keyOfRow(sealed, row),
        number: Number(row.sealed_number),
        size: Number(row.sealed_size)
      }))
  )
}

/** The column's keys, as one array parameter for each key column. */
const keyArrays = ({ keys }: SealedColumn, rows: ReadonlyArray<{ readonly key: RowKey }>): ReadonlyArray<unknown> =>
  keys.map(({ type }, index) =>
    arrayOf(
      rows.map(({ key }) => key[index]),
      type === "id" ? PgTypes.OID.int8 : PgTypes.OID.text
    )
  )
const arrayOf = (values: ReadonlyArray<unknown>, oid: number): unknown => Result.getOrThrow(PgTypes.array(values, oid))
const keyTypes = ({ keys }: SealedColumn, first: number): ReadonlyArray<string> =>
  keys.map(({ type }, index) => `$${first + index}::${type === "id" ? "int8[]" : "text[]"}`)
const keyAliases = ({ keys }: SealedColumn): string => keys.map((_, index) => `k${index}`).join(", ")
const keysMatch = ({ keys }: SealedColumn, one: string, other: string): string =>
  keys.map(({ sqlName }, index) => `${one}."${sqlName}" = ${other}.k${index}`).join(" AND ")

/** The values of the given rows; deleted rows are left out. */
export const valuesOf = (
  sql: PgClient.PgClient,
  sealed: SealedColumn,
  rows: ReadonlyArray<SealedAt>
): Effect.Effect<ReadonlyArray<SealedValue>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<Record<string, unknown>>(
      `SELECT ${keyList(sealed, "t.")}, t."${sealed.column}" AS sealed_value
         FROM unnest(${keyTypes(sealed, 1).join(", ")}) AS v(${keyAliases(sealed)})
         JOIN ${sealed.table} t ON ${keysMatch(sealed, "t", "v")} WHERE t."${sealed.column}" IS NOT NULL`,
      keyArrays(sealed, rows)
    ),
    (found) => found.map((row) => ({ key: keyOfRow(sealed, row), sealed: row.sealed_value as Uint8Array }))
  )

/**
 * Replaces each value that has not changed since, and returns the number. Locked rows are skipped, so that there are neither
 * waits nor deadlocks, and a process that no longer owns the database replaces nothing. The commit does not wait for the disk: a
 * value that a power cut restores still opens with the old key.
 */
export const replaceValues = (
  sql: PgClient.PgClient,
  sealed: SealedColumn,
  rows: ReadonlyArray<Replacement>,
  owner: string
): Effect.Effect<number, SqlError.SqlError> => {
  const { table, column } = sealed
  const was = `substr(t."${column}", 1, ${headBytes})`
  return Effect.map(
    sql.unsafe<{ readonly n: bigint }>(
      `WITH v AS MATERIALIZED (SELECT v.* FROM (SELECT set_config('synchronous_commit', 'off', true)) fast,
           unnest($1::bytea[], $2::bytea[], ${keyTypes(sealed, 4).join(", ")}) AS v(was, sealed, ${keyAliases(sealed)})
          WHERE EXISTS (SELECT FROM writer WHERE id = 1 AND owner = $3)),
       held AS MATERIALIZED (SELECT v.* FROM ${table} t JOIN v ON ${keysMatch(sealed, "t", "v")}
          WHERE ${was} = v.was FOR NO KEY UPDATE OF t SKIP LOCKED),
       done AS (UPDATE ${table} t SET "${column}" = held.sealed FROM held
          WHERE ${keysMatch(sealed, "t", "held")} AND ${was} = held.was RETURNING 1)
       SELECT count(*) AS n FROM done`,
      [
        arrayOf(
          rows.map((row) => row.was.subarray(0, headBytes)),
          PgTypes.OID.bytea
        ),
        arrayOf(
          rows.map((row) => row.sealed),
          PgTypes.OID.bytea
        ),
        owner,
        ...keyArrays(sealed, rows)
      ]
    ),
    ([row]) => Number(row?.n ?? 0)
  )
}
