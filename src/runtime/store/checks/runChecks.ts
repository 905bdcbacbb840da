/** Runs the statements of `ledger verify` on one snapshot, while the service goes on writing. */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ledgerChecks } from "./ledgerChecks.ts"

export interface CheckResult {
  readonly name: string
  /** What was counted or summed. */
  readonly figure: string
  /** The first thing that breaks the rule; null when it holds. */
  readonly detail: string | null
}

/** What the snapshot says: every check in SQL, and the last seal it holds. */
export const runChecks = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  return yield* sql
    .withTransaction(
      Effect.gen(function* () {
        // Every check reads whole tables once: slow on large books by design, never by nested loops, and on one core.
        yield* sql.unsafe("SET LOCAL statement_timeout = '30min'")
        yield* sql.unsafe("SET LOCAL enable_nestloop = off")
        yield* sql.unsafe("SET LOCAL max_parallel_workers_per_gather = 0")
        const results: Array<CheckResult> = []
        for (const check of ledgerChecks) {
          const counted = yield* sql.unsafe<{ readonly n: bigint }>(check.figure)
          const broken = yield* sql.unsafe<{ readonly what: string }>(check.breaks)
          results.push({
            name: check.name,
            figure: String(counted[0]?.n ?? 0),
            detail: broken[0]?.what ?? null
          })
        }
        const last = yield* sql.unsafe<{ readonly n: bigint }>("SELECT coalesce(max(number), 0) AS n FROM seals")
        return { results, lastSeal: last[0]?.n ?? 0n }
      })
    )
    .pipe(Effect.provideService(SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))
})
