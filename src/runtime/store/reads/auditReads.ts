/** The audit stream by cursor, and the rows that name an object (A3-45; operator surface, audit tail, machine inspect). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { columnList, decodeRow } from "../../engine/journal/SubjectLoader.ts"
import type { Sealing } from "../../engine/sealing/Sealing.ts"
import { texts } from "../arrays.ts"
import { catalogue } from "../../tables/Catalogue.ts"
import { inOrder } from "../paging.ts"
import type { AuditRow } from "../../tables/engine.ts"

export interface AuditQuery {
  readonly clientId?: number | null
  readonly partnerId?: number | null
  /** Selects rows of this business time or later, Unix ms. */
  readonly since?: number
  /** Selects the rows above this id, oldest first. */
  readonly after?: number
  /** Selects the newest of the rows below this id. */
  readonly before?: number
  /** Selects the rows of exactly this object (kind:id). */
  readonly object?: string
  readonly limit: number
}

/** Rows of an object: all rows that name it, or only those of some actions. */
export interface HistorySource {
  /** The object as kind:id. */
  readonly object: string
  readonly actions?: ReadonlyArray<string>
}

export interface HistoryQuery {
  readonly sources: ReadonlyArray<HistorySource>
  /** Selects rows below this id. */
  readonly before?: number
  readonly limit: number
}

export interface AuditStatement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

/** Runs a statement and returns its rows, newest last. */
export const auditRows = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  { text, values }: AuditStatement
): Effect.Effect<ReadonlyArray<AuditRow>, SqlError.SqlError> =>
  Effect.map(sql.unsafe<Record<string, unknown>>(text, values), (rows) =>
    rows.map((raw) => decodeRow(catalogue.audit, raw, sealing) as AuditRow).toSorted((a, b) => a.id - b.id)
  )

/** Each source is read separately from its newest row, so that the index gives the order and no further rows are read. */
export const historyStatement = ({ sources, before, limit }: HistoryQuery): AuditStatement => ({
  text: `SELECT r.* FROM unnest($1::text[], $2::text[]) AS s(o, a)
     CROSS JOIN LATERAL (
       SELECT ${columnList(catalogue.audit)} FROM audit
        WHERE object = s.o AND id < $3 AND (s.a IS NULL OR action = ANY(string_to_array(s.a, ' ')))
        ORDER BY id DESC LIMIT $4) r
    ORDER BY r.id DESC LIMIT $4`,
  values: [
    texts(sources.map(({ object }) => object)),
    texts(sources.map(({ actions }) => actions?.join(" ") ?? null)),
    BigInt(before ?? Number.MAX_SAFE_INTEGER),
    BigInt(limit)
  ]
})

/** True if the query wants the first rows after a point, not the newest. */
export const isForward = ({ after, since, before }: AuditQuery): boolean =>
  before === undefined && (after !== undefined || since !== undefined)

/** The newest rows; with `before`, the newest below that id; with only `after` or `since`, the first ones that follow. */
export const tailStatement = (query: AuditQuery): AuditStatement => {
  const values: Array<bigint | string> = []
  const tests: Array<string> = []
  const test = (condition: (place: string) => string, value: bigint | string) =>
    void tests.push(condition(`$${values.push(value)}`))
  const owner = query.clientId != null ? "client_id" : query.partnerId != null ? "partner_id" : null
  const order = isForward(query) ? "ASC" : "DESC"
  if (query.clientId != null) test((place) => inOrder("client_id", place), BigInt(query.clientId))
  if (query.clientId === null) tests.push("client_id IS NULL")
  if (query.partnerId != null) test((place) => inOrder("partner_id", place), BigInt(query.partnerId))
  if (query.partnerId === null) tests.push("partner_id IS NULL")
  if (query.since !== undefined) test((place) => `ts >= ${place}`, BigInt(query.since))
  if (query.after !== undefined) test((place) => `id > ${place}`, BigInt(query.after))
  if (query.before !== undefined) test((place) => `id < ${place}`, BigInt(query.before))
  if (query.object !== undefined) test((place) => `object = ${place}`, query.object)
  const where = tests.length === 0 ? "" : ` WHERE ${tests.join(" AND ")}`
  const limit = `$${values.push(BigInt(query.limit))}`
  const text = `SELECT ${columnList(catalogue.audit)} FROM audit${where} ORDER BY ${owner === null ? "" : `${owner} ${order}, `}id ${order} LIMIT ${limit}`
  return { text, values }
}
