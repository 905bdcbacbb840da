/** The watch list by source, name, page and id, and the findings of passes (operator surface, screening; F26). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { columnList, decodeRow } from "../../engine/journal/SubjectLoader.ts"
import type { Sealing } from "../../engine/sealing/Sealing.ts"
import { int8s, texts } from "../arrays.ts"
import { catalogue } from "../../tables/Catalogue.ts"
import type { PageQuery } from "../paging.ts"
import type { WatchEntryRow } from "../../tables/screening.ts"

type Entries = Effect.Effect<ReadonlyArray<WatchEntryRow>, SqlError.SqlError>

const entriesWhere = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  condition: string,
  values: ReadonlyArray<unknown>
): Entries =>
  Effect.map(
    sql.unsafe<Record<string, unknown>>(
      `SELECT ${columnList(catalogue.watchEntries)} FROM watch_entries WHERE ${condition}`,
      values
    ),
    (rows) => rows.map((raw) => decodeRow(catalogue.watchEntries, raw, sealing) as WatchEntryRow)
  )

/** Entries with these ids, including removed ones, by id. */
export const entriesWithIds = (sql: PgClient.PgClient, sealing: Sealing, ids: ReadonlyArray<number>): Entries =>
  entriesWhere(sql, sealing, "id = ANY($1::int8[]) ORDER BY id", [int8s(ids)])

/** Live entries of a source with one of these names. */
export const namesakes = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  source: string,
  names: ReadonlyArray<string>
): Entries =>
  entriesWhere(sql, sealing, "removed_at IS NULL AND source = $1 AND name = ANY($2)", [source, texts(names)])

/** Live entries of a source whose last import is an earlier one; at most `limit` of them. */
export const namedBefore = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  source: string,
  importId: number,
  limit: number
): Entries =>
  entriesWhere(sql, sealing, "removed_at IS NULL AND source = $1 AND import_id < $2 ORDER BY import_id LIMIT $3", [
    source,
    BigInt(importId),
    BigInt(limit)
  ])

/** The number of live entries of a source, and of those whose last import is an earlier one. */
export const countNamedBefore = (
  sql: PgClient.PgClient,
  source: string,
  importId: number
): Effect.Effect<{ readonly live: number; readonly unnamed: number }, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly live: bigint; readonly unnamed: bigint }>(
      `SELECT count(*) AS live, count(*) FILTER (WHERE import_id < $2) AS unnamed FROM watch_entries
        WHERE removed_at IS NULL AND source = $1`,
      [source, BigInt(importId)]
    ),
    ([counts]) => ({ live: Number(counts?.live ?? 0), unnamed: Number(counts?.unnamed ?? 0) })
  )

/** The number of live entries by source; empty sources are left out. */
export const entriesBySource = (
  sql: PgClient.PgClient
): Effect.Effect<ReadonlyMap<string, number>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly source: string; readonly n: bigint }>(
      "SELECT source, count(*) AS n FROM watch_entries WHERE removed_at IS NULL GROUP BY source"
    ),
    (rows) => new Map(rows.map(({ source, n }) => [source, Number(n)]))
  )

export interface ListedEntry {
  readonly row: WatchEntryRow
  /** The version of the source that last named the entry; null for manual entries. */
  readonly version: string | null
}

const listedWhere = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  condition: string,
  values: ReadonlyArray<bigint>
): Effect.Effect<ReadonlyArray<ListedEntry>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<Record<string, unknown> & { readonly list_version: string | null }>(
      `SELECT ${columnList(catalogue.watchEntries)},
              (SELECT source_version FROM watch_imports i WHERE i.id = import_id) AS list_version
         FROM watch_entries WHERE ${condition}`,
      values
    ),
    (rows) =>
      rows.map((raw) => ({
        row: decodeRow(catalogue.watchEntries, raw, sealing) as WatchEntryRow,
        version: raw.list_version
      }))
  )

/** Live entries, newest first. */
export const listedEntries = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  { limit, before }: PageQuery
): Effect.Effect<ReadonlyArray<ListedEntry>, SqlError.SqlError> =>
  before === undefined
    ? listedWhere(sql, sealing, "removed_at IS NULL ORDER BY id DESC LIMIT $1", [BigInt(limit)])
    : listedWhere(sql, sealing, "removed_at IS NULL AND id < $2 ORDER BY id DESC LIMIT $1", [
        BigInt(limit),
        BigInt(before)
      ])

/** The entry, removed or not; null if it does not exist. */
export const listedEntry = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  entryId: number
): Effect.Effect<ListedEntry | null, SqlError.SqlError> =>
  Effect.map(listedWhere(sql, sealing, "id = $1", [BigInt(entryId)]), ([found]) => found ?? null)

/** The numbers of a pass's findings, by `<passId> <outcome>`. */
export const findingsOf = (
  sql: PgClient.PgClient,
  passIds: ReadonlyArray<number>
): Effect.Effect<ReadonlyMap<string, number>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly pass_id: bigint; readonly outcome: string; readonly n: bigint }>(
      "SELECT pass_id, outcome, count(*) AS n FROM screening_runs WHERE pass_id = ANY($1::int8[]) GROUP BY pass_id, outcome",
      [int8s(passIds)]
    ),
    (rows) => new Map(rows.map(({ pass_id, outcome, n }) => [`${pass_id} ${outcome}`, Number(n)]))
  )
