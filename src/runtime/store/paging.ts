/** Keyset pages, newest first: rows of one table by conditions on its columns, ids below `before`. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Sealing } from "../engine/sealing/Sealing.ts"
import { mapInSlices } from "../engine/yieldToEventLoop.ts"
import { columnList, decodeRow } from "../engine/journal/SubjectLoader.ts"
import { catalogue, type TableName, type Tables } from "../tables/Catalogue.ts"
import { heldIn, type TableSpec } from "../tables/Table.ts"

export interface PageQuery {
  readonly limit: number
  /** Exclusive upper bound of the ids; absent: the page begins with the newest row. */
  readonly before?: number
}

export interface Condition {
  readonly column: string
  readonly value: string | number | bigint
  /** The comparison of the column with the value; "=" if absent. */
  readonly comparison?: ">=" | "<=" | "<>"
}

/** The start of the next page: ids below `nextBefore`; null on the last page. */
export interface PageEnd {
  readonly hasMore: boolean
  readonly nextBefore: number | null
}

export interface PageCut<Row> {
  readonly shown: ReadonlyArray<Row>
  readonly end: PageEnd
}

/** The query with one more row than the page: that row shows whether another page follows. */
export const onePast = ({ limit, before }: PageQuery): PageQuery => ({
  limit: limit + 1,
  ...(before === undefined ? {} : { before })
})

/** Cuts the page from rows that were read with `onePast`. */
export const cutPage = <Row>(rows: ReadonlyArray<Row>, limit: number, idOf: (row: Row) => number): PageCut<Row> => {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const hasMore = rows.length > limit
  return { shown, end: { hasMore, nextBefore: hasMore && last !== undefined ? idOf(last) : null } }
}

/** The rows of a page that are decoded without a break. They take less than a millisecond. */
const decodedAtOnce = 100

/**
 * The column of the owner, if the page has no other equality condition: the index of such a list is on owner and id. For an owner
 * of many rows PostgreSQL would prefer to scan the rows of all owners by id. To prevent that, the owner's value is tested as a
 * range (`inOrder`), and ORDER BY names the owner first.
 */
const ownerOf = (conditions: ReadonlyArray<Condition>): string | null => {
  const equal = conditions.filter(({ comparison }) => comparison === undefined).map(({ column }) => column)
  const owners = ["client_id", "partner_id"]
  return equal.every((column) => owners.includes(column)) ? (equal.toSorted()[0] ?? null) : null
}

/** The equality test, written as a range. */
export const inOrder = (column: string, value: string): string => `${column} BETWEEN ${value} AND ${value}`

/** At most `limit` rows. A limit of one more than the page shows whether another page follows. */
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
  const owner = ownerOf(conditions)
  const tests = conditions.map(({ column, comparison = "=" }, index) =>
    column === owner && comparison === "="
      ? inOrder(`"${column}"`, `$${index + 1}`)
      : `"${column}" ${comparison} $${index + 1}`
  )
  for (const { column, value, comparison } of conditions) {
    if (column !== "state" || comparison !== undefined) continue
    const held = heldIn(spec as TableSpec, [String(value)])
    if (held !== null) tests.push(held)
  }
  if (query.before !== undefined) tests.push(`"${id}" < $${values.push(BigInt(query.before))}`)
  const where = tests.length === 0 ? "" : ` WHERE ${tests.join(" AND ")}`
  const text = `SELECT ${columnList(spec as TableSpec)} FROM ${spec.sqlName}${where} ORDER BY ${owner === null ? "" : `"${owner}" DESC, `}"${id}" DESC LIMIT $${values.push(BigInt(query.limit))}`
  return Effect.flatMap(sql.unsafe<Record<string, unknown>>(text, values), (rows) =>
    mapInSlices(rows, decodedAtOnce, (raw) => decodeRow(spec as TableSpec, raw, sealing) as Tables[T])
  )
}
