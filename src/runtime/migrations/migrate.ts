/** The migrations in order. Effect's migrator runs each in a transaction under a lock, once per database. */
import { Effect, Schema } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { m0063 } from "./0063_baseline.ts"
import { m0064 } from "./0064_misfit_contracts.ts"
import { m0065 } from "./0065_clock_target.ts"
import { m0066 } from "./0066_account_gaps.ts"

const table = "schema_migrations"

/** The first migration of a new database, and the last version whose migrations lead to the same schema. */
const baseline = { migration: 63, version: "0.1.0" } as const

/** The database was last used by a version from before the baseline. */
export class SchemaTooOld extends Schema.TaggedError<SchemaTooOld>()("SchemaTooOld", { migration: Schema.Int }) {
  override get message(): string {
    return `The database has the schema of an earlier version (migration ${this.migration}; this version goes on from ${baseline.migration}): start version ${baseline.version} on it once, then this one.`
  }
}

const run = Migrator.make({})({
  loader: Migrator.fromRecord({
    "0063_baseline": m0063,
    "0064_misfit_contracts": m0064,
    "0065_clock_target": m0065,
    "0066_account_gaps": m0066
  }),
  table
})

const checkAge = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ readonly exists: boolean }>`SELECT to_regclass(${table}) IS NOT NULL AS exists`
  if (found?.exists !== true) return
  const [last] = yield* sql<{
    readonly migration: number | null
  }>`SELECT max(migration_id) AS migration FROM ${sql(table)}`
  const migration = last?.migration ?? null
  if (migration !== null && migration < baseline.migration) return yield* new SchemaTooOld({ migration })
})

/**
 * Brings the connected database to the newest schema; no effect if it is already there. Fails with `SchemaTooOld`, and changes
 * nothing, if the database is older than the baseline.
 */
export const migrate = Effect.andThen(checkAge, run).pipe(Effect.asVoid)
