/**
 * One batch of commits as ONE statement: a chain of data-modifying CTEs, so that a batch costs a single round trip
 * and is a transaction by itself. Guards compare row counts and raise, which undoes the whole statement; the
 * journal then looks for the culprit (JournalPg). The text depends only on which tables take part, so that the
 * server keeps it prepared.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"
import { catalogue, type ColumnType, tableNames, type TableSpec } from "../store/Catalogue.ts"
import type { TableName } from "../store/Rows.ts"
import type { Commit } from "./Commit.ts"
import type { Sealing } from "./Sealing.ts"
import type { stampBatch } from "./stamp.ts"

export interface Statement {
  readonly sql: string
  readonly params: ReadonlyArray<unknown>
}

const elementOid: { readonly [T in ColumnType]: number } = {
  id: PgTypes.OID.int8,
  money: PgTypes.OID.int8,
  text: PgTypes.OID.text,
  bool: PgTypes.OID.bool,
  json: PgTypes.OID.text,
  sealed: PgTypes.OID.bytea,
  sealedText: PgTypes.OID.bytea
}
const arrayType: { readonly [T in ColumnType]: string } = {
  id: "int8[]",
  money: "int8[]",
  text: "text[]",
  bool: "bool[]",
  json: "text[]",
  sealed: "bytea[]",
  sealedText: "bytea[]"
}

/** The driver does not notice a number that is too large for the column until it is half-way through sending it. */
const int8 = (value: bigint, place: string): bigint => {
  if (BigInt.asIntN(64, value) !== value) throw new RangeError(`a value of ${place} is outside 64 bits`)
  return value
}

// U+0000 and lone surrogates as JSON.stringify escapes them; a backslash that is itself escaped starts no escape.
export const unstorableDocument = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/

/** JSON that every reader of the column can decode. */
const document = (text: string, place: string): string => {
  if (text.includes("\\u") && unstorableDocument.test(text))
    throw new RangeError(`a text inside ${place} can't be stored`)
  return text
}

/** A JavaScript value of a row as the driver wants it for the column. */
export const toColumn = (value: unknown, type: ColumnType, place: string, sealing: Sealing): unknown => {
  if (value === null || value === undefined) return null
  switch (type) {
    case "id":
      return int8(BigInt(value as number), place)
    case "money":
      return int8(value as bigint, place)
    case "json":
      return document(JSON.stringify(value), place)
    case "sealed":
      return sealing.seal(JSON.stringify(value), place)
    case "sealedText":
      return sealing.seal(value as string, place)
    default:
      return value
  }
}

/** The reverse of `toColumn`, for what the driver returns. */
export const fromColumn = (value: unknown, type: ColumnType, place: string, sealing: Sealing): unknown => {
  if (value === null || value === undefined) return null
  switch (type) {
    case "id":
      return Number(value)
    case "sealed":
      return JSON.parse(sealing.open(value as Uint8Array, place))
    case "sealedText":
      return sealing.open(value as Uint8Array, place)
    default:
      return value
  }
}

export const placeOf = (table: string, column: string): string => `${table}.${column}`

const arrayParam = (values: ReadonlyArray<unknown>, oid: number): unknown =>
  Result.getOrThrow(PgTypes.array(values, oid))

const insertTexts = new Map<string, string>()

/** The insert of a table whose columns start at parameter `first`; made once per position. */
const insertInto = (spec: TableSpec, first: number): string => {
  const name = `${spec.sqlName} ${first}`
  let text = insertTexts.get(name)
  if (text === undefined) insertTexts.set(name, (text = insertText(spec, first)))
  return text
}

const insertText = (spec: TableSpec, first: number): string => {
  const names = spec.columns.map((column) => `"${column.sqlName}"`)
  const arrays = spec.columns.map((column, index) => `$${first + index}::${arrayType[column.type]}`)
  const aliases = spec.columns.map((_, index) => `c${index}`)
  const values = spec.columns.map((column, index) => (column.type === "json" ? `c${index}::json` : `c${index}`))
  const insert = `INSERT INTO ${spec.sqlName} (${names.join(", ")}) SELECT ${values.join(", ")} FROM unnest(${arrays.join(
    ", "
  )}) AS v(${aliases.join(", ")})`
  if (spec.mode === "insert") return insert
  if (spec.mode === "claim") return `${insert} ON CONFLICT DO NOTHING RETURNING 1`
  const keys = spec.key.map((name) => `"${spec.columns.find((column) => column.name === name)?.sqlName}"`)
  const rest = names.filter((name) => !keys.includes(name)).map((name) => `${name} = EXCLUDED.${name}`)
  return `${insert} ON CONFLICT (${keys.join(", ")}) DO ${rest.length === 0 ? "NOTHING" : `UPDATE SET ${rest.join(", ")}`}`
}

export interface BatchInput {
  readonly epoch: number
  readonly batch: number
  readonly commits: ReadonlyArray<Commit>
  readonly stamped: ReturnType<typeof stampBatch>
  readonly sealing: Sealing
}

