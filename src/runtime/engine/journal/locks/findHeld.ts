/**
 * Finds the rows and tables of a batch that another session holds, after the batch's statement waited too long for a lock. The
 * batch has been rolled back by then, and the search runs in a transaction that is rolled back too.
 *
 * Three steps, each quick however many locks are held. Tables are locked as the batch would lock them, without waiting. Existing
 * rows are locked without waiting. The remaining locks can't be seen (a row that another session has inserted and not committed,
 * or a lock of a trigger): the parts of the statement are rehearsed one by one with a short lock timeout. Where a part waits, its
 * commits are bisected until those that wait are found.
 */
import { PgTypes } from "@effect/sql-pg"
import { Cause, Effect, Exit, Result } from "effect"
import type { SqlError } from "effect/sql"
import { catalogue, type TableName } from "../../../tables/Catalogue.ts"
import type { TableSpec } from "../../../tables/Table.ts"
import type { BatchDraft, Group } from "../BatchDraft.ts"
import type { EnginePart } from "../batchStatement.ts"
import type { Commit } from "../Commit.ts"
import {
  keyColumnsOf,
  needNames,
  rowName,
  type RowNeed,
  rowNeeds,
  tableName,
  type TableNeed,
  tableNeeds,
  writerRow
} from "./lockNeeds.ts"
import { classify } from "../sqlFailure.ts"
import type { WriterSession } from "../writerSession.ts"

/** The lock timeout of a rehearsed part, ms. */
export const rehearsalMillis = 20
/** The most rehearsals of one search that may time out; the remaining commits stay unchecked. */
const waitLimit = 24

export interface Search {
  readonly session: WriterSession
  /** Encodes commits as a batch, for a rehearsal that is rolled back. */
  readonly draft: (commits: ReadonlyArray<Commit>) => BatchDraft
}

export interface Findings {
  /** The held locks by name, each with the commits that need it. */
  readonly held: ReadonlyMap<string, ReadonlyArray<Commit>>
  /** Commits that the search did not check before its limit; they may or may not wait for a lock. */
  readonly unasked: ReadonlySet<Commit>
}

/** Finds the held locks that the commits need. Fails when the connection is lost. */
export const findHeld = (
  { session, draft }: Search,
  commits: ReadonlyArray<Commit>
): Effect.Effect<Findings, SqlError.SqlError> =>
  Effect.gen(function* () {
    const found: Found = new Map()
    const unasked = new Set<Commit>()
    const trial = new Trial(session)
    yield* session.query("BEGIN")
    yield* session.query(`SET LOCAL lock_timeout = ${rehearsalMillis}`)
    yield* heldTables(trial, commits, found)
    yield* heldRows(trial, free(commits, found), found)
    yield* waitingParts(trial, draft, free(commits, found), found, unasked)
    yield* session.query("ROLLBACK")
    return { held: found, unasked }
  })

type Found = Map<string, ReadonlyArray<Commit>>

const free = (commits: ReadonlyArray<Commit>, found: Found): ReadonlyArray<Commit> =>
  commits.filter((commit) => !needNames(commit).some((name) => found.has(name)))

/** Tries statements one by one in an open transaction, and undoes each. */
class Trial {
  private readonly session: WriterSession

  constructor(session: WriterSession) {
    this.session = session
  }

  /** Runs the statement. Null if it waited for a lock; no rows after any other error, which gives no information about locks. */
  run(
    sql: string,
    params: ReadonlyArray<unknown> = []
  ): Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>> | null, SqlError.SqlError> {
    const { session } = this
    return Effect.gen(function* () {
      yield* session.query("SAVEPOINT trial")
      // The statement is not prepared: it runs rarely, and would evict the statements of batches from the cache.
      const exit = yield* Effect.exit(session.queryValues(sql, params, false))
      if (Exit.isFailure(exit) && classify(exit.cause)._tag === "Lost") return yield* Effect.failCause(exit.cause)
      yield* session.query("ROLLBACK TO trial")
      if (Exit.isSuccess(exit)) return exit.value
      return waited(exit.cause) ? null : []
    })
  }
}

