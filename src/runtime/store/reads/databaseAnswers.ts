/** The shortest question there is: whether the database answers. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"

export const databaseAnswers = (sql: PgClient.PgClient): Effect.Effect<true, SqlError.SqlError> =>
  Effect.as(sql`SELECT 1`, true)
