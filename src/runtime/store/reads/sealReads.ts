/** The chain of seals as stored, and the sealed rows (engine/seal). Neither is secret. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { columnList, decodeRow } from "../../engine/journal/SubjectLoader.ts"
import { nothingSecret, type SealedTable, sealedTables, sealEnds } from "../../engine/sealing/seal.ts"
import { catalogue } from "../../tables/Catalogue.ts"
import type { TableSpec } from "../../tables/Table.ts"
import type { SealRow } from "../../tables/engine.ts"

/** Seals numbered from `from` to `upTo`, both inclusive, in order; at most `limit` of them. */
export const sealsBetween = (
  sql: PgClient.PgClient,
  from: number,
  upTo: bigint,
  limit: number
): Effect.Effect<ReadonlyArray<SealRow>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<Record<string, unknown>>(
      `SELECT ${columnList(catalogue.seals)} FROM seals WHERE number >= $1 AND number <= $2 ORDER BY number LIMIT $3`,
      [BigInt(from), upTo, BigInt(limit)]
    ),
    (found) => found.map((raw) => decodeRow(catalogue.seals, raw, nothingSecret) as SealRow)
  )

/** The rows of a sealed table after those that the seal `after` covers, up to the end of `last`; in the order of their ids. */
export const rowsBetween = (
  sql: PgClient.PgClient,
  table: SealedTable,
  after: SealRow,
  last: SealRow
): Effect.Effect<ReadonlyArray<object>, SqlError.SqlError> => {
  const spec = catalogue[table] as TableSpec
  const column = spec.columns.find(({ name }) => name === sealedTables[table])?.sqlName
  return Effect.map(
    sql.unsafe<Record<string, unknown>>(
      `SELECT ${columnList(spec)} FROM ${spec.sqlName} WHERE "${column}" > $1 AND "${column}" <= $2 ORDER BY "${column}"`,
      [BigInt(after[sealEnds[table]]), BigInt(last[sealEnds[table]])]
    ),
    (found) => found.map((raw) => decodeRow(spec, raw, nothingSecret))
  )
}
