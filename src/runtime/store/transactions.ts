/** Transactions in which a lost connection is a failure, and work that may take long by design. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Fiber } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { quietSockets } from "../engine/databaseSockets.ts"
import { hanging } from "../engine/journal/sqlFailure.ts"
import { withinTime } from "../engine/withinTime.ts"
import { makeDatabasePool, poolOn } from "./databasePool.ts"

/** A transaction. The loss of its connection is a failure, not a defect, although the rollback fails as well. */
export const inTransaction = <A, E, R>(
  sql: PgClient.PgClient,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.catchDefect(sql.withTransaction(work), (defect) =>
    SqlError.isSqlError(defect) ? Effect.fail(defect) : Effect.die(defect)
  )

/**
 * Runs work on its own connection, for statements that may send no byte for a long time. The work continues while the server
 * shows activity for this connection. After ten seconds without activity it fails like a lost connection.
 */
export const longWork = <A, E, R>(
  sql: PgClient.PgClient,
  work: (own: PgClient.PgClient) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { url, applicationName = "brokerage" } = sql.config
      if (url === undefined) return yield* Effect.die(new Error("the pool has no url"))
      const options = { url, applicationName, maxConnections: 1 }
      const sockets = yield* quietSockets(url, Infinity)
      const own = yield* poolOn(sockets, { ...options, quiet: Infinity })
      // Not through the pool: its readers may keep every connection busy for longer than the timeout of a poll.
      const watch = yield* makeDatabasePool(options)
      const [backend] = yield* own<{ readonly pid: number }>`SELECT pg_backend_pid() AS pid`
      yield* own`SELECT set_config('statement_timeout', '30min', false), set_config('lock_timeout', '60s', false)`
      const working = yield* Effect.forkScoped(work(own))
      const result = Effect.raceFirst(Fiber.join(working), withoutSign(watch, backend?.pid ?? 0))
      // Before the work is interrupted: its rollback would wait for ever on a dead connection.
      return yield* Effect.ensuring(result, sockets.hurry)
    })
  )

/** `longWork` in one transaction. */
export const longTransaction = <A, E, R>(
  sql: PgClient.PgClient,
  work: (own: PgClient.PgClient) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> => longWork(sql, (own) => inTransaction(own, work(own)))

/** `longWork` for an effect that takes its connection from the context. */
export const onOwnConnection = <A, E, R>(
  work: Effect.Effect<A, E, R>
): Effect.Effect<
  A,
  E | SqlError.SqlError,
  Exclude<Exclude<R, PgClient.PgClient>, SqlClient.SqlClient> | PgClient.PgClient
> =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    longWork(sql, (own) =>
      work.pipe(Effect.provideService(PgClient.PgClient, own), Effect.provideService(SqlClient.SqlClient, own))
    )
  )

/**
 * The interval of the polls for activity and the timeout of each, wall time. The work fails after `mostWithout` polls in a row
 * that show none.
 */
const pollEvery = "1500 millis"
const answerWithin = "1 second"
const mostWithout = 4

/** Fails once the server no longer shows activity of a backend, or does not respond. */
const withoutSign = (sql: PgClient.PgClient, pid: number): Effect.Effect<never, SqlError.SqlError> =>
  Effect.gen(function* () {
    let changedAt: string | null = null
    for (let without = 0; without < mostWithout;) {
      yield* Effect.sleep(pollEvery)
      const shown = yield* Effect.orElseSucceed(
        withinTime(backendOf(sql, pid), () => hanging, answerWithin),
        () => null
      )
      // A backend is idle between two statements, so a new time of its state change counts as activity too.
      const isSign = shown !== null && (shown.works || shown.changedAt !== changedAt)
      without = isSign ? 0 : without + 1
      changedAt = shown?.changedAt ?? changedAt
    }
    return yield* Effect.fail(hanging)
  })

interface Backend {
  /** The backend executes a statement and is not waiting for this process to read the result. */
  readonly works: boolean
  readonly changedAt: string
}

const backendOf = (sql: PgClient.PgClient, pid: number): Effect.Effect<Backend | null, SqlError.SqlError> =>
  Effect.map(
    sql<Backend>`SELECT state = 'active' AND wait_event_type IS DISTINCT FROM 'Client' AS works, state_change::text AS "changedAt"
                   FROM pg_stat_activity WHERE pid = ${pid}`,
    ([row]) => row ?? null
  )