const waited = (cause: Cause.Cause<unknown>): boolean => {
  const failure = classify(cause)
  return failure._tag === "Busy" && failure.locked
}

const heldTables = (trial: Trial, commits: ReadonlyArray<Commit>, found: Found) =>
  Effect.gen(function* () {
    const needs = new Map<string, { readonly need: TableNeed; readonly commit: Commit }>()
    for (const commit of commits) {
      for (const need of tableNeeds(commit)) needs.set(tableName(need), { need, commit })
    }
    const lock = ({ table, mode }: TableNeed) =>
      `LOCK TABLE ${table} IN ${mode === "write" ? "ROW EXCLUSIVE" : "ACCESS SHARE"} MODE NOWAIT`
    const all = [...needs.values()].map(({ need }) => lock(need)).join("; ")
    if ((yield* trial.run(`DO $$ BEGIN ${all}; END $$`)) !== null) return
    for (const [name, { need, commit }] of needs) {
      if ((yield* trial.run(lock(need))) === null) found.set(name, [commit])
    }
  })

const heldRows = (trial: Trial, commits: ReadonlyArray<Commit>, found: Found) =>
  Effect.gen(function* () {
    const tables = new Map<string, Map<string, { readonly need: RowNeed; readonly commit: Commit }>>()
    for (const commit of commits) {
      for (const need of rowNeeds(commit)) {
        const rows = tables.get(need.table) ?? new Map<string, { readonly need: RowNeed; readonly commit: Commit }>()
        rows.set(rowName(need), { need, commit })
        tables.set(need.table, rows)
      }
    }
    for (const [table, rows] of tables) {
      const held = yield* trial.run(
        heldRowsText(table),
        columnsOf(
          table,
          [...rows.values()].map(({ need }) => need)
        )
      )
      for (const key of held ?? []) {
        const name = rowName({ table, key: key.map(String) })
        const commit = rows.get(name)?.commit
        if (commit !== undefined) found.set(name, [commit])
      }
    }
  })

/** The text of a query that finds which of the given keys belong to rows that can't be locked now. */
const heldRowsText = (table: string): string => {
  const columns = keyColumnsOf(table)
  const given = `unnest(${columns.map(({ kind }, at) => `$${at + 1}::${kind}[]`).join(", ")})`
  const names = columns.map((_, at) => `k${at}`).join(", ")
  const matches = columns.map(({ sqlName }, at) => `t."${sqlName}" = k.k${at}`).join(" AND ")
  return `WITH k AS (SELECT * FROM ${given} AS k(${names})),
    there AS (SELECT ${names}, t.ctid AS place FROM k JOIN ${table} t ON ${matches}),
    free AS (SELECT ${names}, t.ctid AS place FROM k JOIN ${table} t ON ${matches} FOR NO KEY UPDATE OF t SKIP LOCKED)
    SELECT DISTINCT ${names} FROM (SELECT * FROM there EXCEPT SELECT * FROM free) held`
}

const columnsOf = (table: string, needs: ReadonlyArray<RowNeed>): ReadonlyArray<unknown> =>
  keyColumnsOf(table).map(({ kind }, at) =>
    kind === "int8"
      ? Result.getOrThrow(
          PgTypes.array(
            needs.map(({ key }) => BigInt(key[at] as number)),
            PgTypes.OID.int8
          )
        )
      : Result.getOrThrow(
          PgTypes.array(
            needs.map(({ key }) => key[at] as string),
            PgTypes.OID.text
          )
        )
  )

type PartName = EnginePart | TableName

