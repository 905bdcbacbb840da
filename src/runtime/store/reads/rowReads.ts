/** Rows of any table by its description in the catalogue, and the holders of unique facts, for the port `RowReads`. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { Claim } from "../../engine/journal/Commit.ts"
import { columnList, decodeRow } from "../../engine/journal/SubjectLoader.ts"
import type { Sealing } from "../../engine/sealing/Sealing.ts"
import { int8s, texts } from "../arrays.ts"
import { catalogue, type TableName, type Tables } from "../../tables/Catalogue.ts"
import { pageOf } from "../paging.ts"
import type { TableSpec } from "../../tables/Table.ts"
import { inTransaction } from "../transactions.ts"

type Rows<T extends TableName> = Effect.Effect<ReadonlyArray<Tables[T]>, SqlError.SqlError>

const select = <T extends TableName>(
  sql: PgClient.PgClient,
  sealing: Sealing,
  table: T,
  condition: string,
  values: ReadonlyArray<unknown>
): Rows<T> => {
  const spec = catalogue[table] as TableSpec
  return Effect.map(
    sql.unsafe<Record<string, unknown>>(`SELECT ${columnList(spec)} FROM ${spec.sqlName}${condition}`, values),
    (rows) => rows.map((raw) => decodeRow(spec, raw, sealing) as Tables[T])
  )
}

/** The rows of these ids that exist, in no order. */
export const rowsWithIds = <T extends TableName>(
  sql: PgClient.PgClient,
  sealing: Sealing,
  table: T,
  ids: ReadonlyArray<number>
): Rows<T> => {
  const spec = catalogue[table] as TableSpec
  const id = spec.columns.find(({ name }) => name === spec.key[0])?.sqlName
  return select(sql, sealing, table, ` WHERE "${id}" = ANY($1)`, [int8s(ids)])
}

/** Every row of a small table, in no order. */
export const allRows = <T extends TableName>(sql: PgClient.PgClient, sealing: Sealing, table: T): Rows<T> =>
  select(sql, sealing, table, "", [])

/** The rows of a client in each of these tables, from one snapshot. The snapshot holds all rows of a commit or none. */
export const rowsTogether = <T extends TableName>(
  sql: PgClient.PgClient,
  sealing: Sealing,
  tables: ReadonlyArray<T>,
  { clientId, limit }: { readonly clientId: number; readonly limit: number }
): Effect.Effect<{ readonly [K in T]: ReadonlyArray<Tables[K]> }, SqlError.SqlError> => {
  const ofClient = [{ column: "client_id", value: clientId }]
  const read = Effect.forEach(tables, (table) =>
    Effect.map(pageOf(sql, sealing, table, ofClient, { limit }), (rows) => [table, rows] as const)
  )
  return inTransaction(sql, read).pipe(
    Effect.provideService(SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
    Effect.map((found) => Object.fromEntries(found) as { readonly [K in T]: ReadonlyArray<Tables[K]> })
  )
}

/** The clients of these accounts. */
export const clientIdsOf = (
  sql: PgClient.PgClient,
  accounts: ReadonlyArray<string>
): Effect.Effect<ReadonlyMap<string, number>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly uid: string; readonly id: bigint }>("SELECT uid, id FROM clients WHERE uid = ANY($1)", [
      texts(accounts)
    ]),
    (rows) => new Map(rows.map(({ uid, id }) => [uid, Number(id)]))
  )

/** The taken facts among these, with the objects that hold them. */
export const holdersOf = (
  sql: PgClient.PgClient,
  names: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<Claim>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly name: string; readonly owner: bigint }>(
      "SELECT name, owner FROM claims WHERE name = ANY($1)",
      [texts(names)]
    ),
    (rows) => rows.map(({ name, owner }) => ({ name, owner: Number(owner) }))
  )
