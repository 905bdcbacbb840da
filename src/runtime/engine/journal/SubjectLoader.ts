/**
 * Reads subjects as stored: their commit tokens and resident rows. One UNION ALL statement reads many subjects of one kind from
 * all their tables. The tables share the result columns: each of their columns uses a result column of its type, and unused
 * ones are null. This avoids JSON, so that amounts and sealed bytes arrive without a conversion.
 */
import { type PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Result } from "effect"
import type { SqlError } from "effect/sql"
import { catalogue, tableNames } from "../../tables/Catalogue.ts"
import type { TableSpec } from "../../tables/Table.ts"
import { columnKind, fromColumn, placeOf } from "./columnValues.ts"
import type { ColumnKind } from "./ColumnArray.ts"
import type { SubjectKey } from "./Commit.ts"
import { presentRow } from "../machine/upcast.ts"
import type { SubjectImage } from "./Journal.ts"
import type { Sealing } from "../sealing/Sealing.ts"

type SubjectKind = "client" | "partner" | "system"
const kindOf = (subject: SubjectKey): SubjectKind => subject.split(":", 1)[0] as SubjectKind

const residents = (kind: SubjectKind): ReadonlyArray<TableSpec> =>
  tableNames.map((name) => catalogue[name] as TableSpec).filter((spec) => spec.residence?.subject === kind)

/** Decodes a row as the driver returned it (columns in snake case). Throws if a newer program wrote it. */
export const decodeRow = (
  spec: TableSpec,
  raw: Readonly<Record<string, unknown>>,
  sealing: Pick<Sealing, "open">
): object => decode(spec, ({ sqlName }) => raw[sqlName], sealing)

type Column = TableSpec["columns"][number]

const decode = (
  spec: TableSpec,
  valueOf: (column: Column, index: number) => unknown,
  sealing: Pick<Sealing, "open">
): object => {
  const row: Record<string, unknown> = {}
  for (const [index, column] of spec.columns.entries()) {
    const place = placeOf(spec.sqlName, column.sqlName)
    row[column.name] = fromColumn(valueOf(column, index), column.type, place, sealing)
  }
  return presentRow(spec, row)
}

export const columnList = (spec: TableSpec): string => spec.columns.map((column) => `"${column.sqlName}"`).join(", ")

export const makeSubjectLoader =
  (sql: PgClient.PgClient, sealing: Sealing) =>
  (subjects: ReadonlyArray<SubjectKey>): Effect.Effect<ReadonlyMap<SubjectKey, SubjectImage>, SqlError.SqlError> =>
    Effect.map(
      Effect.forEach(Map.groupBy(new Set(subjects), kindOf), ([kind, group]) => loadKind(sql, sealing, kind, group), {
        concurrency: "unbounded"
      }),
      (images) => new Map(images.flatMap((each) => [...each]))
    )

const loadKind = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  kind: SubjectKind,
  group: ReadonlyArray<SubjectKey>
): Effect.Effect<ReadonlyMap<SubjectKey, SubjectImage>, SqlError.SqlError> => {
  const { text, tables } = layouts[kind]
  const ids = group.map((subject) => BigInt(subject.slice(kind.length + 1) || 0))
  const parameters = [
    Result.getOrThrow(PgTypes.array(group, PgTypes.OID.text)),
    ...(kind === "system" ? [] : [Result.getOrThrow(PgTypes.array(ids, PgTypes.OID.int8))])
  ]
  return Effect.map(sql.unsafe<object>(text, parameters).values, (found) => {
    const tokens = new Map<SubjectKey, number>()
    const rows = new Map<SubjectKey, Array<{ readonly table: string; readonly row: object }>>()
    for (const values of found) {
      const table = tables[(values[0] as number) - 1]
      if (table === undefined) {
        tokens.set(values[subjectPlace] as string, Number(values[tokenPlace]))
        continue
      }
      const { spec, places } = table
      const row = decode(
        spec,
        ({ type }, index) => {
          const value = values[places[index] as number]
          return type === "json" && typeof value === "string" ? JSON.parse(value) : value
        },
        sealing
      )
      const owner = spec.residence?.column
      const subject = owner == null ? kind : `${kind}:${(row as Record<string, unknown>)[owner]}`
      const own = rows.get(subject)
      if (own === undefined) rows.set(subject, [{ table: spec.table, row }])
      else own.push({ table: spec.table, row })
    }
    // Rows of a subject that does not exist are left out: plain SQL may have written them.
    return new Map(
      group.map((subject) => {
        const token = tokens.get(subject) ?? null
        return [subject, { token, rows: token === null ? [] : (rows.get(subject) ?? []) } as SubjectImage]
      })
    )
  })
}

/**
 * The statement for one kind of subject. Its first result column is 0 for a token, or the number of the table from 1.
 * The further columns hold values.
 */
interface Layout {
  readonly text: string
  /** For each table, the result column that holds each of its columns. */
  readonly tables: ReadonlyArray<{ readonly spec: TableSpec; readonly places: ReadonlyArray<number> }>
}

/** The result columns of a token. */
const tokenPlace = 1
const subjectPlace = 2

const layoutOf = (kind: SubjectKind): Layout => {
  const places: Array<ColumnKind> = ["int8", "text"]
  const tables = residents(kind).map((spec) => {
    const used = new Set<number>()
    return {
      spec,
      places: spec.columns.map(({ type }) => {
        const wanted = columnKind(type)
        const found = places.findIndex((each, at) => each === wanted && !used.has(at))
        const at = found === -1 ? places.push(wanted) - 1 : found
        used.add(at)
        return at + 1
      })
    }
  })
  const select = (number: number, columns: ReadonlyMap<number, string>, from: string): string =>
    `SELECT ${number}::int4, ${places.map((each, at) => columns.get(at + 1) ?? `NULL::${each}`).join(", ")} FROM ${from}`
  const tokens = new Map([
    [tokenPlace, "token"],
    [subjectPlace, "subject"]
  ])
  const text = [
    select(0, tokens, "subjects WHERE subject = ANY ($1::text[])"),
    ...tables.map(({ spec, places: at }, index) => {
      const columns = spec.columns.map(
        ({ sqlName, type }, column) => [at[column] as number, `"${sqlName}"${type === "json" ? "::text" : ""}`] as const
      )
      return select(index + 1, new Map(columns), `${spec.sqlName}${residentCondition(spec)}`)
    })
  ].join("\nUNION ALL ")
  return { text, tables }
}

const residentCondition = ({ residence, columns }: TableSpec): string => {
  const owner = columns.find((column) => column.name === residence?.column)
  const conditions = [
    ...(owner === undefined ? [] : [`"${owner.sqlName}" = ANY ($2::int8[])`]),
    ...(residence?.only === undefined ? [] : [residence.only.sql])
  ]
  return conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`
}

const layouts: { readonly [K in SubjectKind]: Layout } = {
  client: layoutOf("client"),
  partner: layoutOf("partner"),
  system: layoutOf("system")
}
