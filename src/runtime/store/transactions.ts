/** Transactions whose connection may be lost in their middle, and those that may take long by design. */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlError } from "effect/sql"
import { hanging } from "../engine/journal/sqlFailure.ts"
import { withinTime } from "../engine/withinTime.ts"
import { quietSockets } from "./databaseSockets.ts"

/** A transaction. A connection that is lost in its middle is a failure of it, although its rollback fails as well. */
export const inTransaction = <A, E, R>(
  sql: PgClient.PgClient,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.catchDefect(sql.withTransaction(work), (defect) =>
    SqlError.isSqlError(defect) ? Effect.fail(defect) : Effect.die(defect)
  )

/**
 * A transaction of statements that may work for long without a byte, on a connection of its own. It lasts while the server shows
 * that it works for this connection; beyond ten seconds without such a sign it fails as a lost one.
 */
export const longTransaction = <A, E, R>(
  sql: PgClient.PgClient,
  work: (own: PgClient.PgClient) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { url } = sql.config
      const own = yield* PgClient.make({
        ...sql.config,
        maxConnections: 1,
        ...(url === undefined ? {} : { stream: (yield* quietSockets(url, Infinity)).open })
      })
      return yield* inTransaction(
        own,
        Effect.gen(function* () {
          const [backend] = yield* own<{ readonly pid: number }>`SELECT pg_backend_pid() AS pid`
          return yield* Effect.raceFirst(work(own), withoutSign(sql, backend?.pid ?? 0))
        })
      )
    })
  ).pipe(Effect.provide(Reactivity.layer))

/** Wall time between two questions and for the answer to one, and how many may go without a sign. */
const askEvery = "1500 millis"
const answerWithin = "1 second"
const mostWithout = 4

/** Fails once the server shows no work of a backend any more, or shows nothing. */
const withoutSign = (sql: PgClient.PgClient, pid: number): Effect.Effect<never, SqlError.SqlError> =>
  Effect.gen(function* () {
    let changedAt: string | null = null
    for (let without = 0; without < mostWithout;) {
      yield* Effect.sleep(askEvery)
      const shown = yield* Effect.orElseSucceed(
        withinTime(backendOf(sql, pid), () => hanging, answerWithin),
        () => null
      )
      // Between two statements it works for nobody, and each has its own moment.
      const isSign = shown !== null && (shown.works || shown.changedAt !== changedAt)
      without = isSign ? 0 : without + 1
      changedAt = shown?.changedAt ?? changedAt
    }
    return yield* Effect.fail(hanging)
  })

interface Backend {
  /** In a statement, and not waiting for this side to take its answer. */
  readonly works: boolean
  readonly changedAt: string
}

const backendOf = (sql: PgClient.PgClient, pid: number): Effect.Effect<Backend | null, SqlError.SqlError> =>
  Effect.map(
    sql<Backend>`SELECT state = 'active' AND wait_event_type IS DISTINCT FROM 'Client' AS works, state_change::text AS "changedAt"
                   FROM pg_stat_activity WHERE pid = ${pid}`,
    ([row]) => row ?? null
  )
