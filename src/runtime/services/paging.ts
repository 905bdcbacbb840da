/** Keyset pages, newest first: rows of one table by conditions on its columns, ids below `before`. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Sealing } from "../engine/Sealing.ts"
import { columnList, decodeRow } from "../engine/SubjectLoader.ts"
import { catalogue, type TableSpec } from "../store/Catalogue.ts"
import type { TableName, Tables } from "../store/Rows.ts"

export interface PageQuery {
  readonly limit: number
  /** Exclusive. */
  readonly before?: number
}

export interface Condition {
  readonly column: string
  readonly value: string | number | bigint
  /** Equal when absent. */
  readonly comparison?: ">="
}

/** At most `limit` rows; ask for one more than the page to know whether there are more. */
export const pageOf = <T extends TableName>(
  sql: PgClient.PgClient,
  sealing: Sealing,
  table: T,
  conditions: ReadonlyArray<Condition>,
  query: PageQuery
): Effect.Effect<ReadonlyArray<Tables[T]>, SqlError.SqlError> => {
  const spec: TableSpec<T> = catalogue[table]
  const id = spec.columns.find((column) => column.name === spec.key[0])?.sqlName
  const values: Array<string | number | bigint> = conditions.map(({ value }) =>
    typeof value === "number" ? BigInt(value) : value
  )
  const tests = conditions.map(
    (condition, index) => `"${condition.column}" ${condition.comparison ?? "="} $${index + 1}`
  )
  if (query.before !== undefined) tests.push(`"${id}" < $${values.push(BigInt(query.before))}`)
  const where = tests.length === 0 ? "" : ` WHERE ${tests.join(" AND ")}`
  const text = `SELECT ${columnList(spec as TableSpec)} FROM ${spec.sqlName}${where} ORDER BY "${id}" DESC LIMIT $${values.push(BigInt(query.limit))}`
  return Effect.map(sql.unsafe<Record<string, unknown>>(text, values), (rows) =>
    rows.map((raw) => decodeRow(spec as TableSpec, raw, sealing) as Tables[T])
  )
}