/** The table that a part of the batch statement writes; null for a part that only reads. */
const tableOfPart = (name: PartName): string | null => {
  switch (name) {
    case "born":
    case "held":
      return "subjects"
    case "claimed":
    case "released":
      return "claims"
    case "cleared":
      return "timers"
    case "ended":
      return "venue_calls"
    case "totals":
      return "posting_totals"
    case "stamps":
    case "fresh":
      return null
    default:
      return (catalogue[name] as TableSpec).sqlName
  }
}

const waitingParts = (
  trial: Trial,
  draft: Search["draft"],
  commits: ReadonlyArray<Commit>,
  found: Found,
  unasked: Set<Commit>
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.gen(function* () {
    let waitsLeft = waitLimit
    for (const group of draft(commits).groups()) {
      const table = tableOfPart(group.name)
      if (table === null || !(yield* rehearse(trial, group))) continue
      const waits = (some: ReadonlyArray<Commit>) =>
        Effect.suspend(() => {
          if (waitsLeft <= 0) return Effect.succeed(null)
          const own = draft(some)
            .groups()
            .find(({ name }) => name === group.name)
          return own === undefined
            ? Effect.succeed(false)
            : Effect.tap(rehearse(trial, own), (waited) => Effect.sync(() => (waitsLeft -= waited ? 1 : 0)))
        })
      const inPart = free(commits, found).filter((commit) => tableNeeds(commit).some((need) => need.table === table))
      const ends = group.part.guard === "claim" ? null : yield* bothEnds(waits, inPart)
      if (ends !== null) found.set(table, ends)
      else {
        const { waiting, untried } = yield* halve(waits, inPart)
        for (const commit of waiting) for (const name of ownNames(commit, table)) found.set(name, [commit])
        for (const commit of untried) unasked.add(commit)
      }
    }
  })

/** True if the part has to wait for a lock. */
const rehearse = (trial: Trial, { part, columns }: Group): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    trial.run(
      part.sql(1),
      columns.map((column) => column.parameter())
    ),
    (rows) => rows === null
  )

/** The names of a waiting commit in a table: its subject and its own rows there; if it has neither, the whole table. */
const ownNames = (commit: Commit, table: string): ReadonlyArray<string> => {
  const own = rowNeeds(commit).filter((need) => need !== writerRow && [table, "subjects"].includes(need.table))
  return own.length === 0 ? [table] : own.map(rowName)
}

/** True if the commits wait in a part; null if the limit of rehearsals is reached. */
type Waits = (commits: ReadonlyArray<Commit>) => Effect.Effect<boolean | null, SqlError.SqlError>

/**
 * The first, the middle and the last commit, if each of them waits. A lock that blocks all three is not on a single row, and
 * bisection would find every commit.
 */
const bothEnds = (
  waits: Waits,
  commits: ReadonlyArray<Commit>
): Effect.Effect<ReadonlyArray<Commit> | null, SqlError.SqlError> =>
  Effect.gen(function* () {
    if (commits.length < 3) return null
    const some = [0, commits.length >> 1, -1].flatMap((at) => commits.slice(at).slice(0, 1))
    for (const commit of some) if ((yield* waits([commit])) !== true) return null
    return some
  })

interface Halves {
  readonly waiting: ReadonlyArray<Commit>
  readonly untried: ReadonlyArray<Commit>
}

/** Splits commits of which at least one waits into halves again and again, until the waiting ones are found. */
const halve = (waits: Waits, commits: ReadonlyArray<Commit>): Effect.Effect<Halves, SqlError.SqlError> =>
  Effect.gen(function* () {
    if (commits.length <= 1) return { waiting: commits, untried: [] }
    const middle = commits.length >> 1
    const waiting: Array<Commit> = []
    const untried: Array<Commit> = []
    for (const half of [commits.slice(0, middle), commits.slice(middle)]) {
      const waited = yield* waits(half)
      if (waited === null) untried.push(...half)
      if (waited !== true) continue
      const inside: Halves = yield* halve(waits, half)
      waiting.push(...inside.waiting)
      untried.push(...inside.untried)
    }
    return { waiting, untried }
  })
