/**
 * Reads subjects as stored: their commit tokens and resident rows, many subjects in a handful of queries.
 * Consistent without a snapshot because a subject is only loaded while its mailbox writes nothing.
 */
import type { PgClient } from "@effect/sql-pg"
import { PgTypes } from "@effect/sql-pg"
import { Effect, Result } from "effect"
import type { SqlError } from "effect/sql"
import { catalogue, tableNames, type TableSpec } from "../../store/Catalogue.ts"
import type { Kind } from "../../../machines/registry.ts"
import type { TableName } from "../../store/Rows.ts"
import { fromColumn, placeOf } from "./columnValues.ts"
import type { SubjectKey } from "./Commit.ts"
import { upcast, type Versioned, versionOf } from "../machine/decide.ts"
import type { SubjectImage } from "./Journal.ts"
import type { Sealing } from "../sealing/Sealing.ts"

type SubjectKind = "client" | "partner" | "system"
const kindOf = (subject: SubjectKey): SubjectKind => subject.split(":", 1)[0] as SubjectKind

const residents = (kind: SubjectKind): ReadonlyArray<TableSpec> =>
  tableNames.map((name) => catalogue[name] as TableSpec).filter((spec) => spec.residence?.subject === kind)

/** The machine whose rows a table keeps; such rows are brought to the present version as they are read. */
export const machineOf: { readonly [T in TableName]?: Kind } = {
  partners: "partner",
  reliances: "reliance",
  apiKeys: "apiKey",
  operatorKeys: "apiKey",
  clients: "client",
  verificationBlocks: "verificationBlock",
  assessments: "assessment",
  kycPackages: "kycPackage",
  cases: "case",
  watchImports: "watchImport",
  screeningPasses: "screeningPass",
  depositNotices: "depositNotice",
  collateralReports: "collateralReport",
  settlementItems: "settlementItem",
  withdrawalRequests: "withdrawalRequest",
  reconBreaks: "reconBreak",
  webhookEndpoints: "webhookEndpoint",
  webhookDeliveries: "webhookDelivery",
  approvals: "approval"
}

/** Decodes a row as the driver returned it (columns in snake case). Throws when a newer program wrote it. */
export const decodeRow = (
  spec: TableSpec,
  raw: Readonly<Record<string, unknown>>,
  sealing: Pick<Sealing, "open">
): object => {
  const row: Record<string, unknown> = {}
  for (const { name, sqlName, type } of spec.columns) {
    row[name] = fromColumn(raw[sqlName], type, placeOf(spec.sqlName, sqlName), sealing)
  }
  const kind = machineOf[spec.table]
  if (kind === undefined || row.version === versionOf(kind)) return row
  return Object.assign(row, Result.getOrThrow(upcast(kind, row as unknown as Versioned)))
}

export const columnList = (spec: TableSpec): string => spec.columns.map((column) => `"${column.sqlName}"`).join(", ")

export const makeSubjectLoader =
  (sql: PgClient.PgClient, sealing: Sealing) =>
  (subjects: ReadonlyArray<SubjectKey>): Effect.Effect<ReadonlyMap<SubjectKey, SubjectImage>, SqlError.SqlError> =>
    Effect.gen(function* () {
      const rows = new Map<SubjectKey, Array<{ readonly table: string; readonly row: object }>>()
      for (const subject of subjects) rows.set(subject, [])
      const tokens = yield* sql.unsafe<{ readonly subject: string; readonly token: bigint }>(
        "SELECT subject, token FROM subjects WHERE subject = ANY($1::text[])",
        [Result.getOrThrow(PgTypes.array(subjects, PgTypes.OID.text))]
      )
      const known = new Map(tokens.map((row) => [row.subject, Number(row.token)]))
      const queries = [...Map.groupBy(known.keys(), kindOf)].flatMap(([kind, group]) =>
        residents(kind).map((spec) => ({ kind, spec, group }))
      )
      yield* Effect.forEach(
        queries,
        ({ kind, spec, group }) =>
          Effect.map(selectResidents(sql, kind, spec, group), (found) => {
            const owner = spec.residence?.column
            for (const raw of found) {
              const row = decodeRow(spec, raw, sealing)
              const subject = owner == null ? kind : `${kind}:${(row as Record<string, unknown>)[owner]}`
              rows.get(subject)?.push({ table: spec.table, row })
            }
          }),
        { concurrency: 4, discard: true }
      )
      return new Map(
        subjects.map((subject) => [
          subject,
          { token: known.get(subject) ?? null, rows: rows.get(subject) ?? [] } as SubjectImage
        ])
      )
    })

const selectResidents = (
  sql: PgClient.PgClient,
  kind: SubjectKind,
  spec: TableSpec,
  group: ReadonlyArray<SubjectKey>
): Effect.Effect<ReadonlyArray<Record<string, unknown>>, SqlError.SqlError> => {
  const residence = spec.residence
  const owner = spec.columns.find((column) => column.name === residence?.column)
  const conditions = [
    ...(owner === undefined ? [] : [`"${owner.sqlName}" = ANY($1::int8[])`]),
    ...(residence?.only === undefined ? [] : [residence.only.sql])
  ]
  const ids = group.map((subject) => BigInt(subject.slice(kind.length + 1) || 0))
  return sql.unsafe(
    `SELECT ${columnList(spec)} FROM ${spec.sqlName}${conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`}`,
    owner === undefined ? [] : [Result.getOrThrow(PgTypes.array(ids, PgTypes.OID.int8))]
  )
}
