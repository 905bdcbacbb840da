/** The cheapest query that shows whether the database responds. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"

export const databaseAnswers = (sql: PgClient.PgClient): Effect.Effect<true, SqlError.SqlError> =>
  Effect.as(sql`SELECT 1`, true)
