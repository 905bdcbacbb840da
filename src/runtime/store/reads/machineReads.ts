/** Objects of all machines by state, and the timers of a subject (operator surface, machine list and inspect). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { type Kind, kinds } from "../../../machines/registry.ts"
import { catalogue, tableOfKind } from "../../tables/Catalogue.ts"
import type { TimerRow } from "../../tables/engine.ts"

export interface StateCount {
  readonly kind: Kind
  readonly state: string
  readonly n: bigint
}

const countsText = kinds
  .map(
    (kind) =>
      `SELECT '${kind}' AS kind, state, count(*) AS n FROM ${catalogue[tableOfKind[kind]].sqlName} GROUP BY state`
  )
  .join(" UNION ALL ")

/** The number of objects of each machine in each state; empty states are left out. */
export const stateCounts = (sql: PgClient.PgClient): Effect.Effect<ReadonlyArray<StateCount>, SqlError.SqlError> =>
  sql.unsafe<StateCount>(countsText)

/** A subject's durable timers, earliest due first. */
export const timersOf = (
  sql: PgClient.PgClient,
  subject: string
): Effect.Effect<ReadonlyArray<Omit<TimerRow, "subject">>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly name: string; readonly due_at: bigint }>(
      "SELECT name, due_at FROM timers WHERE subject = $1 ORDER BY due_at, name",
      [subject]
    ),
    (rows) => rows.map(({ name, due_at }) => ({ name, dueAt: Number(due_at) }))
  )
