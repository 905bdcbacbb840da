/** Runs the statements of `ledger verify` on one snapshot, while the service goes on writing. */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { CheckProgress } from "./CheckProgress.ts"
import { ledgerChecks } from "./ledgerChecks.ts"
import type { ReplayCheck } from "./Replay.ts"
import { replayChecks } from "./replayChecks.ts"
import { longTransaction } from "../transactions.ts"

export interface CheckResult {
  readonly name: string
  /** What was counted or summed. */
  readonly figure: string
  /** The first thing that breaks the rule; null when it holds. */
  readonly detail: string | null
}

/** Rows gone through at a time: a few milliseconds, in which the service does nothing else. */
const pageOfRows = 2_000

/** Goes through the rows of a check, a page at a time, up to the first that breaks its rule. */
const replayed = Effect.fnUntraced(function* <Row extends object>(
  sql: PgClient.PgClient,
  cursor: string,
  check: ReplayCheck<Row>
) {
  const counted = yield* sql.unsafe<{ readonly n: bigint }>(check.figure)
  // A cursor gives its rows in the form that it was declared with, whatever the connection asks for: here binary.
  yield* sql.unsafe(`DECLARE ${cursor} BINARY NO SCROLL CURSOR FOR ${check.rows}`)
  const replay = check.begin()
  let detail: string | null = null
  let isOver = false
  while (!isOver && detail === null) {
    const page = yield* sql.unsafe<Row>(`FETCH ${pageOfRows} FROM ${cursor}`)
    for (const row of page) detail ??= replay.take(row)
    isOver = page.length < pageOfRows
  }
  yield* sql.unsafe(`CLOSE ${cursor}`)
  const { name } = check
  return { name, figure: String(counted[0]?.n ?? 0), detail: detail ?? replay.end() } satisfies CheckResult
})

/** How many checks of `ledger verify` run here; those of the chain, of destinations and of models follow. */
const checksHere = ledgerChecks.length + replayChecks.length
const checksAfter = 3

/** What the snapshot says: every check in SQL, those that go through rows, and the last seal it holds. */
export const runChecks = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const tell = yield* CheckProgress
  return yield* longTransaction(sql, (sql) =>
    Effect.gen(function* () {
      // Every check reads whole tables once, without nested loops. It is slow on large books by design.
      yield* sql.unsafe("SET LOCAL enable_nestloop = off")
      const results: Array<CheckResult> = []
      const begins = (check: string) => tell({ done: results.length, of: checksHere + checksAfter, check })
      for (const check of ledgerChecks) {
        begins(check.name)
        const counted = yield* sql.unsafe<{ readonly n: bigint }>(check.figure)
        const broken = yield* sql.unsafe<{ readonly what: string }>(check.breaks)
        results.push({
          name: check.name,
          figure: String(counted[0]?.n ?? 0),
          detail: broken[0]?.what ?? null
        })
      }
      for (const [at, check] of replayChecks.entries()) {
        begins(check.name)
        results.push(yield* replayed(sql, `replay_${at}`, check as ReplayCheck<object>))
      }
      begins("the chain over all that is sealed")
      const last = yield* sql.unsafe<{ readonly n: bigint }>("SELECT coalesce(max(number), 0) AS n FROM seals")
      return { results, lastSeal: last[0]?.n ?? 0n }
    })
  ).pipe(Effect.provideService(SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))
})
