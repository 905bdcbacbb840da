/** Runs the SQL statements of `ledger verify` on one snapshot, while the service continues to write. */
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
  /** The count or sum that the check shows to the operator, as text. */
  readonly figure: string
  /** A sentence about the first violation; null if there is none. */
  readonly detail: string | null
}

/** The rows of one page: a few milliseconds in which the service's thread is busy. */
const pageOfRows = 2_000

/** Replays the rows of a check page by page, up to the first violation. */
const replayed = Effect.fnUntraced(function* <Row extends object>(
  sql: PgClient.PgClient,
  cursor: string,
  check: ReplayCheck<Row>
) {
  const counted = yield* sql.unsafe<{ readonly n: bigint }>(check.figure)
  // A cursor returns rows in its declared format, here binary, whatever the connection requests.
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

/** The number of checks on the snapshot, and the number that follow: of the chain, of destinations and of models. */
const checksHere = ledgerChecks.length + replayChecks.length
const checksAfter = 3

/** The results on one snapshot: every SQL check, every replay, and the snapshot's last seal. */
export const runChecks = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const report = yield* CheckProgress
  return yield* longTransaction(sql, (sql) =>
    Effect.gen(function* () {
      // Nested loops are off, so that every check reads its tables once: slow on large books, but its time grows only with
      // the tables.
      yield* sql.unsafe("SET LOCAL enable_nestloop = off")
      const results: Array<CheckResult> = []
      const begins = (check: string) => report({ done: results.length, of: checksHere + checksAfter, check })
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