/** Builds the statement of a batch. Text and parameter types depend only on the set of tables that take part. */
export const batchStatement = (input: BatchInput): Statement => {
  const params: Array<unknown> = [PgTypes.int8(BigInt(input.epoch)), PgTypes.int8(BigInt(input.batch))]
  const parts = ["w AS (UPDATE writer SET batch = $2 WHERE id = 1 AND epoch = $1 RETURNING 1)"]
  const guards = ["journal_guard((SELECT count(*) FROM w), 1, 'epoch')"]
  const param = (values: ReadonlyArray<unknown>, oid: number): string => `$${params.push(arrayParam(values, oid))}`
  const guard = (part: string, expected: number, what: string): void => {
    guards.push(
      `journal_guard((SELECT count(*) FROM ${part}), $${params.push(PgTypes.int8(BigInt(expected)))}, '${what}')`
    )
  }

  const fences = input.commits.flatMap((commit) => (commit.fence === null ? [] : [commit.fence]))
  const born = fences.filter((fence) => fence.expected === null)
  const held = fences.filter((fence) => fence.expected !== null)
  if (born.length > 0) {
    const subjects = param(
      born.map((fence) => fence.subject),
      PgTypes.OID.text
    )
    parts.push(
      `born AS (INSERT INTO subjects (subject, token) SELECT s, 1 FROM unnest(${subjects}::text[]) AS v(s) ON CONFLICT DO NOTHING RETURNING 1)`
    )
    guard("born", born.length, "fence")
  }
  if (held.length > 0) {
    const subjects = param(
      held.map((fence) => fence.subject),
      PgTypes.OID.text
    )
    const tokens = param(
      held.map((fence) => BigInt(fence.expected as number)),
      PgTypes.OID.int8
    )
    parts.push(
      `held AS (UPDATE subjects SET token = v.t + 1 FROM unnest(${subjects}::text[], ${tokens}::int8[]) AS v(s, t) WHERE subject = v.s AND token = v.t RETURNING 1)`
    )
    guard("held", held.length, "fence")
  }
  // One entry per partner and epoch: a commit decided under a stale epoch must not hide behind a current one.
  const stamps = [
    ...new Map(
      input.commits.flatMap((c) =>
        c.partner === null ? [] : [[`${c.partner.partnerId} ${c.partner.epoch}`, c.partner]]
      )
    ).values()
  ]
  if (stamps.length > 0) {
    const ids = param(
      stamps.map((stamp) => BigInt(stamp.partnerId)),
      PgTypes.OID.int8
    )
    const epochs = param(
      stamps.map((stamp) => BigInt(stamp.epoch)),
      PgTypes.OID.int8
    )
    parts.push(
      `stamps AS (SELECT 1 FROM partners p JOIN unnest(${ids}::int8[], ${epochs}::int8[]) AS v(i, e) ON p.id = v.i AND p.epoch = v.e)`
    )
    guard("stamps", stamps.length, "partner")
  }
  const claims = input.commits.flatMap((commit) => commit.claims)
  if (claims.length > 0) {
    const names = param(
      claims.map((claim) => claim.name),
      PgTypes.OID.text
    )
    const owners = param(
      claims.map((claim) => BigInt(claim.owner)),
      PgTypes.OID.int8
    )
    parts.push(
      `claimed AS (INSERT INTO claims (name, owner) SELECT n, o FROM unnest(${names}::text[], ${owners}::int8[]) AS v(n, o) ON CONFLICT DO NOTHING RETURNING 1)`
    )
    guard("claimed", claims.length, "claim")
  }
  const releases = input.commits.flatMap((commit) => commit.releases)
  if (releases.length > 0) {
    parts.push(`released AS (DELETE FROM claims WHERE name = ANY(${param(releases, PgTypes.OID.text)}::text[]))`)
  }
  const cleared = input.commits.flatMap((commit) => commit.clearedTimers)
  if (cleared.length > 0) {
    const subjects = param(
      cleared.map((timer) => timer.subject),
      PgTypes.OID.text
    )
    const names = param(
      cleared.map((timer) => timer.name),
      PgTypes.OID.text
    )
    const dues = param(
      cleared.map((timer) => (timer.dueAt === undefined ? null : BigInt(timer.dueAt))),
      PgTypes.OID.int8
    )
    parts.push(
      `cleared AS (DELETE FROM timers USING unnest(${subjects}::text[], ${names}::text[], ${dues}::int8[]) AS v(s, n, d) WHERE subject = v.s AND name = v.n AND (v.d IS NULL OR due_at = v.d))`
    )
  }
  for (const table of tableNames) {
    const rows = rowsOf(table, input)
    if (rows.length === 0) continue
    const spec = catalogue[table] as TableSpec
    const first = params.length + 1
    for (const column of spec.columns) {
      const place = placeOf(spec.sqlName, column.sqlName)
      const values = rows.map((row) =>
        toColumn((row as Record<string, unknown>)[column.name], column.type, place, input.sealing)
      )
      params.push(arrayParam(values, elementOid[column.type]))
    }
    parts.push(`t_${spec.sqlName} AS (${insertInto(spec, first)})`)
    if (spec.mode === "claim") guard(`t_${spec.sqlName}`, rows.length, "claim")
  }
  return { sql: `WITH ${parts.join(",\n")}\nSELECT ${guards.join(", ")}`, params }
}

const rowsOf = (table: TableName, input: BatchInput): ReadonlyArray<object> => {
  if (table === "events") return input.stamped.events
  if (table === "audit") return input.stamped.audit
  const rows: Array<object> = []
  for (const commit of input.commits) {
    const added = commit.rows[table]
    if (added !== undefined) for (const row of added) rows.push(row)
  }
  return rows
}
